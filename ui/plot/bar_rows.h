// The base of charts with bars in rows, one row per entry: a heading, rows from above to below, and their
// selection by mouse and keys. Rows without room are left out; a table next to the chart has all of them.
#pragma once

#include "ui/plot/canvas.h"

namespace shardscape::ui {

class BarRows : public Canvas {
  Q_OBJECT
 public:
  virtual int count() const = 0;
  int shown() const { return shownIn(QRectF(rect())); }
  QRectF rowRect(int at) const { return rowIn(QRectF(rect()), at); }  // in the widget; empty: no room
  int selected() const { return selected_; }
  void setSelected(int at);  // emits no signal; -1: none
  void select(int at);
  QString tipAt(const QPointF& at) const override;

 Q_SIGNALS:
  void rowSelected(int at);   // -1: none
  void rowActivated(int at);  // by double click or Enter, if the row acts

 protected:
  static constexpr double kHeading = 24;  // pixels above the rows

  using Canvas::Canvas;
  virtual double rowHeight(double room) const = 0;  // room: pixels for all rows
  virtual QString rowTip(int at) const = 0;         // also read aloud for the selected row
  virtual bool acts(int) const { return true; }     // Enter and double click have an effect
  QRectF rowIn(const QRectF& rect, int at) const;
  int shownIn(const QRectF& rect) const;
  int rowAt(const QPointF& at) const;  // -1: none

  bool ready() const override { return count() > 0; }
  QRectF focusFrame() const override { return selected_ < 0 ? Canvas::focusFrame() : QRectF(); }
  bool hover(const QPointF& at, bool) override { return rowAt(at) >= 0; }
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  void doubleClick(const QPointF& at) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;
  bool clear() override;

 private:
  int selected_ = -1;
};

}  // namespace shardscape::ui
