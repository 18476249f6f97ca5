// Legend and axis unit above a plot, flowing into as many lines as the width asks for. Only chart sources
// include this.
#pragma once

#include <qcustomplot.h>

#include "ui/plot/bar_data.h"

namespace shardscape::ui {

class ChartHeading : public QCPLayoutElement {
 public:
  explicit ChartHeading(QCustomPlot* plot);
  void setData(const BarData* data) { data_ = data; }
  void setTitleShown(bool shown) { title_shown_ = shown; }  // for exports; the window shows the title itself
  void setGround(const QColor& ground) { ground_ = ground; }
  void setAxisRect(QCPAxisRect* axes) { axes_ = axes; }

  QSize minimumOuterSizeHint() const override;
  QSize maximumOuterSizeHint() const override;

 protected:
  void draw(QCPPainter* painter) override;
  void applyDefaultAntialiasingHint(QCPPainter* painter) const override { painter->setAntialiasing(true); }

 private:
  struct Entry {
    QPointF place;  // of the swatch's left, at the middle of the line
    const BarSeries* series;
  };
  struct Flow {
    std::vector<Entry> entries;
    QString limit;  // text after the entries; empty without a limit
    QPointF limit_place;
    double height = 0;
  };
  Flow flow(double width) const;
  double legendLeft() const;
  const BarData* data_ = nullptr;
  QCPAxisRect* axes_ = nullptr;
  QColor ground_;
  bool title_shown_ = false;
};

}  // namespace shardscape::ui
