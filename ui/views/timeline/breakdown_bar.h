// The seconds of a step by category: one stacked bar, with a legend in percent above. Segments are selected
// by mouse and keys.
#pragma once

#include <array>
#include <vector>

#include "timing/simulation.h"
#include "ui/plot/bar_data.h"
#include "ui/plot/canvas.h"

namespace shardscape::ui {

class BreakdownBar : public Canvas {
  Q_OBJECT
 public:
  explicit BreakdownBar(QWidget* parent = nullptr);
  void setSeconds(const std::array<double, kTimeCategoryCount>& seconds, double step);
  // The steps of compared designs, as thinner bars below on the same scale. member: 1 is the first pinned
  // design, see Comparisons::letter.
  struct OtherDesign {
    int member = 1;
    std::array<double, kTimeCategoryCount> seconds{};
    double step = 0;
  };
  void setComparedDesigns(std::vector<OtherDesign> others);
  const std::vector<OtherDesign>& others() const { return others_; }
  QRectF comparedStepRect(int at) const;                            // the bar of a compared design
  QRectF comparedSegmentRect(int at, TimeCategory category) const;  // one segment of this bar
  double total() const;
  QRectF segment(TimeCategory category) const;  // null: no such segment
  int selected() const { return selected_; }    // a TimeCategory; -1: none
  void setSelected(int category);
  void setMarked(std::vector<int> categories);  // categories that belong to the selection of any view
  const std::vector<int>& marked() const { return marked_; }
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  double fullHeight(double width) const;  // height of legend and bars
  QString tipAt(const QPointF& point) const override;

  QSize sizeHint() const override { return {640, heightForWidth(640)}; }
  QSize minimumSizeHint() const override { return {320, heightForWidth(320)}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 Q_SIGNALS:
  void categorySelected(int category);

 protected:
  bool ready() const override { return step_ > 0 && total() > 0; }
  QRectF focusFrame() const override;
  void click(const QPointF& at, Qt::KeyboardModifiers held) override;
  bool go(Way way, Qt::KeyboardModifiers held) override;
  bool activate() override;

 private:
  struct Place {
    TimeCategory category;
    QRectF bar, legend;
  };
  std::vector<Place> places(const QRectF& rect) const;
  std::vector<QRectF> comparedBarRects(size_t at, const QRectF& rect, double below) const;
  int at(const QPointF& point) const;     // the TimeCategory at the point, in any of the bars
  double room(const QRectF& rect) const;  // width of the longest step, pixels
  double longest() const;
  void select(int category);  // emits categorySelected()
  void paintLegend(QPainter& painter, const Place& place, const QColor& ground) const;
  void paintName(QPainter& painter, int member, double step, const QPointF& at, const QColor& ground) const;
  std::vector<OtherDesign> others_;
  std::array<double, kTimeCategoryCount> seconds_{};
  double step_ = 0;
  int selected_ = -1;
  std::vector<int> marked_;
};

// Colour and pattern of a category in legend and bar. Two categories share a colour and differ in pattern.
BarSeries time_series(TimeCategory category);

}  // namespace shardscape::ui
