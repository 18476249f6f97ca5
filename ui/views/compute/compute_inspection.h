// Inspector texts about FLOPs: formula, formula with numbers, value, and the origin of the FLOPs.
#pragma once

#include "plan/report.h"
#include "ui/selection/inspection.h"
#include "ui/views/compute/flops_bars.h"

namespace shardscape::ui {

Inspection inspect_flops(const StageReport& stage, const FlopsValue& row);
Inspection inspect_flops_segment(const Report& report, const StageReport& stage, const FlopsSegment& segment);
Inspection inspect_stage_flops(const Report& report, const StageReport& stage);

}  // namespace shardscape::ui
