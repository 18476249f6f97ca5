// Mouse and keys of the graph canvas.
#include <QApplication>
#include <QMouseEvent>
#include <QWheelEvent>
#include <cmath>

#include "ui/toolkit/canvas_events.h"
#include "ui/views/graph/graph_canvas.h"

namespace shardscape::ui {
namespace {

constexpr double kReadable = 0.6;  // zoom below which words are too small to read

}  // namespace

void GraphCanvas::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton) return;
  pressed_ = true;
  dragging_ = false;
  pressed_at_ = last_at_ = event->position();
}

void GraphCanvas::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  if (pressed_) {
    if (!dragging_ && (at - pressed_at_).manhattanLength() >= QApplication::startDragDistance()) {
      dragging_ = true;
      setCursor(Qt::ClosedHandCursor);
    }
    if (dragging_) {
      view_.origin += at - last_at_;
      at_home_ = false;
      moved();
    }
    last_at_ = at;
    return;
  }
  const auto spot = sheet_ ? spot_at(*sheet_, view_.unmap(at)) : std::nullopt;
  const bool card = spot && !spot->piece->inside;
  const bool title = spot && spot->piece->inside &&
                     at.y() < view_.map(spot->rect).top() + kTitleBar * view_.zoom;
  const NodeId hovered = card || title ? spot->id : NodeId();
  setCursor(card || title ? Qt::PointingHandCursor : Qt::ArrowCursor);
  if (hovered == hovered_) return;
  hovered_ = hovered;
  update();
}

void GraphCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (!pressed_) return;
  pressed_ = false;
  if (dragging_)
    setCursor(Qt::ArrowCursor);
  else if (event->button() == Qt::LeftButton)
    click(event->position());
  dragging_ = false;
}

void GraphCanvas::leaveEvent(QEvent*) {
  hovered_ = {};
  update();
}

void GraphCanvas::click(QPointF at) {
  if (!sheet_) return;
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

void GraphCanvas::wheelEvent(QWheelEvent* event) {
  const double steps = event->pixelDelta().isNull() ? event->angleDelta().y() / 120.0
                                                    : event->pixelDelta().y() / 60.0;
  if (steps != 0) zoomAt(std::pow(1.2, steps), event->position());
  event->accept();
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

void GraphCanvas::keyPressEvent(QKeyEvent* event) {
  constexpr double kZoomStep = 1.25;
  if (event->matches(QKeySequence::Find)) {
    Q_EMIT searchRequested();
    return;
  }
  switch (event->key()) {
    case Qt::Key_Up: return step(Step::Up);
    case Qt::Key_Down: return step(Step::Down);
    case Qt::Key_Left: return step(Step::Left);
    case Qt::Key_Right: return step(Step::Right);
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      if (const auto spot = exactly(selected_); spot && spot->piece->expandable) toggle(spot->id);
      return;
    case Qt::Key_Asterisk:
      if (selected_.level != NodeLevel::Root) holdStill(selected_);
      return scene_->expandAll(selected_);
    case Qt::Key_Plus:
    case Qt::Key_Equal: return zoomBy(kZoomStep);
    case Qt::Key_Minus: return zoomBy(1 / kZoomStep);
    case Qt::Key_N: return Q_EMIT differenceRequested(event->modifiers() & Qt::ShiftModifier ? -1 : 1);
    case Qt::Key_F: return fit();
    case Qt::Key_Home: return goHome();
    case Qt::Key_Escape: return clearSelection();
    default: QWidget::keyPressEvent(event);
  }
}

// The whole title of a card whose words were cut.
QString GraphCanvas::tipAt(const QPointF& point) const {
  if (!sheet_ || !scene_->tree()) return {};
  const auto spot = spot_at(*sheet_, view_.unmap(point));
  if (!spot) return {};
  const auto cut = [](const QString& text) { return text.contains(QChar(0x2026)); };
  if (view_.zoom >= kReadable && !cut(spot->piece->title.text) && !cut(spot->piece->detail.text)) return {};
  return spot->piece->title.text + u'\n' + spot->piece->detail.text + u'\n' +
         scene_->tree()->place_text(spot->id);
}

bool GraphCanvas::event(QEvent* event) {
  if (show_tip(this, event, [this](QPoint at) { return tipAt(at); })) return true;
  follow_focus(this, event, keyboard_);
  return QWidget::event(event);
}

}  // namespace shardscape::ui
