// The time of a simulated step by rows of the report: by collective, and by kind of kernel.
//
// A collective's seconds are those of its links, whether compute hides them or not: a layer's from the ops of
// every simulated layer, all others from the spans of the timeline. The exposed part is what compute waits
// for, with the same attribution as StageTimes::seconds. A message has its seconds in the row of sends and in
// the row of receives; only receivers wait.
#pragma once

#include "timing/layer_seconds.h"

namespace shardscape {

// Whether the row counts the spans of this name.
bool is_row(const CollectiveValue& row, const SpanCollective& span);
// Sets StageTimes::collectives and StageTimes::kernels of all stages. table: of the report. simulation: has
// its spans, categories, layers and machine.
void add_row_times(const Report& report, const LayerTable& table, Simulation& simulation);

}  // namespace shardscape
