// Builds the graph of a structure: assemble blocks -> place the forward -> differentiate the placed graph ->
// recompute -> simplify.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/plan_cache.h"
#include "base/problem.h"
#include "design/design.h"
#include "graph/graph.h"
#include "model/library.h"

namespace shardscape {

Structure structure_of(const Design& design);
// Id of the kernel profile. The default, flash, is training code: in inference it stands for vllm, with the
// same rules and the fused kernels of an engine.
std::string kernel_profile(const Design& design);
// Builds a graph without a cache. A Problem names the template's file and line.
Result<std::shared_ptr<const Graph>> build_graph(const Structure& structure, const ModelLibrary& library);
// The first mistake of every segment of a graph that cannot be built; empty for any other.
std::vector<Problem> graph_problems(const Structure& structure, const ModelLibrary& library);
// As build_graph, but segments and graph come from the cache, and the library is ModelLibrary::instance().
Result<std::shared_ptr<const Graph>> cached_graph(const Structure& structure, PlanCache& cache);

// The key of results that depend on every member of a structure. Results that depend on some members select
// them (structure_fields.h).
CacheKey key_of(const Structure& structure);
// Approximate bytes of a graph's segments in memory.
size_t bytes_of(const std::vector<Segment>& segments);

}  // namespace shardscape
