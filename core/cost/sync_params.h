// The ordered parameters of one rank, as the code base holds them, for the planner of gradient sync.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cost/sync_groups.h"
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

// All of a graph that the planner's input is made of. Graphs of many structures have equal ones.
struct SyncBasis {
  struct Group {
    ReplicaGroup of;
    Expr size, across_size;
    friend bool operator==(const Group&, const Group&) = default;
  };
  struct Flat {
    std::string name, module, tied;  // tied: Param::tied
    Expr rows, columns;
    bool vector = false;
    int group = 0;
    friend bool operator==(const Flat&, const Flat&) = default;
  };
  struct Part {                // a segment
    std::string name;
    std::vector<Flat> params;
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::vector<Group> groups;
  std::vector<Part> parts;
  friend bool operator==(const SyncBasis&, const SyncBasis&) = default;
  std::set<Symbol> symbols() const;  // that these sizes are made of
};
SyncBasis sync_basis(const Graph& graph);
// Equal ones have the same serial number. Thread safe.
struct SharedSyncBasis {
  SyncBasis basis;
  std::set<Symbol> symbols;    // of the basis
  uint64_t serial = 0;
};
std::shared_ptr<const SharedSyncBasis> shared_sync_basis(const Graph& graph);

// chunks: of every virtual stage the kinds of its layers. instances: set to the place of each parameter's segment among
// those of the stage in order of execution, then of each reused module's.
SyncInput sync_input(const SyncBasis& basis, const Binding& binding, bool first, bool last, const std::vector<std::vector<int>>& chunks,
                     std::vector<size_t>* instances = nullptr);
SyncInput sync_input(const Graph& graph, const Binding& binding, bool first, bool last, const std::vector<std::vector<int>>& chunks,
                     std::vector<size_t>* instances = nullptr);

}  // namespace shardscape
