#include "ui/plot/time_canvas.h"

#include <QKeyEvent>

namespace shardscape::ui {
namespace {

constexpr double kKeyZoom = 1.4, kWheelLine = 48;

}  // namespace

bool TimeCanvas::hover(const QPointF& at, bool has_tip) {
  mouse_ = at;
  return has_tip;
}

void TimeCanvas::leave() {
  mouse_.reset();
  update();
}

void TimeCanvas::wheel(const QPointF& notches, Qt::KeyboardModifiers held, const QPointF& at) {
  if (held & Qt::ControlModifier) return Canvas::wheel(notches, held, at);
  if (held & Qt::ShiftModifier) return pan({-(notches.y() != 0 ? notches.y() : notches.x()) * kWheelLine, 0});
  pan({-notches.x() * kWheelLine, -notches.y() * kWheelLine});
}

bool TimeCanvas::moveKey(int key) {
  const double factor = key == Qt::Key_W ? kKeyZoom : 1 / kKeyZoom;
  switch (key) {
    case Qt::Key_A: pan({-kPan, 0}); return true;
    case Qt::Key_D: pan({kPan, 0}); return true;
    case Qt::Key_W:
    case Qt::Key_S:
      mouse_&& plotArea().contains(*mouse_) ? zoomAt(factor, *mouse_) : zoomBy(factor);
      return true;
    default: return false;
  }
}

bool TimeCanvas::otherKey(const QKeyEvent& event) {
  if (event.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier | Qt::ShiftModifier))
    return false;
  return moveKey(event.key());
}

}  // namespace shardscape::ui
