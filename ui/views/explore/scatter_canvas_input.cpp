// Mouse and keys of the scatter.
#include <QApplication>
#include <QMouseEvent>
#include <QWheelEvent>
#include <cmath>

#include "ui/toolkit/arrow_keys.h"
#include "ui/toolkit/canvas_events.h"
#include "ui/views/explore/scatter_canvas.h"

namespace shardscape::ui {

void ScatterCanvas::setHovered(int row) {
  if (row == hovered_) return;
  hovered_ = row;
  setCursor(row >= 0 && underMouse() ? Qt::PointingHandCursor : Qt::ArrowCursor);
  Q_EMIT hoveredChanged(row);
  update();
}

void ScatterCanvas::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton)
    return QWidget::mousePressEvent(event);
  pressed_ = true;
  dragging_ = false;
  keyboard_ = false;
  pressed_at_ = last_at_ = event->position();
}

void ScatterCanvas::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  if (!pressed_) return setHovered(rowAt(at));
  if (!dragging_ && (at - pressed_at_).manhattanLength() >= QApplication::startDragDistance()) {
    dragging_ = true;
    setHovered(-1);
    setCursor(Qt::ClosedHandCursor);
  }
  if (dragging_) pan(last_at_ - at);
  last_at_ = at;
}

void ScatterCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (!pressed_) return QWidget::mouseReleaseEvent(event);
  pressed_ = false;
  if (dragging_) setCursor(Qt::ArrowCursor);
  if (std::exchange(dragging_, false) || event->button() != Qt::LeftButton || !rows_) return;
  select(rowAt(event->position()));
}

void ScatterCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (!rows_ || event->button() != Qt::LeftButton) return;
  const int row = rowAt(event->position());
  if (row < 0) return fit();
  select(row);
  Q_EMIT taken(row);
}

void ScatterCanvas::leaveEvent(QEvent*) { setHovered(-1); }

void ScatterCanvas::wheelEvent(QWheelEvent* event) {
  const QPointF delta = event->pixelDelta().isNull() ? QPointF(event->angleDelta()) / 120.0
                                                     : QPointF(event->pixelDelta()) / 60.0;
  event->accept();
  if (delta.y() != 0) zoomAt(std::pow(1.25, delta.y()), event->position());
}

void ScatterCanvas::keyPressEvent(QKeyEvent* event) {
  if (!rows_) return QWidget::keyPressEvent(event);
  constexpr double kZoom = 1.4, kPan = 60;
  const bool shift = event->modifiers() & Qt::ShiftModifier;
  const auto move = [&](int dx, int dy) { shift ? pan(QPointF(dx, dy) * kPan) : step(dx, dy); };
  keyboard_ = true;
  switch (event->key()) {
    case Qt::Key_Left: return move(-1, 0);
    case Qt::Key_Right: return move(1, 0);
    case Qt::Key_Up: return move(0, -1);
    case Qt::Key_Down: return move(0, 1);
    case Qt::Key_Home:  // the best one that passes
      for (int row = 0; row < rows_->rows(); ++row) {
        if (!passes(row)) continue;
        select(row);
        return reveal(row);
      }
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (selected_ >= 0) Q_EMIT taken(selected_);
      return;
    case Qt::Key_Plus:
    case Qt::Key_Equal: return zoomBy(kZoom);
    case Qt::Key_Minus: return zoomBy(1 / kZoom);
    case Qt::Key_0:
    case Qt::Key_F: return fit();
    case Qt::Key_Escape: return select(-1);
    default: QWidget::keyPressEvent(event);
  }
}

bool ScatterCanvas::event(QEvent* event) {
  if (keep_arrow_keys(event)) return true;
  follow_focus(this, event, keyboard_);
  return QWidget::event(event);
}

}  // namespace shardscape::ui
