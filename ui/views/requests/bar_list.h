// Horizontal bars with a label and a value each: costs of fleets, effects of settings.
#pragma once

#include <QString>
#include <vector>

#include "ui/plot/canvas.h"

namespace shardscape::ui {

struct BarRow {
  QString label, text;  // in front of the bar, and behind it
  double value = 0;     // at least 0
  bool good = true;     // false: drawn as a value over a limit
};

class BarList : public Canvas {
  Q_OBJECT
 public:
  BarList(const QString& object_name, const QString& accessible_name, QWidget* parent);
  void setRows(const QString& title, std::vector<BarRow> rows);
  int rows() const { return static_cast<int>(rows_.size()); }
  const BarRow& row(int at) const { return rows_[static_cast<size_t>(at)]; }
  int selected() const { return selected_; }
  void setSelected(int at);    // emits no signal; -1: none
  QRectF place(int at) const;  // of a row, in the widget; empty: there is no room for it
  QString tipAt(const QPointF& at) const override;
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {560, 260}; }
  QSize minimumSizeHint() const override { return {240, 120}; }

 Q_SIGNALS:
  void rowSelected(int at);
  void rowActivated(int at);  // by double click or Enter

 protected:
  bool ready() const override { return !rows_.empty(); }
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  void doubleClick(const QPointF& at) override;
  bool hover(const QPointF& at, bool) override { return rowAt(at) >= 0; }
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;
  bool clear() override;

 private:
  QRectF rowIn(const QRectF& rect, int at) const;
  int rowAt(const QPointF& at) const;
  void select(int at);
  QString title_;
  std::vector<BarRow> rows_;
  int selected_ = -1;
};

}  // namespace shardscape::ui
