// The ordered parameters of one rank, as the code base holds them, for the planner of gradient sync.
#pragma once

#include <set>
#include <vector>

#include "graph/graph.h"
#include "schedule/sync_plan.h"
#include "symbolic/binding.h"

namespace shardscape {

// One tensor of the code base: what the kernel profile packs into one (linear_qkv, gate and up) is one.
struct FlatParam {
  const Param* param = nullptr;  // the first of the pack
  std::string name, module;      // in its segment; the module is what computes with it: weight and bias share one
  Expr rows, columns;            // on one rank, as PyTorch lays them out: output features first
  bool vector = false;           // a bias or the scale of a norm: columns is 1
  Expr elements() const { return rows * columns; }
};
std::vector<FlatParam> flat_params(const Segment& segment);

// Those that sizes of parameters and of their groups are made of.
std::set<Symbol> sync_symbols(const Graph& graph);

// chunks: of every virtual stage the kinds of its layers. instances: set to the place of each parameter's segment among
// those of the stage in order of execution, then of each reused module's.
SyncInput sync_input(const Graph& graph, const Binding& binding, bool first, bool last, const std::vector<std::vector<int>>& chunks,
                     std::vector<size_t>* instances = nullptr);

}  // namespace shardscape
