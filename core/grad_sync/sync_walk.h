// Decides, while a stage runs its step, which gradient-sync collectives start at each Gather and Release
// event of the stage program (plan/stage_program.h).
// - A unit is gathered before the segment that reads its parameters, and the next unit is prefetched.
// - Gradients are reduced after the segments that compute them.
// - A root unit is gathered before the first instance of its chunk and reduced after the last one.
// - Actions of a plan run at their planned places.
// The step simulation and the trace lowering turn the collectives into nodes, each through its own Maker.
//
// The answer depends on the passes before the event: a unit that is still gathered is not gathered again, and
// only the last backward reduces. The events of a pass are equal for all microbatches, so they cannot hold
// the answer. The order of a stage's actions decides it, and this class keeps the state between them.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "grad_sync/sync_model.h"
#include "pipeline/layer_instances.h"
#include "pipeline/pass_order.h"

namespace shardscape {

class SyncWalk {
 public:
  // A Maker's handle of a gather, such as a node number; 0: none.
  using Handle = int64_t;
  // The pass that a gather serves. BackwardAfterReplay: the replay has gathered and freed the unit, and the
  // backward of the same microbatch gathers it a second time.
  enum class GatherPurpose : uint8_t { Forward, Backward, BackwardAfterReplay };
  static constexpr size_t kRoot = std::numeric_limits<size_t>::max();

  // Creates the collectives. units: indices into StageSync::units. instance: index into
  // StageLayout::instances. microbatch: -1 if the collective occurs once a step.
  class Maker {
   public:
    virtual ~Maker() = default;
    // Gathers the units of an instance, or of a root (kRoot). ahead: a prefetch for the next instance.
    virtual Handle gather(const std::vector<size_t>& units, GatherPurpose purpose, int microbatch,
                          size_t instance, bool ahead) = 0;
    // Reduces the gradients of these instances. crosses: also the shards across groups of replicas.
    virtual void scatter(const std::vector<size_t>& units, int microbatch,
                         const std::vector<size_t>& instances, bool crosses) = 0;
    // Issues an action of the plan. Returns 0 unless the action is a gather.
    virtual Handle run(const PlacedPlan::PlacedAction& placed, size_t index, int microbatch) = 0;
    virtual void average_loss(int microbatch) = 0;
  };

  // microbatches: number that the stage runs. graph, sync and maker must outlive this object.
  SyncWalk(const Graph& graph, const StageSync& sync, int microbatches, Maker& maker);
  // For another stage with the same instances and plan.
  SyncWalk(const SyncWalk& representative, Maker& maker);
  SyncWalk(const SyncWalk&) = delete;
  SyncWalk& operator=(const SyncWalk&) = delete;

  // Sets the instances of the stage and the plan of its sync (null: none). Call it before anything else.
  void plan(const StageLayout& layout, std::shared_ptr<const PlacedPlan> plan);
  const std::vector<PlacedPlan::PlacedAction>& actions() const;

  // At the Gather event of an instance. Gathers the instance's parameters unless they are gathered, and
  // prefetches the parameters of the next instance. Returns the gather that the instance waits for.
  Handle enter(int microbatch, size_t instance, bool backward);
  // At the Release event of an instance. Frees parameters and starts the reductions that are due.
  void leave(int microbatch, size_t instance, bool backward);
  // The same for a layer that is recomputed in the backward of its group.
  Handle enter_replay(int microbatch, size_t instance);
  void leave_replay(size_t instance);
  // After the last backward: reductions of roots, and actions AfterBackward.
  void reduce();
  void run(size_t action, int microbatch);
  void run_all(SyncWhen when);  // every action with this `when`, once a step
  // Skips microbatches: the next backward of the chunk is its last one (last), or the one before its last.
  void skip_to(int chunk, bool last);

  // FSDP: which units are gathered, by instance, then by root.
  using Units = std::vector<bool>;
  Units units() const;
  void resume(const Units& gathered);  // after all gathers have ended
  void reset_backwards();              // resets the count of backwards
  struct State;
  State state() const;
  void restore(State state);

 private:
  struct Instance {
    int segment = 0, chunk = 0;
    std::vector<size_t> units;  // units of this instance; empty if a root holds its parameters
    // FSDP: the root unit of its chunk that holds its parameters; -1: none.
    int root = -1;
  };
  // A root unit and the chunk that holds it; -1: the chunk is on another stage.
  struct Root {
    int segment = -1;  // as SyncUnit::segment
    std::vector<size_t> units;
    int chunk = -1;
  };
  // Shared by stages with the same layout.
  struct Layout {
    std::vector<Instance> instances;
    std::vector<StageRange> chunks;
    std::vector<Root> roots;
  };
  // State of an instance, or of a root.
  struct Progress {
    int backwards = 0;  // microbatches whose backward has ended
    // Latest microbatch for whose backward the unit was gathered.
    int backward_microbatch = -1;
    bool gathered = false;
    Handle gather = 0;  // latest gather
    Handle params = 0;  // planned action that gathered the parameters
  };
  void add_instance(const StageInstance& instance, int chunk);
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  const Instance& instance_at(size_t i) const { return layout_->instances[i]; }
  const StageRange& range_of(int chunk) const { return layout_->chunks[static_cast<size_t>(chunk)]; }
  // The pass that runs the instance.
  PassOrder pass_of(size_t instance, bool backward) const;
  size_t root_around(size_t instance) const;  // kNone: no root
  std::vector<size_t> root_parts() const;
  UnitFreed freed(const std::vector<size_t>& units) const;
  bool ends_with_chunk(const Root& root) const;
  void free_forward(size_t instance);
  size_t next_unit(size_t instance, bool backward) const;
  void gather(Progress& at, const std::vector<size_t>& units, int microbatch, size_t instance, bool backward,
              bool ahead = false);
  const PlacedPlan::Place* place_of(size_t instance) const {
    return plan_ && instance < plan_->places.size() ? &plan_->places[instance] : nullptr;
  }

  const StageSync& sync_;
  const int microbatches_, head_;
  const bool every_microbatch_, averages_loss_;
  // FSDP2 in a pipeline: the units of a chunk are reduced and freed after its last backward, its root first
  // (torch.distributed.pipelining, stage.py: all backwards run with set_requires_gradient_sync(False);
  // _post_backward follows them).
  const bool reduces_with_chunk_;
  Maker& maker_;
  std::shared_ptr<Layout> layout_;          // unchanged once planned
  std::shared_ptr<const PlacedPlan> plan_;  // every policy except FSDP
  std::vector<Progress> progress_, roots_;  // by instance, by root
};

// The part of a walk that changes while the step runs.
struct SyncWalk::State {
  std::vector<Progress> progress, roots;
};

}  // namespace shardscape
