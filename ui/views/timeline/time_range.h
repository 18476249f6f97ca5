// A part of the step that a person marked by a drag, and the totals of the work inside it.
#pragma once

#include <QString>
#include <vector>

#include "ui/selection/inspection.h"
#include "ui/views/timeline/gantt_layout.h"

namespace shardscape::ui {

struct TimeRange {
  struct Row {
    int member = 0, stage = 0;
    friend bool operator==(const Row&, const Row&) = default;
  };
  double from = 0, to = 0;  // seconds
  std::vector<Row> rows;    // from top to bottom
  double seconds() const { return to - from; }
  bool has(int member, int stage) const;
};

// One kind of work inside a range. Spans that the range cuts count with the part inside.
struct RangeTotal {
  int member = 0;
  StreamKind stream = StreamKind::Compute;
  QString kind;        // "forward", "reduce-scatter of gradients over dp", "idle"
  double seconds = 0;  // of all rows
  int count = 0;       // spans; 0 for idle time
};
// By stream, longest first, idle time of the compute stream last. On the compute stream the seconds of a
// design add up to its rows x seconds of the range.
std::vector<RangeTotal> totals_of(const GanttSteps& steps, const TimeRange& range);

// Time, count and share of each kind; the share is of the rows x seconds of the range.
Inspection inspect_range(const GanttSteps& steps, const TimeRange& range);

}  // namespace shardscape::ui
