// The parts of a profiled step as pairs of bars: measured above predicted.
#pragma once

#include "profile/profile_comparison.h"
#include "ui/plot/bar_rows.h"

namespace shardscape::ui {

class ProfileBars : public BarRows {
  Q_OBJECT
 public:
  explicit ProfileBars(QWidget* parent);
  void setParts(std::vector<ComparedTime> parts, bool predicted);
  int count() const override { return static_cast<int>(parts_.size()); }
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  QSize sizeHint() const override { return {620, 280}; }
  QSize minimumSizeHint() const override { return {260, 140}; }

 protected:
  double rowHeight(double room) const override;
  QString rowTip(int at) const override;

 private:
  void paintRow(QPainter& painter, const QRectF& place, int at, double labels, double texts,
                double most) const;
  std::vector<ComparedTime> parts_;
  bool predicted_ = false;
};

}  // namespace shardscape::ui
