// Mouse and keys of the graph canvas.
#include <QKeyEvent>

#include "ui/views/graph/graph_canvas.h"

namespace shardscape::ui {
namespace {

constexpr double kReadable = 0.6;  // below this zoom texts are too small to read

}  // namespace

bool GraphCanvas::hover(const QPointF& at, bool) {
  const auto spot = spot_at(*sheet_, view_.unmap(at));
  const bool card = spot && !spot->piece->inside;
  const bool title = spot && spot->piece->inside &&
                     at.y() < view_.map(spot->rect).top() + kTitleBar * view_.zoom;
  const NodeId hovered = card || title ? spot->id : NodeId();
  if (!(hovered == hovered_)) update();
  hovered_ = hovered;
  return card || title;
}

void GraphCanvas::leave() {
  hovered_ = {};
  update();
}

void GraphCanvas::pan(const QPointF& pixels) {
  view_.origin -= pixels;
  at_home_ = false;
  moved();
}

void GraphCanvas::click(const QPointF& at, Qt::KeyboardModifiers) {
  const QPointF scene = view_.unmap(at);
  const auto spot = spot_at(*sheet_, scene);
  const bool on_frame = spot && spot->piece->inside;
  const bool on_title = on_frame && scene.y() < spot->rect.top() + kTitleBar;
  if (spot && (!on_frame || on_title)) {
    const NodeId id = spot->id;
    const bool folds = on_title && scene.x() < spot->rect.left() + kTitleBar;
    const bool unfolds = !on_frame && spot->piece->expandable;
    select(id);
    if (folds || unfolds) toggle(id);
    return;
  }
  constexpr double kReach = 6;
  if (const auto wire = wire_at(*sheet_, scene, kReach / view_.zoom); wire && wire->wire->tensor >= 0) {
    selected_ = {};
    wire_ = wire;
    update();
    Q_EMIT wireSelected(*wire);
    return;
  }
  clearSelection();
}

void GraphCanvas::step(Step step) {
  if (!sheet_) return;
  const auto from = exactly(selected_);
  std::optional<Spot> to;
  if (!from) {
    to = spot_at(*sheet_, view_.unmap(QRectF(rect()).center()));
    if (!to || to->piece->inside) to = locate(*sheet_, scene_->tree()->stage_node(0));
    if (to) {
      const auto first = first_inside(*to);
      if (first) to = first;
    }
  } else if (step == Step::Right && from->piece->expandable) {
    if (!from->piece->inside) {
      toggle(from->id);
      return;
    }
    to = first_inside(*from);
  } else if (step == Step::Left && from->piece->inside) {
    toggle(from->id);
    return;
  } else {
    to = neighbour(*sheet_, *from, step);
    if (!to && step == Step::Left) to = exactly(scene_->tree()->parent(from->id));
  }
  if (!to) return;
  select(to->id);
  bringIntoView(to->rect);
}

bool GraphCanvas::go(Way way, Qt::KeyboardModifiers) {
  switch (way) {
    case Way::Up: step(Step::Up); return true;
    case Way::Down: step(Step::Down); return true;
    case Way::Left: step(Step::Left); return true;
    case Way::Right: step(Step::Right); return true;
    case Way::First: goHome(); return true;
    case Way::Last:
    case Way::PageUp:
    case Way::PageDown: break;
  }
  return false;
}

bool GraphCanvas::activate() {
  if (const auto spot = exactly(selected_); spot && spot->piece->expandable) toggle(spot->id);
  return true;
}

bool GraphCanvas::clear() {
  clearSelection();
  return true;
}

bool GraphCanvas::otherKey(const QKeyEvent& event) {
  if (event.matches(QKeySequence::Find)) {
    Q_EMIT searchRequested();
  } else if (event.key() == Qt::Key_Asterisk) {
    if (selected_.level != NodeLevel::Root) keepInPlace(selected_);
    scene_->expandAll(selected_, selected_units_);
  } else if (event.key() == Qt::Key_N) {
    Q_EMIT differenceRequested(event.modifiers() & Qt::ShiftModifier ? -1 : 1);
  } else {
    return false;
  }
  return true;
}

// The whole title of a card with elided text.
QString GraphCanvas::tipAt(const QPointF& point) const {
  if (!sheet_ || !scene_->tree()) return {};
  const auto spot = spot_at(*sheet_, view_.unmap(point));
  if (!spot) return {};
  const auto cut = [](const QString& text) { return text.contains(QChar(0x2026)); };
  if (view_.zoom >= kReadable && !cut(spot->piece->title.text) && !cut(spot->piece->detail.text)) return {};
  return spot->piece->title.text + u'\n' + spot->piece->detail.text + u'\n' +
         scene_->tree()->place_text(spot->id);
}

}  // namespace shardscape::ui
