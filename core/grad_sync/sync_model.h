// The collectives and states of a sync policy on a stage, as expressions. Shards and units have padded sizes,
// which are derived symbols. Quantities that only the planner can count are symbols that bind_sync sets.
//
// The expressions are a closed form of the planner's result (sync_plan.h). The search needs the closed form:
// a bound plan evaluates the bytes of a stage's states without listing its parameters, unless needs_plan. The
// report shows the expressions as formulas. tests/core/grad_sync/sync_model_test.cpp compares all totals of
// random designs with the planner (expressions_equal_the_plan) and gathers of FSDP with the lowered program
// (gathers_follow_the_schedule).
#pragma once

#include <array>
#include <vector>

#include "grad_sync/grad_plan.h"
#include "grad_sync/muon.h"
#include "grad_sync/sync_groups.h"
#include "grad_sync/sync_params.h"

namespace shardscape {

// When a gathered FSDP unit is freed. AfterForward: after each forward and each backward. AfterBackward:
// after each backward. AfterLastBackward: after the last backward of a step (under no_sync, FSDP1 frees no
// unit that it did not reshard). AfterForwardOnly: after each forward, and after the last backward of a step,
// but after no other backward: FSDP2 with set_reshard_after_backward(False), which
// torch.distributed.pipelining (stage.py) sets whatever the schedule; weight gradients read no parameters.
enum class UnitFreed : uint8_t { AfterForward, AfterBackward, AfterLastBackward, AfterForwardOnly };

// FSDP: the parameters that are gathered and reduced together. A layer is a unit; everything outside layers
// is the root unit. Embedding and head have separate roots if they are in two chunks of a stage
// (ChunkLayout::Vee). Parameters of another replica group, and frozen parameters, form separate units.
struct SyncUnit {
  bool root = false;
  bool frozen = false;  // parameters without gradients, in a unit of their own: no reductions
  // Segment of a layer, or of a separate root; otherwise -1.
  int segment = -1;
  ReplicaGroup group;
  UnitFreed freed = UnitFreed::AfterForward;
  Expr count;     // units of this kind on the stage
  Expr elements;  // on one rank, before data parallelism, without padding
  Expr shard;     // per replica, with padding
  // Reductions inside a replica, for the whole unit, before the scatter.
  std::vector<GradReduction> inner;
  Expr full;               // gathered unit, with padding
  Expr forward, backward;  // gathers per step, over all units of this kind
  Expr reductions;         // reductions per step, over all units of this kind
  Expr crossings;          // the same, of shards across groups
};

// A kind of collective over replicas, with its totals of a step.
struct SyncRow {
  Phase phase;
  CollectiveKind op;
  MeshAxes axes;
  DType dtype;
  Expr count, elements;  // totals; elements of full buffers
};

struct StageSync {
  SyncStrategy strategy = SyncStrategy::DdpFlat;
  std::vector<DerivedSymbol> derived;  // to define on the stage's binding, in order
  std::vector<SyncRow> rows;
  MuonWork muon;  // empty without Muon
  Expr owned;     // parameters whose optimizer states the rank stores, with padding
  Expr buffers;   // elements of whole gradients, with padding
  // Frozen parameters that replicas shard: the rank's part with padding, and the elements before the split.
  Expr frozen, frozen_elements;
  std::vector<SyncUnit> units;  // FSDP only; roots first
  // Elements gathered at the same time. FSDP: the root, the running layer and the next layer; in the replay
  // of a recompute group also the last layer of the group.
  Expr gathered;
  // Elements of gradients that are not reduced yet: those of the root and of one layer.
  Expr unreduced;
};
StageSync stage_sync(const Graph& graph, ModelStart first, bool last, bool has_layers);

// The planner's policy: for a structure alone, or with the numbers of a design.
SyncPolicy sync_policy(const Structure& structure);
SyncPolicy sync_policy(const Structure& structure, const ParallelSpec& parallel, int64_t microbatches);

// The plan of a stage under any policy except FSDP, which uses StageSync::units.
struct StagePlan {
  SyncInput input;
  SyncPlan plan;
  // For each parameter, then for each reused module: index of its segment's instance on the stage.
  std::vector<size_t> holders;
};
// A Problem if the plan has too many collectives.
Result<StagePlan> stage_plan(const SyncBasis& basis, const Structure& structure, const Binding& binding,
                             const ParallelSpec& parallel, ModelStart first, bool last,
                             const std::vector<std::vector<int>>& chunks);
// The actions of a plan, by instances of the stage.
struct PlacedPlan {
  struct PlacedAction {
    SyncAction action;  // without its parts
    MeshAxes axes;
    int first = 0;  // first parameter of the action
    // Instances that hold parameters of the action, each once.
    std::vector<size_t> holders;
    // holders, and the instances of modules that reuse the action's parameters.
    std::vector<size_t> readers;
  };
  struct Place {
    std::vector<size_t> before_forward, before_backward, after_gradient;  // indices into actions
  };
  std::vector<PlacedAction> actions;  // in order of issue within a microbatch
  std::vector<Place> places;
};
PlacedPlan place_plan(const SyncBasis& basis, StagePlan plan);
// Totals of a plan's collectives by group of the input, kind (sync_kinds(policy)) and occurrence. The totals
// do not depend on the number of microbatches.
struct PlanTotals {
  using ByOccurrence = std::array<int64_t, kSyncOccurrences>;
  struct Kind {
    ByOccurrence count{}, elements{};
  };
  struct Group {
    std::vector<Kind> kinds;
    // Elements that a rank owns once gradients are reduced.
    int64_t owned = 0;
    int64_t frozen = 0;  // elements of frozen parameters that a rank stores
    // reduces: the group has ranks to reduce over. crosses: shards are replicated across groups. sums: there
    // are replicas in or across groups.
    bool reduces = false, crosses = false, sums = false;
  };
  std::vector<Group> groups;
  int64_t gathered = 0;  // as SyncPlan::gathered
};
PlanTotals plan_totals(const Structure& structure, const StagePlan& plan);
// Sets the symbols of bind_sync that come from the planner. Call it where needs_plan.
void bind_plan(Binding& binding, const Structure& structure, const ParallelSpec& parallel,
               const PlanTotals& totals);
// Whether sizes on a stage depend on its sync plan: buckets, DeepSpeed's flat buffers, buffers per virtual
// stage or per type of parameters.
bool needs_plan(const Structure& structure);

// Sets the symbols that only the planner or the schedule determines; the binding already has the stage's
// other symbols. Suffix "" for the first group (dense), "x" for the next one: Pb elements in nb reductions,
// Pa in na reductions of shards across groups, Pgf in ngf gathers of the forward, Pgb in ngb gathers of the
// backward, Pgu in ngu gathers of updated parameters, Pgq in ngq of those that are stored quantized; Po owned
// elements; Pz those of frozen parameters. ZeRO-3: Pg elements gathered at the same time. Zb: DeepSpeed's
// reduce bucket.
// Returns the Problem of the stage's plan.
std::optional<Problem> bind_sync(Binding& binding, const Graph& graph, const ParallelSpec& parallel,
                                 ModelStart first, bool last, const std::vector<std::vector<int>>& chunks);

// Groups of the all-reduces of one number: the gradient norm (one per group), and the loss of every
// microbatch (on the last stage). Empty if the design has no such all-reduce, or if the group has one rank.
std::vector<MeshAxes> norm_groups(const Graph& graph);
MeshAxes loss_group(const Graph& graph);

}  // namespace shardscape
