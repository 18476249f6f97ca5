// The layout of the timeline: steps of designs below each other, a row per stage, a lane per stream.
#pragma once

#include <QRectF>
#include <QString>
#include <memory>
#include <set>
#include <vector>

#include "plan/report.h"
#include "ui/views/timeline/lanes.h"

namespace shardscape::ui {

// The visible part: `seconds` seconds from the time `from`, scrolled down by `top` pixels.
struct GanttView {
  double from = 0, seconds = 1, top = 0;
};

// How a person arranged the rows of a step. Empty: all stages in order, all streams shown.
struct RowOrder {
  std::vector<int> stages;                // from top to bottom
  std::set<int> folded;                   // stages of which only the compute stream is shown
  std::vector<int> all(int count) const;  // `stages`, or 0 to count - 1 if the number of stages differs
};

// One of the steps that are drawn on one axis: first the present design's step, below it the steps of pinned
// designs.
struct GanttStep {
  int member = 0;  // 0 is the present design, see Comparisons::letter
  QString name;    // "tp 2 · pp 4"
  std::shared_ptr<const Report> report;
  std::shared_ptr<const Lanes> lanes;
  int only = -1;  // the only shown stage; -1: all stages
  RowOrder rows{};
};
using GanttSteps = std::vector<GanttStep>;
double longest(const GanttSteps& steps);  // seconds of the longest step

// The row of a shown stage.
struct GanttRow {
  size_t step = 0;  // index among the steps
  int stage = 0;
  double top = 0, bottom = 0;  // from the top of all rows
  bool folded = false;         // only the compute stream is shown
};

class GanttLayout {
 public:
  GanttLayout(const QRectF& area, const GanttSteps& steps, const GanttView& view);
  const GanttSteps& steps() const { return steps_; }
  const QRectF& plot() const { return plot_; }  // the area of the boxes
  const GanttView& view() const { return view_; }
  double x(double seconds) const { return plot_.left() + (seconds - view_.from) * scale_; }
  double seconds(double x) const { return view_.from + (x - plot_.left()) / scale_; }
  double scale() const { return scale_; }    // pixels per second
  double height() const { return height_; }  // of all rows
  const std::vector<GanttRow>& rows() const { return rows_; }
  int rowOf(const ItemRef& ref) const;    // the row of the box's stage; -1: the stage is not shown
  QRectF rowRect(int row) const;          // the whole width with labels
  QRectF lane(int row, int lane) const;   // the area of the boxes; null in a folded row, except lane 0
  QRectF lane(const ItemRef& ref) const;  // null where the stage is not shown
  // The heading with the name of the design: above the step's first row, or at the top of the plot while that
  // row is scrolled away. Null if there is one step only.
  QRectF heading(size_t step) const;
  QRectF rowsOf(size_t step) const;  // all rows of the step, in the area of the boxes
  int firstRow() const;              // the first visible row
  int endRow() const;
  bool laneLabels() const { return thin_ >= 9; }
  ItemRef at(const QPointF& point) const;  // invalid between boxes
  int rowAt(double y) const;               // -1: none
  // The rows that the span of pixels meets; above the boxes (on the axis): all rows.
  std::pair<int, int> rowsBetween(double y0, double y1) const;  // first, and one past the last
  QRectF rect(const ItemRef& ref) const;                        // null where the stage is not shown
  static constexpr double kLabels = 74, kAxis = 50, kHeading = 22;

 private:
  const GanttSteps& steps_;
  GanttView view_;
  QRectF plot_;
  double scale_ = 1, height_ = 0;
  double compute_ = 24, thin_ = 9, thin_gap_ = 2, gap_ = 14;
  double folded_ = 14;  // height of the compute stream of a folded row
  std::vector<GanttRow> rows_;
  std::vector<int> first_row_;            // of every step
  std::vector<std::vector<int>> row_of_;  // [step][stage]; -1: not shown
};

}  // namespace shardscape::ui
