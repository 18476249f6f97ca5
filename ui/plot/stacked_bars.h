// The bars of a stage chart inside QCustomPlot: drawing and hit testing. Only the chart's own sources include
// this.
#pragma once

#include <qcustomplot.h>

#include "ui/plot/bar_data.h"

namespace shardscape::ui {

struct BarHit {
  int stage = -1;
  int series = -1;  // -1: in the stage's column, on none of its segments
  int member = 0;   // of compared designs; bars with member > 0 are hit in their segments only
  friend bool operator==(const BarHit&, const BarHit&) = default;
};

class StackedBars : public QCPAbstractPlottable {
 public:
  StackedBars(QCPAxis* key_axis, QCPAxis* value_axis);

  void setData(const BarData* data) { data_ = data; }  // owned by the chart
  void setSelection(BarHit selection, std::vector<BarMark> marked, bool focused);
  void setGround(const QColor& ground) { ground_ = ground; }
  BarHit hit(const QPointF& position) const;
  QRectF segment(int stage, int series, int member = 0) const;  // in pixels
  QRectF column(int stage, int member = 0) const;               // the whole bar
  double tallest() const;                                       // total of the highest bar
  double top() const;                                           // highest value that the axis has to show

  double selectTest(const QPointF& position, bool only_selectable,
                    QVariant* details = nullptr) const override;
  QCPRange getKeyRange(bool& found, QCP::SignDomain domain = QCP::sdBoth) const override;
  QCPRange getValueRange(bool& found, QCP::SignDomain domain = QCP::sdBoth,
                         const QCPRange& keys = {}) const override;

 protected:
  void draw(QCPPainter* painter) override;
  void drawLegendIcon(QCPPainter*, const QRectF&) const override {}  // the heading has the legend
  QRect clipRect() const override;

 private:
  double slotWidth() const;
  double barWidth() const;
  QRectF barRect(int stage, double low, double high, int member) const;
  std::vector<int> drawnStages(int member) const;
  void drawTotals(QCPPainter& painter) const;
  void drawLetters(QCPPainter& painter) const;
  QString segmentLabel(int stage, size_t series) const;
  bool roomForLabels() const;
  void drawSegmentLabels(QCPPainter& painter, int stage) const;
  void drawLimit(QCPPainter& painter) const;
  void drawSelection(QCPPainter& painter) const;

  const BarData* data_ = nullptr;
  BarHit selection_;
  std::vector<BarMark> marked_;
  bool focused_ = false;
  QColor ground_;
};

}  // namespace shardscape::ui
