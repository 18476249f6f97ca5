// Where the timeline is drawn: steps of designs one below the other, rows of stages, lanes of streams.
#pragma once

#include <QRectF>
#include <QString>
#include <memory>
#include <vector>

#include "plan/report.h"
#include "ui/views/timeline/lanes.h"

namespace shardscape::ui {

// A view of the step: from `from`, `seconds` wide, scrolled down by `top` pixels.
struct GanttView {
  double from = 0, seconds = 1, top = 0;
};

// A step among those that are drawn on one axis: the present one first, below it those of designs that are
// pinned for comparison.
struct GanttStep {
  int member = 0;  // as Comparisons::letter counts
  QString name;    // "tp 2 · pp 4"
  std::shared_ptr<const Report> report;
  std::shared_ptr<const Lanes> lanes;
  int only = -1;  // the one stage that is shown; -1: all
};
using GanttSteps = std::vector<GanttStep>;
double longest(const GanttSteps& steps);  // seconds of a step

// A stage that is shown.
struct GanttRow {
  size_t step = 0;  // index among the steps
  int stage = 0;
  double top = 0, bottom = 0;  // from the top of all rows
};

class GanttLayout {
 public:
  GanttLayout(const QRectF& area, const GanttSteps& steps, const GanttView& view);
  const GanttSteps& steps() const { return steps_; }
  const QRectF& plot() const { return plot_; }  // of the boxes
  const GanttView& view() const { return view_; }
  double x(double seconds) const { return plot_.left() + (seconds - view_.from) * scale_; }
  double seconds(double x) const { return view_.from + (x - plot_.left()) / scale_; }
  double scale() const { return scale_; }    // pixels per second
  double height() const { return height_; }  // of all rows
  const std::vector<GanttRow>& rows() const { return rows_; }
  int rowOf(const ItemRef& ref) const;    // of its stage; -1: that is not shown
  QRectF rowRect(int row) const;          // over the whole width, labels too
  QRectF lane(int row, int lane) const;   // of the boxes
  QRectF lane(const ItemRef& ref) const;  // null where the stage is not shown
  // With whose the step is: above its first row, or on top of the plot while that is scrolled away. Null
  // where there is one step only.
  QRectF heading(size_t step) const;
  QRectF rowsOf(size_t step) const;  // all of them, over the boxes
  int firstRow() const;              // that can be seen
  int endRow() const;
  bool laneLabels() const { return thin_ >= 9; }
  ItemRef at(const QPointF& point) const;  // nothing between boxes
  QRectF rect(const ItemRef& ref) const;   // null where the stage is not shown
  static constexpr double kLabels = 74, kAxis = 50, kHeading = 22;

 private:
  const GanttSteps& steps_;
  GanttView view_;
  QRectF plot_;
  double scale_ = 1, height_ = 0;
  double compute_ = 24, thin_ = 9, thin_gap_ = 2, gap_ = 14;
  std::vector<GanttRow> rows_;
  std::vector<int> first_row_;  // of every step
};

}  // namespace shardscape::ui
