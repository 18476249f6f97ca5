// The place of a stage's peak as text: "backward of microbatch 3, layer 79: Down projection, gradient".
#pragma once

#include <string>

#include "graph/graph.h"
#include "memory/memory_timeline.h"

namespace shardscape {

// memory: with action, layer, segment and place of the peak.
std::string peak_text(const StageMemory& memory, const Graph& graph);

}  // namespace shardscape
