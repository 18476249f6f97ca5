// What the inspector says about a stage's memory: formula, numbers put in, value, and why it is that much.
#pragma once

#include "base/units.h"
#include "memory/allocator_use.h"
#include "plan/report.h"
#include "ui/selection/inspection.h"

namespace shardscape::ui {

Inspection inspect_memory(const Report& report, const StageReport& stage, MemoryCategory category,
                          UnitSystem units);
// segments: what the allocator reserves for this stage; null: that is not known.
Inspection inspect_stage_memory(const Report& report, const StageReport& stage, UnitSystem units,
                                const Fragmentation* segments = nullptr);

}  // namespace shardscape::ui
