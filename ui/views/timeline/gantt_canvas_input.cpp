// Mouse and keys of the timeline.
#include <QApplication>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "ui/session/comparisons.h"
#include "ui/toolkit/arrow_keys.h"
#include "ui/toolkit/canvas_events.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/timeline/gantt_canvas.h"
#include "ui/views/timeline/matching_item.h"
#include "ui/views/timeline/span_text.h"

namespace shardscape::ui {

int GanttCanvas::opAt(const ItemRef& ref, const QPointF& point) const {
  const std::vector<PlacedOp> ops = opsShown(ref);
  const double at = ops.empty() ? 0 : ganttLayout().seconds(point.x());
  for (size_t i = 0; i < ops.size(); ++i)
    if (at >= ops[i].begin && at < ops[i].end) return static_cast<int>(i);
  return -1;
}

ItemRef GanttCanvas::matchingItem(const ItemRef& ref, const GanttStep& of) const {
  ItemRef found = shardscape::ui::matchingItem(lanesOf(ref), ref, *of.lanes);
  found.member = of.member;
  return found;
}

// What a box is; in a comparison what they have in its place, too.
QString GanttCanvas::tipOf(const ItemRef& ref) const {
  QString tip = item_tip(lanesOf(ref), ref);
  if (steps_.size() < 2) return tip;
  tip = tr("%1: %2").arg(Comparisons::letter(ref.member), tip);
  for (const GanttStep& step : steps_)
    if (step.member != ref.member)
      tip += u'\n' +
             tr("%1: %2").arg(Comparisons::letter(step.member),
                              matchingItemText(lanesOf(ref), ref, *step.lanes, matchingItem(ref, step)));
  return tip;
}

QString GanttCanvas::tipAt(const QPointF& point) const {
  if (steps_.empty()) return {};
  const ItemRef ref = ganttLayout().at(point);
  if (!ref.valid()) return {};
  const QString tip = tipOf(ref);
  const int op = opAt(ref, point);
  if (op < 0) return tip;
  const PlacedOp of = opsShown(ref)[static_cast<size_t>(op)];
  QString text = placed_op_title(*stepOf(ref).report, of) + tr(", %1").arg(seconds_text(of.end - of.begin));
  if (of.layer >= 0) text += tr(", layer %1").arg(of.layer);
  return text + u'\n' + tip;
}

void GanttCanvas::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton)
    return QWidget::mousePressEvent(event);
  pressed_ = true;
  dragging_ = false;
  pressed_at_ = last_at_ = event->position();
  QToolTip::hideText();
}

void GanttCanvas::mouseMoveEvent(QMouseEvent* event) {
  if (steps_.empty()) return;
  const QPointF at = event->position();
  if (pressed_) {
    if (!dragging_ && (at - pressed_at_).manhattanLength() >= QApplication::startDragDistance()) {
      dragging_ = true;
      setCursor(Qt::ClosedHandCursor);
    }
    if (dragging_) {
      pan(last_at_.x() - at.x());
      scroll(last_at_.y() - at.y());
    }
    last_at_ = at;
    return;
  }
  const ItemRef hovered = ganttLayout().at(at);
  setCursor(hovered.valid() ? Qt::PointingHandCursor : Qt::ArrowCursor);
  const QString tip = tipAt(at);
  if (tip.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(event->globalPosition().toPoint(),
                       QStringLiteral("<div style='white-space:pre'>%1</div>").arg(tip.toHtmlEscaped()),
                       this);
  if (hovered == hovered_) return;
  hovered_ = hovered;
  update();
}

void GanttCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (!pressed_) return QWidget::mouseReleaseEvent(event);
  pressed_ = false;
  setCursor(Qt::ArrowCursor);
  if (std::exchange(dragging_, false) || event->button() != Qt::LeftButton || steps_.empty()) return;
  const ItemRef ref = ganttLayout().at(event->position());
  if (ref.valid()) return select(ref, opAt(ref, event->position()));
  setSelected({});
  Q_EMIT cleared();
}

void GanttCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (steps_.empty()) return;
  const ItemRef ref = ganttLayout().at(event->position());
  ref.valid() ? zoomTo(ref) : fit();
}

void GanttCanvas::leaveEvent(QEvent*) {
  QToolTip::hideText();
  hovered_ = {};
  update();
}

void GanttCanvas::wheelEvent(QWheelEvent* event) {
  const QPointF delta = event->pixelDelta().isNull() ? QPointF(event->angleDelta()) / 120.0
                                                     : QPointF(event->pixelDelta()) / 60.0;
  constexpr double kLine = 48;
  event->accept();
  if (event->modifiers() & Qt::ShiftModifier) return pan(-(delta.y() != 0 ? delta.y() : delta.x()) * kLine);
  if (event->modifiers() & Qt::ControlModifier) return scroll(-delta.y() * kLine);
  if (delta.x() != 0) pan(-delta.x() * kLine);
  if (delta.y() != 0) zoomAt(std::pow(1.25, delta.y()), event->position().x());
}

void GanttCanvas::pan(double pixels) {
  if (steps_.empty() || pixels == 0) return;
  view_.from += pixels / ganttLayout().scale();
  at_home_ = false;
  keepInReach();
}

void GanttCanvas::scroll(double pixels) {
  if (steps_.empty() || pixels == 0) return;
  view_.top += pixels;
  keepInReach();
}

// Along the stream; along the ops of a box while one of them is selected.
void GanttCanvas::step(int items) {
  const std::vector<LaneItem>& all = lanesOf(selected_).lane(selected_).items;
  if (op_ >= 0) {
    const auto ops = static_cast<int>(opsShown(selected_).size());
    if (op_ + items >= 0 && op_ + items < ops) return select(selected_, op_ + items);
  }
  const int next = std::clamp(selected_.item + items, 0, static_cast<int>(all.size()) - 1);
  select({selected_.stage, selected_.lane, next, selected_.member});
  reveal(selected_);
}

// To the next stage that is shown, or to the next stream of this one.
void GanttCanvas::climb(int by, bool rows) {
  const LaneItem& item = lanesOf(selected_).item(selected_);
  const double middle = (item.begin + item.end) / 2;
  const std::vector<StreamLane>& lanes = lanesOf(selected_).of(selected_.stage);
  int stage = selected_.stage, member = selected_.member;
  StreamKind stream = lanes[static_cast<size_t>(selected_.lane)].stream;
  if (rows) {
    const GanttLayout layout = ganttLayout();
    const int row = layout.rowOf(selected_) + by;
    if (row < 0 || row >= static_cast<int>(layout.rows().size())) return;
    stage = layout.rows()[static_cast<size_t>(row)].stage;
    member = steps_[layout.rows()[static_cast<size_t>(row)].step].member;
  } else {
    stream = lanes[static_cast<size_t>(
                       std::clamp(selected_.lane + by, 0, static_cast<int>(lanes.size()) - 1))]
                 .stream;
  }
  ItemRef to = steps_[at(member)].lanes->nearest(stage, stream, middle);
  if (!to.valid()) return;
  to.member = member;
  select(to);
  reveal(to);
}

// To the same box of the next design, or what runs there at that time.
void GanttCanvas::hop(int by) {
  const auto step = static_cast<int>(at(selected_.member)) + by;
  if (step < 0 || step >= static_cast<int>(steps_.size())) return;
  const GanttStep& of = steps_[static_cast<size_t>(step)];
  ItemRef to = matchingItem(selected_, of);
  if (!to.valid()) {
    const LaneItem& item = lanesOf(selected_).item(selected_);
    const int stage = Comparisons::sameStagePlace(selected_.stage, lanesOf(selected_).stages(),
                                                  of.lanes->stages());
    to = of.lanes->nearest(stage, lanesOf(selected_).lane(selected_).stream, (item.begin + item.end) / 2);
    to.member = of.member;
  }
  if (!to.valid()) return;
  select(to);
  reveal(to);
}

ItemRef GanttCanvas::first(double seconds) const {
  const std::vector<GanttRow> rows = ganttLayout().rows();
  return rows.empty() ? ItemRef()
                      : steps_.front().lanes->nearest(rows.front().stage, StreamKind::Compute, seconds);
}

void GanttCanvas::keyPressEvent(QKeyEvent* event) {
  if (steps_.empty()) return QWidget::keyPressEvent(event);
  constexpr double kZoom = 1.4, kPan = 60;
  if (event->matches(QKeySequence::Find)) {
    Q_EMIT searchRequested();
    return;
  }
  QToolTip::hideText();
  const bool shift = event->modifiers() & Qt::ShiftModifier, free = !selected_.valid();
  switch (event->key()) {
    case Qt::Key_Left: return shift || free ? pan(-kPan) : step(-1);
    case Qt::Key_Right: return shift || free ? pan(kPan) : step(1);
    case Qt::Key_Up: return free ? scroll(-kPan) : climb(-1, !shift);
    case Qt::Key_Down: return free ? scroll(kPan) : climb(1, !shift);
    case Qt::Key_PageUp: return free ? scroll(-ganttLayout().plot().height()) : hop(-1);
    case Qt::Key_PageDown: return free ? scroll(ganttLayout().plot().height()) : hop(1);
    case Qt::Key_Home: return free ? select(first(0)) : step(-static_cast<int>(lanesOf(selected_).items()));
    case Qt::Key_End: return free ? static_cast<void>(0) : step(static_cast<int>(lanesOf(selected_).items()));
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (free) return select(first(view_.from));
      return zoomTo(selected_);
    case Qt::Key_Plus:
    case Qt::Key_Equal: return zoomBy(kZoom);
    case Qt::Key_Minus: return zoomBy(1 / kZoom);
    case Qt::Key_0:
    case Qt::Key_F: return fit();
    case Qt::Key_Escape:
      setSelected({});
      Q_EMIT cleared();
      return;
    default: QWidget::keyPressEvent(event);
  }
}

bool GanttCanvas::event(QEvent* event) {
  if (keep_arrow_keys(event)) return true;
  if (event->type() == QEvent::ToolTip) return true;  // shown by moving already
  follow_focus(this, event, keyboard_);
  return QWidget::event(event);
}

}  // namespace shardscape::ui
