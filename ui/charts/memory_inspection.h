// What the inspector says about a stage's memory: formula, numbers put in, value, and why it is that much.
#pragma once

#include "report/report.h"
#include "simulate/allocator_use.h"
#include "ui/state/session.h"

namespace shardscape::ui {

Inspection inspect_memory(const Report& report, const StageReport& stage, MemoryCategory category, UnitSystem units);
// segments: what the allocator reserves for this stage; null: that is not known.
Inspection inspect_stage_memory(const Report& report, const StageReport& stage, UnitSystem units, const Fragmentation* segments = nullptr);

}  // namespace shardscape::ui
