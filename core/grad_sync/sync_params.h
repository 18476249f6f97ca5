// The ordered parameters of one rank, as the code base stores them: the input of the planner of gradient
// sync.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/plan_cache.h"
#include "grad_sync/sync_groups.h"
#include "grad_sync/sync_plan.h"
#include "graph/graph.h"
#include "symbolic/binding.h"

namespace shardscape {

// One tensor of the code base. Parameters that the kernel profile packs (linear_qkv, gate and up) are one
// tensor.
struct FlatParam {
  const Param* param = nullptr;  // the first of the pack
  // name: unique in its segment. module: the op that uses the parameter; weight and bias share one.
  std::string name, module;
  // On one rank, as PyTorch lays them out: output features first.
  Expr rows, columns;
  bool vector = false;     // a bias or the scale of a norm: columns is 1
  bool looked_up = false;  // as SyncParam::looked_up
  Expr elements() const { return rows * columns; }
};
std::vector<FlatParam> flat_params(const Segment& segment);
// One parameter, not packed with others.
FlatParam flat_param(const Segment& segment, const Param& param);

// The part of a graph that determines the planner's input. Many structures share an equal basis.
struct SyncBasis {
  struct Group {
    ReplicaGroup replicas;
    Expr size, across_size;
    friend bool operator==(const Group&, const Group&) = default;
  };
  struct Flat {
    std::string name, module, tied;  // tied: Param::tied
    Expr rows, columns;
    bool vector = false;
    int group = 0;
    bool quantized = false;  // SyncParam::quantized
    bool looked_up = false;  // as SyncParam::looked_up
    bool frozen = false;     // as SyncParam::frozen
    friend bool operator==(const Flat&, const Flat&) = default;
  };
  struct Part {  // a segment
    std::string name;
    std::vector<Flat> params;  // without parameters that are whole on every rank and have no gradient
    Expr copies{1};            // of a part of a tower
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::vector<Group> groups;
  std::vector<Part> parts;  // embedding, kinds of layer, head, parts of a tower that passes run
  int head = 0;             // index into parts
  friend bool operator==(const SyncBasis&, const SyncBasis&) = default;
  std::set<Symbol> symbols() const;  // symbols in these sizes
};
SyncBasis sync_basis(const Graph& graph);
// A basis shared by graphs. Equal bases have the same serial number. Thread safe.
struct SharedSyncBasis {
  SyncBasis basis;
  std::set<Symbol> symbols;  // of the basis
  int64_t serial = 0;
};
std::shared_ptr<const SharedSyncBasis> shared_sync_basis(const Graph& graph, PlanCache& cache);

// chunks: kinds of the layers of every virtual stage. instances, if not null: for each parameter, then for
// each reused module, the index of its segment among the stage's segments in order of execution.
SyncInput sync_input(const SyncBasis& basis, const Binding& binding, ModelStart first, bool last,
                     const std::vector<std::vector<int>>& chunks, std::vector<size_t>* instances = nullptr);
SyncInput sync_input(const Graph& graph, const Binding& binding, ModelStart first, bool last,
                     const std::vector<std::vector<int>>& chunks, std::vector<size_t>* instances = nullptr);

}  // namespace shardscape
