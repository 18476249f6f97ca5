// Counts the layers of a stage by kind and class, the layers that are recomputed together, and the offloaded
// layers on the device: the values of the symbols of graph/stage_symbols.h.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "plan/report.h"

namespace shardscape {

// Layers on the device at one time: symbols that count layers, with their values. Symbols that are not listed
// are 0.
using SymbolCounts = std::map<Symbol, int64_t>;

struct StageLayers {
  std::vector<std::vector<int64_t>> chunks;  // by virtual stage: layers by kind and class, kind major
  std::set<SymbolCounts> groups;             // layers of one recompute group
  // Offloaded layers on the device, less the layers whose backward has ended.
  std::set<SymbolCounts> transits;
};

std::vector<int> layer_kinds(const Graph& graph);
// Counts the layers of the stage and binds their symbols. concurrent: whether to fill groups and transits.
StageLayers count_layers(StageReport& stage, const Graph& graph, const Design& design,
                         bool concurrent = true);
// Binds 0 for the layers that are recomputed or loaded from the host.
void bind_nothing_recomputed(Binding& binding, const Graph& graph);

}  // namespace shardscape
