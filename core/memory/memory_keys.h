// Cache keys of the memory of bound plans.
#pragma once

#include "base/plan_cache.h"
#include "memory/segment_memories.h"
#include "plan/report.h"

namespace shardscape {

// Everything that the memory of the graph's segments depends on.
CacheKey memory_key(const Report& plan);
// The layers of all stages and the schedule: with the memory of the bound graph, everything that the peaks
// depend on if gradients and receive buffers are always allocated.
void add_stages(CacheKey& key, const Report& plan);
size_t bytes_of_table(const MemoryTable& table);

}  // namespace shardscape
