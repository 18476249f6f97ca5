// Inspector texts about a stage's memory: formula, formula with numbers, value, and the reason for the
// amount.
#pragma once

#include "base/units.h"
#include "memory/allocator_use.h"
#include "plan/report.h"
#include "ui/selection/inspection.h"

namespace shardscape::ui {

Inspection inspect_memory(const Report& report, const StageReport& stage, MemoryCategory category,
                          UnitSystem units);
// segments: the allocator's reserved memory for this stage; null: unknown.
Inspection inspect_stage_memory(const Report& report, const StageReport& stage, UnitSystem units,
                                const Fragmentation* segments = nullptr);

}  // namespace shardscape::ui
