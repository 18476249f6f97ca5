#include "ui/plot/canvas.h"

#include <QApplication>
#include <QFocusEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>
#include <cmath>
#include <utility>

#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr QSize kLeastPicture(900, 480);
constexpr double kWheelZoom = 1.25, kKeyZoom = 1.4;

}  // namespace

Canvas::Canvas(const QString& object_name, const QString& accessible_name, QWidget* parent)
    : QWidget(parent) {
  setObjectName(object_name);
  setAccessibleName(accessible_name);
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  connect(&Theme::instance(), &Theme::changed, this, &Canvas::themeChanged);
}

void Canvas::paint(QPainter&, const QRectF&, const QColor&) const {}

Picture Canvas::picture(const QString& title, const QString& file_name) const {
  Picture picture;
  picture.title = title;
  picture.file_name = file_name;
  picture.size = size().expandedTo(kLeastPicture);
  picture.paint = titled(title, [this](QPainter& painter, const QRectF& area, const QColor& ground) {
    ready() ? paint(painter, area, ground) : paintMessage(painter, area);
  });
  return picture;
}

void Canvas::setMessage(const QString& message) {
  message_ = message;
  update();
}

void Canvas::themeChanged() { update(); }

void Canvas::paintMessage(QPainter& painter, const QRectF& rect) const {
  painter.setFont(Theme::instance().uiFont());
  painter.setPen(Theme::instance().colors().secondary);
  painter.drawText(rect.adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap, message_);
}

void Canvas::paintWindow(QPainter& painter, const QRect&) {
  paint(painter, QRectF(rect()), Theme::instance().colors().ground);
}

QRectF Canvas::focusFrame() const { return QRectF(rect()).adjusted(0.5, 0.5, -1, -1); }

void Canvas::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  if (!ready()) return paintMessage(painter, QRectF(rect()));
  painter.save();
  paintWindow(painter, event->rect());
  painter.restore();
  if (const QRectF frame = focusFrame(); focusShown() && !frame.isNull()) {
    painter.setPen(QPen(Theme::instance().colors().accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(frame);
  }
}

bool Canvas::event(QEvent* event) {
  switch (event->type()) {
    case QEvent::ToolTip: return true;  // tips follow the mouse
    case QEvent::ShortcutOverride: {    // the chart takes its keys before shortcuts of its ancestors
      const auto* key = static_cast<QKeyEvent*>(event);
      if (key->modifiers() & (Qt::ControlModifier | Qt::AltModifier)) break;
      switch (key->key()) {
        case Qt::Key_Left:
        case Qt::Key_Right:
        case Qt::Key_Up:
        case Qt::Key_Down:
        case Qt::Key_Home:
        case Qt::Key_End:
        case Qt::Key_PageUp:
        case Qt::Key_PageDown: event->accept(); return true;
        default: break;
      }
      break;
    }
    case QEvent::FocusIn: {
      const Qt::FocusReason reason = static_cast<QFocusEvent*>(event)->reason();
      keyboard_ = reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason ||
                  reason == Qt::ShortcutFocusReason;
      update();
      break;
    }
    case QEvent::FocusOut: update(); break;
    default: break;
  }
  return QWidget::event(event);
}

// Sets the cursor (does a click act here?) and shows the tip of the element at the point.
void Canvas::track(const QPointF& at, const QPoint& global) {
  QString tip = tipAt(at);
  setCursor(hover(at, !tip.isEmpty()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
  if (tip.isEmpty()) return QToolTip::hideText();
  if (!Qt::mightBeRichText(tip)) tip = tip.toHtmlEscaped();
  QToolTip::showText(global, QStringLiteral("<div style='white-space:pre'>%1</div>").arg(tip), this);
}

void Canvas::mousePressEvent(QMouseEvent* event) {
  const bool left = event->button() == Qt::LeftButton;
  if (!ready() || !(left || (viewMoves() && event->button() == Qt::MiddleButton)))
    return QWidget::mousePressEvent(event);
  QToolTip::hideText();
  keyboard_ = false;
  pressed_ = true;
  dragging_ = false;
  pressed_at_ = last_at_ = event->position();
  update();
  if (!viewMoves()) click(event->position(), event->modifiers());
}

void Canvas::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  if (!ready()) return;
  if (!pressed_ || (!viewMoves() && !drag(at))) return track(at, event->globalPosition().toPoint());
  if (!viewMoves()) return;
  if (!dragging_ && (at - pressed_at_).manhattanLength() >= QApplication::startDragDistance()) {
    dragging_ = true;
    drawing_ = event->buttons().testFlag(Qt::LeftButton) && drawsRectangle(event->modifiers());
    leave();
    setCursor(drawing_ ? Qt::CrossCursor : Qt::ClosedHandCursor);
  }
  if (dragging_ && drawing_)
    rectangle(QRectF(pressed_at_, at).normalized(), event->modifiers(), false);
  else if (dragging_)
    pan(last_at_ - at);
  last_at_ = at;
}

void Canvas::mouseReleaseEvent(QMouseEvent* event) {
  if (!pressed_) return QWidget::mouseReleaseEvent(event);
  pressed_ = false;
  if (!viewMoves()) return;
  if (dragging_) setCursor(Qt::ArrowCursor);
  if (dragging_ && std::exchange(drawing_, false))
    rectangle(QRectF(pressed_at_, event->position()).normalized(), event->modifiers(), true);
  if (!std::exchange(dragging_, false) && event->button() == Qt::LeftButton && ready())
    click(event->position(), event->modifiers());
}

void Canvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (ready() && event->button() == Qt::LeftButton) doubleClick(event->position());
}

void Canvas::leaveEvent(QEvent*) {
  QToolTip::hideText();
  leave();
}

void Canvas::wheelEvent(QWheelEvent* event) {
  if (!viewMoves()) return QWidget::wheelEvent(event);
  event->accept();
  const QPointF notches = event->pixelDelta().isNull() ? QPointF(event->angleDelta()) / 120.0
                                                       : QPointF(event->pixelDelta()) / 60.0;
  if (ready()) wheel(notches, event->modifiers(), event->position());
}

void Canvas::wheel(const QPointF& notches, Qt::KeyboardModifiers, const QPointF& at) {
  if (notches.y() != 0) zoomAt(std::pow(kWheelZoom, notches.y()), at);
}

bool Canvas::takes(const QKeyEvent& event) {
  const auto moved = [&](Way way) { return go(way, event.modifiers()); };
  switch (event.key()) {
    case Qt::Key_Left: return moved(Way::Left);
    case Qt::Key_Right: return moved(Way::Right);
    case Qt::Key_Up: return moved(Way::Up);
    case Qt::Key_Down: return moved(Way::Down);
    case Qt::Key_Home: return moved(Way::First);
    case Qt::Key_End: return moved(Way::Last);
    case Qt::Key_PageUp: return moved(Way::PageUp);
    case Qt::Key_PageDown: return moved(Way::PageDown);
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space: return activate();
    case Qt::Key_Escape: return clear();
    default: break;
  }
  if (otherKey(event)) return true;
  if (!viewMoves()) return false;
  switch (event.key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal: zoomBy(kKeyZoom); return true;
    case Qt::Key_Minus: zoomBy(1 / kKeyZoom); return true;
    case Qt::Key_0:
    case Qt::Key_F: fit(); return true;
    default: return false;
  }
}

void Canvas::keyPressEvent(QKeyEvent* event) {
  if (!ready()) return QWidget::keyPressEvent(event);
  QToolTip::hideText();  // the key may select another element
  keyboard_ = true;
  if (!takes(*event)) return QWidget::keyPressEvent(event);
  update();
}

}  // namespace shardscape::ui
