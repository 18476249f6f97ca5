// The base of painted charts: mouse, keys, focus, tips, theme and pictures. A chart says how it is drawn,
// what lies at a point and where keys lead. Positions and rectangles are logical pixels of the widget.
#pragma once

#include <QWidget>

#include "ui/plot/chart_export.h"

namespace shardscape::ui {

class Canvas : public QWidget {
  Q_OBJECT
 public:
  // Draws the chart into rect, on that ground. The window and pictures call it. A chart that child widgets
  // draw leaves it empty.
  virtual void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const;
  // What lies there in words, plain or HTML. Empty: nothing lies there, or the chart shows a tip of its own.
  virtual QString tipAt(const QPointF& at) const = 0;
  // PNG, SVG and PDF of what is shown. The view adds the numbers (CSV, JSON).
  Picture picture(const QString& title, const QString& file_name) const;
  void setMessage(const QString& message);  // said where there is nothing to show
  // Of charts with a view that moves.
  virtual void zoomBy(double) {}  // about the selected element, or the middle
  virtual void fit() {}

 protected:
  enum class Way { Left, Right, Up, Down, First, Last, PageUp, PageDown };

  Canvas(const QString& object_name, const QString& accessible_name, QWidget* parent);
  virtual bool ready() const = 0;  // false: there is nothing to show, and mouse and keys do nothing
  virtual void themeChanged();     // repaints
  // What the window shows, in that part of it: the chart, and what mouse and keys mark.
  virtual void paintWindow(QPainter& painter, const QRect& exposed);
  virtual QRectF focusFrame() const;  // drawn once keys have come; null: the chart marks an element instead

  // Mouse. hover returns whether a click does something there.
  virtual bool hover(const QPointF&, bool has_tip) { return has_tip; }
  virtual void leave() {}
  virtual void click(const QPointF&, Qt::KeyboardModifiers) {}  // left button; where the view moves, released
  virtual void doubleClick(const QPointF& at) { click(at, {}); }
  virtual bool drag(const QPointF&) { return false; }  // the button is down since click; false: it is a hover

  // Keys. false: the chart has no such key, and its parents may have it.
  virtual bool go(Way, Qt::KeyboardModifiers) { return false; }
  virtual bool activate() { return false; }  // Enter and Space
  virtual bool clear() { return false; }     // Escape
  virtual bool otherKey(const QKeyEvent&) { return false; }

  // A view that moves: the middle and the left button drag it, the wheel and + - 0 F zoom it.
  virtual bool viewMoves() const { return false; }
  virtual void pan(const QPointF&) {}  // the view goes that way over the chart
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
  bool pressed_ = false, dragging_ = false;
  bool keyboard_ = false;  // the focus came by keys, or keys were pressed since: it is drawn
};

}  // namespace shardscape::ui
