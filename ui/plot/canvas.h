// The base of painted charts: mouse, keys, focus, tips, theme and pictures. A derived chart implements
// drawing, hit tests and key moves. Positions and rectangles are logical pixels of the widget.
#pragma once

#include <QWidget>

#include "ui/plot/chart_export.h"

namespace shardscape::ui {

class Canvas : public QWidget {
  Q_OBJECT
 public:
  // Draws the chart into rect on the ground colour, for the window and for pictures. A chart made of child
  // widgets does not override this.
  virtual void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const;
  // The tip of the element at the point, plain text or HTML. Empty: no element, or the chart shows its own
  // tip.
  virtual QString tipAt(const QPointF& at) const = 0;
  // The chart as a picture (PNG, SVG, PDF). The view adds the numbers (CSV, JSON).
  Picture picture(const QString& title, const QString& file_name) const;
  void setMessage(const QString& message);  // shown while ready() is false
  // For charts whose view moves (viewMoves()).
  virtual void zoomBy(double) {}  // about the selected element, or the middle
  virtual void fit() {}

 protected:
  enum class Way { Left, Right, Up, Down, First, Last, PageUp, PageDown };

  Canvas(const QString& object_name, const QString& accessible_name, QWidget* parent);
  virtual bool ready() const = 0;  // false: the chart is empty and ignores mouse and keys
  virtual void themeChanged();     // repaints
  // Draws the exposed part of the widget: the chart, and the marks of hover, selection and focus.
  virtual void paintWindow(QPainter& painter, const QRect& exposed);
  // Drawn while the keyboard is used; null: the chart marks an element instead.
  virtual QRectF focusFrame() const;

  // Mouse. hover() returns true if a click at the point acts.
  virtual bool hover(const QPointF&, bool has_tip) { return has_tip; }
  virtual void leave() {}
  // Left button; on release if the view moves, else on press.
  virtual void click(const QPointF&, Qt::KeyboardModifiers) {}
  virtual void doubleClick(const QPointF& at) { click(at, {}); }
  // The button is still down after click(); false: handle as hover.
  virtual bool drag(const QPointF&) { return false; }

  // Keys. false: the chart does not use the key; the event goes to the parent.
  virtual bool go(Way, Qt::KeyboardModifiers) { return false; }
  virtual bool activate() { return false; }  // Enter and Space
  virtual bool clear() { return false; }     // Escape
  virtual bool otherKey(const QKeyEvent&) { return false; }

  // A view that moves: the middle and the left button drag it, the wheel and + - 0 F zoom it.
  virtual bool viewMoves() const { return false; }
  virtual void pan(const QPointF&) {}  // moves the view over the chart by this vector
  // A drag that starts with these keys draws a rectangle instead; release: the button is up.
  virtual bool drawsRectangle(Qt::KeyboardModifiers) const { return false; }
  virtual void rectangle(const QRectF&, Qt::KeyboardModifiers, bool) {}
  virtual void zoomAt(double, const QPointF&) {}
  virtual void wheel(const QPointF& notches, Qt::KeyboardModifiers held, const QPointF& at);

  bool focusShown() const { return hasFocus() && keyboard_; }
  void paintMessage(QPainter& painter, const QRectF& rect) const;

  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void track(const QPointF& at, const QPoint& global);
  bool takes(const QKeyEvent& event);
  QString message_;
  QPointF pressed_at_, last_at_;
  bool pressed_ = false, dragging_ = false, drawing_ = false;
  bool keyboard_ = false;  // the focus frame is drawn: the focus came by a key, or a key was pressed since
};

}  // namespace shardscape::ui
