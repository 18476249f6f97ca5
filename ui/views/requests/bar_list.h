// Horizontal bars with a label and a value each: costs of fleets, effects of settings.
#pragma once

#include <QString>
#include <vector>

#include "ui/plot/bar_rows.h"

namespace shardscape::ui {

struct BarRow {
  QString label, text;  // in front of the bar, and behind it
  double value = 0;     // at least 0
  bool good = true;     // false: drawn as a value over a limit
};

class BarList : public BarRows {
  Q_OBJECT
 public:
  BarList(const QString& object_name, const QString& accessible_name, QWidget* parent);
  void setRows(const QString& title, std::vector<BarRow> rows);
  int count() const override { return static_cast<int>(rows_.size()); }
  const BarRow& row(int at) const { return rows_[static_cast<size_t>(at)]; }
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {560, 260}; }
  QSize minimumSizeHint() const override { return {240, 120}; }

 protected:
  double rowHeight(double room) const override;
  QString rowTip(int at) const override { return row(at).label + QStringLiteral(": ") + row(at).text; }

 private:
  void paintRow(QPainter& painter, const QRectF& place, int at, double labels, double texts,
                double most) const;
  QString title_;
  std::vector<BarRow> rows_;
};

}  // namespace shardscape::ui
