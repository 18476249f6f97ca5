// The KV cache of the engines of a service: its size, its layout and its tiers.
#pragma once

#include <memory>
#include <optional>

#include "base/plan_cache.h"
#include "serving/engine/cache_capacity.h"
#include "serving/service/service_spec.h"

namespace shardscape {

// What an engine of the spec has left for its KV cache.
Result<CacheCapacity> service_cache(const Design& design, const ServiceSpec& spec,
                                    std::shared_ptr<PlanCache> cache = {});
// Says what leaves no room for a cache. Requires cache.blocks == 0.
Problem no_cache_problem(EngineKind engine, const CacheCapacity& cache);

// Gives an engine of the spec its blocks, unless it has some, their layout, and the tiers below them.
// engine: the settings of the spec, completed here. cache: without sizes of memory if the blocks are given.
std::optional<Problem> set_cache(const Design& design, const ServiceSpec& spec, EngineSettings& engine,
                                 CacheCapacity& cache, std::shared_ptr<PlanCache> plans);

}  // namespace shardscape
