// What a policy of the sync planner makes of a stage, as expressions: shards and units in padded sizes, which are derived
// symbols. Tests hold it against the planner's own numbers.
#pragma once

#include <vector>

#include "cost/grad_plan.h"
#include "schedule/sync_plan.h"
#include "symbolic/binding.h"

namespace shardscape {

// FSDP: what is gathered and reduced as one. A layer is a unit; embedding, head and what else is outside layers is the
// root unit.
struct SyncUnit {
  int segment = -1;            // of a layer; -1: the root
  Expr count;                  // of them on the stage
  Expr elements;               // on one rank before data parallelism, not padded
  Expr shard;                  // what each replica holds, padding included
  std::vector<GradReduction> inner;  // over groups inside a replica, of the whole unit, before it is scattered
  Expr full;                   // the gathered unit, padding included
};

// The ranks over which gradients are summed and states sharded: dp, and cp with it. Empty: there is nothing to sync.
MeshAxes replica_axes(const Structure& structure);

struct StageSync {
  SyncStrategy strategy = SyncStrategy::DdpFlat;
  Expr replicas;               // how many
  std::vector<DerivedSymbol> derived;  // to be defined on the stage's binding, in order
  bool buckets = false;        // gradients are reduced in buckets that the planner makes of the numbers
  Expr bucket_count;           // nb: bound by bind_sync
  Expr owned;                  // parameters whose optimizer states a rank keeps, padding included
  std::vector<SyncUnit> units; // FSDP; the root first where there is one
  // Gathers of the root in a step. It stays gathered until the first backward that ends; with several microbatches in
  // flight those after it gather it again for their backward.
  Expr root_forward, root_backward;
  Expr gathered;               // elements gathered at once: the root and two layers (the one that runs, the next one)
  Expr unreduced;              // elements of gradients that wait for their unit's reduction: the root's and one layer's
};
StageSync stage_sync(const Graph& graph, bool first, bool last, bool has_layers);

// The ordered parameters of one rank of a stage, for the planner. layers: kind of each layer on the stage. segments: set
// to the place of each parameter's segment among those of the stage.
SyncInput sync_input(const Graph& graph, const Binding& binding, bool first, bool last, const std::vector<int>& layers,
                     std::vector<size_t>* segments = nullptr);
// The planner's policy for a design's structure.
SyncPolicy sync_policy(const Structure& structure, int64_t microbatches);
// Sets the symbols that only the planner can tell: nb buckets, and of the distributed optimizer Pb, what each rank owns
// of them, padding included. Nothing without buckets.
void bind_sync(Binding& binding, const Graph& graph, bool first, bool last, const std::vector<int>& layers);

}  // namespace shardscape
