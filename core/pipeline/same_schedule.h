// Whether two designs run the same schedule, although they choose it by other fields.
#pragma once

#include "base/plan_cache.h"
#include "mesh/parallel_spec.h"

namespace shardscape {

// Whether both split and overlap backwards in the same way and run the same actions in the same order on
// every stage. Examples: every schedule but GPipe on one stage; GPipe and 1F1B with one microbatch; the
// flexible schedule with groups of pp microbatches and interleaved 1F1B; zb-auto, where its search finds the
// order of ZB-H1. Requires fields of valid designs that differ only in the choice of the schedule. cache: see
// make_schedule().
bool same_schedule(const ParallelSpec& a, const ParallelSpec& b, int microbatches,
                   PlanCache* cache = nullptr);

}  // namespace shardscape
