// Inspector texts about kernels: their time, and FLOPs with formula, numbers, value and origin. simulation:
// of the report; null: no times.
#pragma once

#include "plan/report.h"
#include "ui/selection/inspection.h"
#include "ui/views/compute/flops_bars.h"

namespace shardscape::ui {

Inspection inspect_flops(const Simulation* simulation, const StageReport& stage, const FlopsValue& row);
Inspection inspect_kernels_without_flops(const StageTimes& times, const StageReport& stage,
                                         const KernelTime& row);
Inspection inspect_flops_segment(const Simulation* simulation, const StageReport& stage,
                                 const FlopsSegment& segment);
Inspection inspect_stage_flops(const Report& report, const Simulation* simulation, const StageReport& stage);

}  // namespace shardscape::ui
