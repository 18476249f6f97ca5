// Where in a step the collectives of a stage's gradient sync stand, whatever they are made into: gathers before the segments that read the
// parameters and one unit ahead, reductions behind those that make the gradients, root units around the instances of their chunk, the
// acts of a plan at their places. The play and the trace make nodes of them.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "cost/sync_model.h"

namespace shardscape {

class SyncWalk {
 public:
  using Mark = int64_t;        // what a gather has become; 0: nothing
  enum class Turn : uint8_t { Forward, Backward, BehindReplay };  // BehindReplay: the second gather of a microbatch's backward
  static constexpr size_t kRoot = std::numeric_limits<size_t>::max();

  // Units are indices into StageSync::units, instances are numbered as they were added. microbatch: -1 once a step.
  class Maker {
   public:
    virtual ~Maker() = default;
    // Of an instance's units, or of a root's (kRoot). ahead: of the instance after the one that is entered.
    virtual Mark gather(const std::vector<size_t>& units, Turn turn, int microbatch, size_t instance, bool ahead) = 0;
    // The gradients are those of the instances.
    virtual void scatter(const std::vector<size_t>& units, int microbatch, const std::vector<size_t>& instances) = 0;
    // An act of the plan; 0 unless it is a gather.
    virtual Mark run(const PlacedPlan::Act& act, size_t index, int microbatch) = 0;
    virtual void average_loss(int microbatch) = 0;
  };

  // microbatches: that the stage sees. graph, sync and maker outlive this.
  SyncWalk(const Graph& graph, const StageSync& sync, int microbatches, Maker& maker);
  // Of another stage with the same instances and plan.
  SyncWalk(const SyncWalk& like, Maker& maker);
  SyncWalk(const SyncWalk&) = delete;
  SyncWalk& operator=(const SyncWalk&) = delete;

  // The segments of the stage in order of execution, chunk by chunk.
  void add_instance(int segment, bool layer, int chunk);
  // Once all instances are known. Null where nothing is planned.
  void plan(std::shared_ptr<const PlacedPlan> plan);
  const std::vector<PlacedPlan::Act>& acts() const;

  // Before an instance runs: gathers its parameters where they are not whole, and those of the next one ahead. Returns what it waits for.
  Mark enter(int microbatch, size_t instance, bool backward);
  void leave(int microbatch, size_t instance, bool backward);
  // The same where layers of a group are made again in its backward.
  Mark enter_replay(int microbatch, size_t instance);
  void leave_replay(size_t instance);
  void reduce();                              // what follows the last backward
  void run(size_t act, int microbatch);
  void run_all(SyncWhen when);                // once a step
  void skip_to(int chunk, bool last);         // the next backward of the chunk is the last one, or one before it

  // FSDP: which units are whole, those of instances and then those of roots.
  using Units = std::vector<bool>;
  Units units() const;
  void resume(const Units& whole);            // once all gathers have ended
  void forget_backwards();                    // none has run
  struct State;
  State state() const;
  void restore(State state);

 private:
  struct Instance {
    int segment = 0, chunk = 0;
    std::vector<size_t> units;  // of its own; none where it is in a root
    int root = -1;              // FSDP: its parameters are in this root unit, that of its chunk
  };
  // A root unit, whichever instances of its chunk it is in: these are a range.
  struct Root {
    int segment = -1;           // as SyncUnit::segment
    std::vector<size_t> units;
    size_t begin = 0, end = 0;
  };
  // What stages that are alike share.
  struct Layout {
    std::vector<Instance> instances;
    std::vector<Root> roots;
  };
  // Of an instance, or of a root.
  struct Progress {
    int backwards = 0;          // microbatches whose backward of it has ended
    int again = -1;             // the latest microbatch that it was gathered for in the backward
    bool gathered = false;
    Mark gather = 0;            // the latest
    Mark params = 0;            // act of the plan that its parameters came with
  };
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  const Instance& instance_at(size_t i) const { return layout_->instances[i]; }
  size_t root_around(size_t instance) const;  // kNone: there is none
  std::vector<size_t> root_parts() const;
  UnitFreed freed(const std::vector<size_t>& units) const;
  bool ends_with_chunk(const Root& root) const;
  void free_forward(size_t instance);
  size_t next_unit(size_t instance, bool backward) const;
  void gather(Progress& at, const std::vector<size_t>& units, int microbatch, size_t instance, bool backward, bool ahead = false);
  const PlacedPlan::Place* place_of(size_t instance) const { return plan_ && instance < plan_->places.size() ? &plan_->places[instance] : nullptr; }

  const StageSync& sync_;
  const int microbatches_, head_;
  const bool every_microbatch_, averages_loss_;
  // FSDP2 in a pipeline: the units of a chunk are reduced, and freed, when its last backward is through, its root first
  // (torch.distributed.pipelining, stage.py: all backwards run with set_requires_gradient_sync(False), _post_backward comes behind them).
  const bool once_through_;
  Maker& maker_;
  std::shared_ptr<Layout> layout_;            // stays as it is once it is planned
  std::shared_ptr<const PlacedPlan> plan_;    // of all policies but FSDP
  std::vector<Progress> progress_, roots_;    // by instance, by root
};

// What a walk changes as it goes.
struct SyncWalk::State {
  std::vector<Progress> progress, roots;
};

}  // namespace shardscape
