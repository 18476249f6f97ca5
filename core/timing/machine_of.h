// The machine that a design runs on, made from its cluster.
#pragma once

#include "base/plan_cache.h"
#include "design/design.h"
#include "performance/machine.h"

namespace shardscape {

// Needs a valid design.
Machine machine_of(const Design& design);
// Adds everything that the seconds of kernels and collectives depend on.
void add_to(CacheKey& key, const Machine& machine);

}  // namespace shardscape
