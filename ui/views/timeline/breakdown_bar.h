// Where the seconds of a step go: one bar that adds up, its legend above it with percent; segments are
// selected by mouse and keys.
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
  // Steps of other designs below, thinner and on the same scale; member as Comparisons::letter counts.
  struct OtherDesign {
    int member = 1;
    std::array<double, kTimeCategoryCount> seconds{};
    double step = 0;
  };
  void setComparedDesigns(std::vector<OtherDesign> others);
  const std::vector<OtherDesign>& others() const { return others_; }
  QRectF comparedStepRect(int at) const;                            // of a whole step below
  QRectF comparedSegmentRect(int at, TimeCategory category) const;  // of one category in it
  double total() const;
  QRectF segment(TimeCategory category) const;  // null where there is none
  int selected() const { return selected_; }    // a TimeCategory; -1: none
  void setSelected(int category);
  void setMarked(std::vector<int> categories);  // that belong to what is selected in any view
  const std::vector<int>& marked() const { return marked_; }
  void paint(QPainter& painter, const QRectF& rect, const QColor& ground) const override;
  double fullHeight(double width) const;  // of legend and bars
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
  int at(const QPointF& point) const;     // a TimeCategory, of whichever step
  double room(const QRectF& rect) const;  // of the longest step, in pixels
  double longest() const;
  void select(int category);  // and tells
  void paintLegend(QPainter& painter, const Place& place, const QColor& ground) const;
  void paintName(QPainter& painter, int member, double step, const QPointF& at, const QColor& ground) const;
  std::vector<OtherDesign> others_;
  std::array<double, kTimeCategoryCount> seconds_{};
  double step_ = 0;
  int selected_ = -1;
  std::vector<int> marked_;
};

// As the legend and the bar show a category: colour, and a pattern where two share one.
BarSeries time_series(TimeCategory category);

}  // namespace shardscape::ui
