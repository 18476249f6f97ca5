// Joins the many kinds of ops into few bar segments: groups of kinds, forward below backward.
#pragma once

#include <vector>

#include "plan/report.h"
#include "ui/plot/bar_data.h"
#include "ui/selection/flops_group.h"
#include "ui/views/compute/flops_model.h"

namespace shardscape::ui {

struct FlopsSegment {
  FlopsGroup group;
  Phase phase;
  friend bool operator==(const FlopsSegment&, const FlopsSegment&) = default;
};

// The segments of all stages, bottom to top, in the order of BarData::series.
std::vector<FlopsSegment> flops_segments(const Report& report, FlopsConvention convention);
// The same for time_bars(): segments with time or counted FLOPs. simulation: null before it arrives.
std::vector<FlopsSegment> time_segments(const Report& report, const Simulation* simulation);
double segment_seconds(const Simulation& simulation, const StageReport& stage, const FlopsSegment& segment);
// The FLOPs rows of a stage that belong to a segment.
std::vector<const FlopsValue*> flops_rows(const StageReport& stage, const FlopsSegment& segment);
BarData flops_bars(const Report& report, FlopsConvention convention);
BarData time_bars(const Report& report, const Simulation* simulation);

}  // namespace shardscape::ui
