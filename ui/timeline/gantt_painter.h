// Where the timeline is drawn and how: rows of stages, lanes of streams, boxes down to a level of detail that a pixel can show.
#pragma once

#include <QPainter>
#include <functional>
#include <optional>

#include "ui/timeline/lanes.h"
#include "ui/timeline/op_detail.h"

namespace shardscape::ui {

// A view of the step: from `from`, `seconds` wide, scrolled down by `top` pixels.
struct GanttView {
  double from = 0, seconds = 1, top = 0;
};

class GanttLayout {
 public:
  GanttLayout(const QRectF& area, const Lanes& lanes, const GanttView& view);
  const QRectF& plot() const { return plot_; }   // of the boxes
  const GanttView& view() const { return view_; }
  double x(double seconds) const { return plot_.left() + (seconds - view_.from) * scale_; }
  double seconds(double x) const { return view_.from + (x - plot_.left()) / scale_; }
  double scale() const { return scale_; }        // pixels per second
  double height() const { return height_; }      // of all rows
  QRectF row(int stage) const;                   // over the whole width, labels too
  QRectF lane(int stage, int lane) const;        // of the boxes
  int firstStage() const;
  int endStage() const;
  bool laneLabels() const { return thin_ >= 9; }
  ItemRef at(const QPointF& point) const;        // nothing between boxes
  QRectF rect(const ItemRef& ref) const;
  static constexpr double kLabels = 74, kAxis = 50;

 private:
  const Lanes& lanes_;
  GanttView view_;
  QRectF plot_;
  double scale_ = 1, height_ = 0;
  double compute_ = 24, thin_ = 9, thin_gap_ = 2, gap_ = 14;
  std::vector<double> tops_;                     // of every stage, and the end
};

struct GanttMarks {
  ItemRef selected, hovered;
  int selected_op = -1;                          // index among the ops of the selected box
  bool focused = false;
  bool critical = false;                         // the critical path stands out
  std::function<bool(const ItemRef&)> stands_out;  // of what else is picked or searched for; empty: all alike
  std::function<bool(int segment, int op)> op_stands_out;
  std::optional<double> peak;                    // seconds at which memory is fullest
  QString peak_label;
  QColor ground;
};

// Ops of boxes that are wide enough; asked for only there. Empty: none are known yet.
using OpsOf = std::function<std::vector<PlacedOp>(const ItemRef& ref, double from, double to)>;
inline constexpr double kLeastForOps = 260;      // pixels of a box

void paint_gantt(QPainter& painter, const GanttLayout& layout, const Lanes& lanes, const Report& report, const GanttMarks& marks, const OpsOf& ops);

}  // namespace shardscape::ui
