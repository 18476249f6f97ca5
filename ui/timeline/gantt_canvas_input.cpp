// Mouse and keys of the timeline.
#include <QApplication>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "ui/theme/theme.h"
#include "ui/timeline/gantt_canvas.h"
#include "ui/timeline/span_text.h"
#include "ui/widgets/arrow_keys.h"
#include "ui/widgets/canvas_events.h"

namespace shardscape::ui {

int GanttCanvas::opAt(const ItemRef& ref, const QPointF& point) const {
  const std::vector<PlacedOp> ops = opsShown(ref);
  const double at = ops.empty() ? 0 : ganttLayout().seconds(point.x());
  for (size_t i = 0; i < ops.size(); ++i)
    if (at >= ops[i].begin && at < ops[i].end) return static_cast<int>(i);
  return -1;
}

QString GanttCanvas::tipAt(const QPointF& point) const {
  if (!lanes_) return {};
  const ItemRef ref = ganttLayout().at(point);
  if (!ref.valid()) return {};
  const QString tip = item_tip(*lanes_, ref);
  const int op = opAt(ref, point);
  if (op < 0) return tip;
  const PlacedOp of = opsShown(ref)[static_cast<size_t>(op)];
  QString text = placed_op_title(*estimate_->report, of) + tr(", %1").arg(seconds_text(of.end - of.begin));
  if (of.layer >= 0) text += tr(", layer %1").arg(of.layer);
  return text + u'\n' + tip;
}

void GanttCanvas::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton) return QWidget::mousePressEvent(event);
  pressed_ = true;
  dragging_ = false;
  pressed_at_ = last_at_ = event->position();
  QToolTip::hideText();
}

void GanttCanvas::mouseMoveEvent(QMouseEvent* event) {
  if (!lanes_) return;
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
    QToolTip::showText(event->globalPosition().toPoint(), QStringLiteral("<div style='white-space:pre'>%1</div>").arg(tip.toHtmlEscaped()), this);
  if (hovered == hovered_) return;
  hovered_ = hovered;
  update();
}

void GanttCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (!pressed_) return QWidget::mouseReleaseEvent(event);
  pressed_ = false;
  setCursor(Qt::ArrowCursor);
  if (std::exchange(dragging_, false) || event->button() != Qt::LeftButton || !lanes_) return;
  const ItemRef ref = ganttLayout().at(event->position());
  if (ref.valid()) return select(ref, opAt(ref, event->position()));
  setSelected({});
  Q_EMIT cleared();
}

void GanttCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (!lanes_) return;
  const ItemRef ref = ganttLayout().at(event->position());
  ref.valid() ? zoomTo(ref) : fit();
}

void GanttCanvas::leaveEvent(QEvent*) {
  QToolTip::hideText();
  hovered_ = {};
  update();
}

void GanttCanvas::wheelEvent(QWheelEvent* event) {
  const QPointF delta = event->pixelDelta().isNull() ? QPointF(event->angleDelta()) / 120.0 : QPointF(event->pixelDelta()) / 60.0;
  constexpr double kLine = 48;
  event->accept();
  if (event->modifiers() & Qt::ShiftModifier) return pan(-(delta.y() != 0 ? delta.y() : delta.x()) * kLine);
  if (event->modifiers() & Qt::ControlModifier) return scroll(-delta.y() * kLine);
  if (delta.x() != 0) pan(-delta.x() * kLine);
  if (delta.y() != 0) zoomAt(std::pow(1.25, delta.y()), event->position().x());
}

void GanttCanvas::pan(double pixels) {
  if (!lanes_ || pixels == 0) return;
  view_.from += pixels / ganttLayout().scale();
  at_home_ = false;
  keepInReach();
}

void GanttCanvas::scroll(double pixels) {
  if (!lanes_ || pixels == 0) return;
  view_.top += pixels;
  keepInReach();
}

// Along the stream; along the ops of a box while one of them is selected.
void GanttCanvas::step(int items) {
  const std::vector<LaneItem>& all = lanes_->lane(selected_).items;
  if (op_ >= 0) {
    const auto ops = static_cast<int>(opsShown(selected_).size());
    if (op_ + items >= 0 && op_ + items < ops) return select(selected_, op_ + items);
  }
  const int next = std::clamp(selected_.item + items, 0, static_cast<int>(all.size()) - 1);
  select({selected_.stage, selected_.lane, next});
  reveal(selected_);
}

void GanttCanvas::climb(int by, bool stages) {
  const LaneItem& item = lanes_->item(selected_);
  const double middle = (item.begin + item.end) / 2;
  int stage = selected_.stage;
  StreamKind stream = lanes_->lane(selected_).stream;
  if (stages) {
    stage += by;
  } else {
    const std::vector<StreamLane>& lanes = lanes_->of(stage);
    stream = lanes[static_cast<size_t>(std::clamp(selected_.lane + by, 0, static_cast<int>(lanes.size()) - 1))].stream;
  }
  const ItemRef to = lanes_->nearest(stage, stream, middle);
  if (!to.valid()) return;
  select(to);
  reveal(to);
}

void GanttCanvas::keyPressEvent(QKeyEvent* event) {
  if (!lanes_) return QWidget::keyPressEvent(event);
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
    case Qt::Key_Home: return free ? select(lanes_->nearest(0, StreamKind::Compute, 0)) : step(-static_cast<int>(lanes_->items()));
    case Qt::Key_End: return free ? static_cast<void>(0) : step(static_cast<int>(lanes_->items()));
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (free) return select(lanes_->nearest(0, StreamKind::Compute, view_.from));
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
