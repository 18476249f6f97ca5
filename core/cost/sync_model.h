// What a policy of the sync planner makes of a stage, as expressions: shards and units in padded sizes, which are derived
// symbols, and what only the planner can count as symbols that bind_sync sets. Tests hold it against the planner's numbers.
#pragma once

#include <array>
#include <vector>

#include "cost/grad_plan.h"
#include "cost/sync_groups.h"
#include "cost/sync_params.h"

namespace shardscape {

// When a gathered FSDP unit is freed: after each forward and each backward, after each backward, or after the one that
// reduces (FSDP1 keeps what it did not reshard under no_sync). Of FSDP2 in a pipeline none frees it before that, whatever a
// forward does (torch.distributed.pipelining, stage.py: set_reshard_after_backward(False) whatever the schedule); gradients of weights
// read no parameters.
enum class UnitFreed : uint8_t { AfterForward, AfterBackward, AfterReduction, AfterForwardAlone };

// FSDP: what is gathered and reduced as one. A layer is a unit; embedding, head and what else is outside layers is the
// root unit; each has its own where they are in two chunks of a stage (ChunkLayout::Vee). Parameters of another replica group
// are a unit of their own within it.
struct SyncUnit {
  bool root = false;
  int segment = -1;            // of a layer; of the root where embedding and head are apart, otherwise -1
  ReplicaGroup group;
  UnitFreed freed = UnitFreed::AfterForward;
  Expr count;                  // of them on the stage
  Expr elements;               // on one rank before data parallelism, not padded
  Expr shard;                  // what each replica holds, padding included
  std::vector<GradReduction> inner;  // over groups inside a replica, of the whole unit, before it is scattered
  Expr full;                   // the gathered unit, padding included
  Expr forward, backward;      // gathers in a step, of all units together
  Expr reductions;             // likewise
};

// Collectives over replicas, of a step.
struct SyncRow {
  Phase phase;
  SyncOp op;
  MeshAxes axes;
  DType dtype;
  Expr count, elements;        // of the full buffers, all of them together
};

struct StageSync {
  SyncStrategy strategy = SyncStrategy::DdpFlat;
  std::vector<DerivedSymbol> derived;  // to be defined on the stage's binding, in order
  std::vector<SyncRow> rows;
  Expr owned;                  // parameters whose optimizer states a rank keeps, padding included
  Expr buffers;                // elements of whole gradients, padding included
  std::vector<SyncUnit> units; // FSDP; those of roots first
  Expr gathered;               // elements gathered at once: FSDP the root and two layers (the one that runs, the next one; in the replay of a group its last one too)
  Expr unreduced;              // elements of gradients that wait for their unit's reduction: the root's and one layer's
};
StageSync stage_sync(const Graph& graph, bool first, bool last, bool has_layers);

// The planner's policy: for a structure alone, and with the numbers of a design.
SyncPolicy sync_policy(const Structure& structure);
SyncPolicy sync_policy(const Structure& structure, const ParallelSpec& parallel, int64_t microbatches);

// The plan of a stage by any policy but FSDP's, which is StageSync::units.
struct StagePlan {
  SyncInput input;
  SyncPlan plan;
  std::vector<size_t> holders;   // of each parameter, then of each reused module: its segment's place on the stage
};
StagePlan stage_plan(const SyncBasis& basis, const Structure& structure, const Binding& binding, const ParallelSpec& parallel, bool first, bool last,
                     const std::vector<std::vector<int>>& chunks);
// The same by places of segments on the stage.
struct PlacedPlan {
  struct Act {
    SyncAction action;             // without its parts
    MeshAxes axes;
    int first = 0;                 // parameter that it carries
    std::vector<size_t> holders;   // places whose parameters it carries, each once
    std::vector<size_t> readers;   // the same, with those of reused modules
  };
  struct Place {
    std::vector<size_t> before_forward, before_backward, after_gradient;  // acts
  };
  std::vector<Act> acts;           // in order of issue within their microbatch
  std::vector<Place> places;
};
PlacedPlan place_plan(const SyncBasis& basis, const StagePlan& plan);
// Its collectives added up, by group of the input, kind of sync_kinds(policy) and turn: of any number of microbatches.
struct PlanTotals {
  using ByTurn = std::array<int64_t, kSyncTurns>;
  struct Kind {
    ByTurn count{}, elements{};
  };
  struct Group {
    std::vector<Kind> kinds;
    int64_t owned = 0;             // of a rank, once gradients are reduced
    bool reduces = false, crosses = false;  // has ranks to reduce over; groups that replicate its shards
  };
  std::vector<Group> groups;
  int64_t gathered = 0;            // as SyncPlan has it
};
PlanTotals plan_totals(const Structure& structure, const StagePlan& plan);
// What bind_sync binds where needs_plan.
void bind_plan(Binding& binding, const Structure& structure, const ParallelSpec& parallel, const PlanTotals& totals);
// Whether states of a stage depend on its plan.
bool needs_plan(const Structure& structure);

// Sets the symbols that only the planner or the schedule can tell; the binding has the stage's others already. Of group
// "" (dense) and "x" (the next one): Pb elements in nb reductions, Pa in na of shards across groups, Pgf in ngf gathers of the
// forward, Pgb in ngb of the backward, Pgu in ngu of updated parameters; Po owned; of ZeRO-3 Pg elements whole at a time; Zb the
// reduce bucket.
void bind_sync(Binding& binding, const Graph& graph, const ParallelSpec& parallel, bool first, bool last,
               const std::vector<std::vector<int>>& chunks);

// The all-reduces of one number: of the gradients' norm (once for each), of the loss of every microbatch (on the last stage).
// Empty where the design does without, or has nobody to do it with.
std::vector<MeshAxes> norm_groups(const Graph& graph);
MeshAxes loss_group(const Graph& graph);

}  // namespace shardscape
