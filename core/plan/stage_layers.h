// How many layers of which kind and class a stage has, and which of them are recomputed or on their way from
// the host at once: the numbers behind the symbols of graph/stage_symbols.h.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "plan/report.h"

namespace shardscape {

// What is on the device at one time: symbols that count layers, with their values. Other symbols of the same
// sort are 0.
using SymbolCounts = std::map<Symbol, int64_t>;

struct StageLayers {
  std::vector<std::vector<int64_t>> chunks;  // of every virtual stage: layers by kind and class, kind major
  std::set<SymbolCounts> groups;             // layers that are recomputed at once
  std::set<SymbolCounts> transits;           // offloaded layers on the device, less those that are done
};

std::vector<int> layer_kinds(const Graph& graph);
// Counts the layers of the stage and binds their symbols. at_once: whether groups and transits are wanted.
StageLayers count_layers(StageReport& stage, const Graph& graph, const Design& design, bool at_once = true);
// No layer is recomputed, none is on its way.
void bind_nothing_recomputed(Binding& binding, const Graph& graph);

}  // namespace shardscape
