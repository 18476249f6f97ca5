// Simulates the step of a report: the actions of its schedule on the streams of every stage, layer by layer.
#pragma once

#include <algorithm>

#include "pipeline/schedule.h"
#include "plan/stage_program.h"
#include "timing/layer_seconds.h"
#include "timing/paired_passes.h"
#include "timing/schedule_simulation.h"
#include "timing/steady_state/action_transfer.h"
#include "timing/sync_simulator.h"

namespace shardscape {

// Duration of an action whose layers run one after the other. They need the compute stream, and the host to
// launch them (`host`: seconds of launches).
struct ActionDuration {
  double seconds = 0;        // on the compute stream, if the host keeps ahead
  double behind_launch = 0;  // from the host's first launch to the end, if the host limits
  double host = 0;
  double exposed = 0;  // communication that nothing hides
};

class StepSimulator final : public ScheduleWork {
 public:
  // microbatches: number of the simulated schedule, which may be shorter than the report's step.
  StepSimulator(const Report& report, int64_t microbatches, const Machine& machine, LayerTable& table,
                Timeline& timeline);
  NodeId compute(Timeline& timeline, int stage, const Action& action, NodeId arrived) override;
  void overlap(int stage, const Action& forward, const Action& backward) override;
  double message(int from, int to) const override {
    // No gradient returns to a frozen tower.
    if (from == 1 && to == 0 && structure().vision_stage && structure().frozen_tower) return 0;
    return messages_[between(from, to)].seconds;
  }
  void finish();  // call after all actions

  // One part of a layer on the timeline.
  struct LayerNode {
    NodeId node;
    size_t instance;  // index into StageLayout::instances
    Part part;
    OverlapSlowdown overlap;
  };
  // Appends every layer part that is simulated from now on.
  void record_layers(std::vector<LayerNode>& into) { recorded_layers_ = &into; }

  // For the steady-state simulation. True if all microbatches except the first and the last of a chunk take
  // equal time: no collectives except those of FSDP units and no offloading run concurrently with their
  // layers. Overlapped actions then depend only on their pair.
  bool microbatches_repeat() const;
  // Of an overlapped action: in the pair of the last call of overlap() for this stage.
  ActionDuration action_duration(int stage, const Action& action);
  bool has_fsdp_units() const;
  // For designs with FSDP units: the transfer of an action of a microbatch before the last one. message:
  // whether the action waits for a message. units: in: the units that are gathered before the action; out:
  // those that are gathered after it.
  ActionTransfer action_transfer(int stage, const Action& action, bool message, SyncSimulator::Units& units);
  // The first stage whose actions take the same time: of the same class (StageReport::representative), and
  // its messages take the same share of the links.
  int equal_stage(int stage) const { return equal_stages_[static_cast<size_t>(stage)]; }
  SyncSimulator& sync(int stage) { return *stages_[static_cast<size_t>(stage)].sync; }
  // Whether the host waits for the end of a pass before it launches the next one (KernelProfile).
  bool host_waits_for_passes() const { return host_waits_for_passes_; }
  // Of a message that was scattered over tp, before a forward or a backward of the stage that receives it.
  double gather_seconds(int stage, bool forward) const {
    const Stage& of = stages_[static_cast<size_t>(stage)];
    return forward ? of.gather_forward : of.gather_backward;
  }
  // Whether the first forwards wait for the all-gathers of parameters that the previous step updated.
  bool overlaps_param_gather(int stage) const {
    return stages_[static_cast<size_t>(stage)].sync->overlaps_param_gather();
  }
  // Whether the last forward or the last backward of this chunk starts collectives of data parallelism.
  bool last_pass_has_sync(int stage, int chunk, bool backward) const;

 private:
  // The program of a stage class, and the seconds of its instances.
  struct TimedProgram {
    StageProgram program;
    std::vector<const LayerSeconds*> seconds;
  };
  struct Stage {
    const TimedProgram& timed;  // shared by the stages of a class
    std::unique_ptr<SyncSimulator> sync;
    std::vector<NodeId> stored;                      // by microbatch and instance; empty without offloading
    OverlapSlowdown overlap{};                       // of the current pair of overlapped actions
    double gather_forward = 0, gather_backward = 0;  // seconds before a pass that receives a message
    const PartSeconds& seconds(const Event& event) const {
      return timed.seconds[event.instance]->of(event.part);
    }
  };
  // An action that is being simulated.
  struct At {
    Timeline& timeline;
    Stage& stage;
    int number;
    const Action& action;
  };
  // A message between two stages. busy: its share of the links of the sender, times its seconds.
  struct Message {
    double seconds = 0;
    LinkShare busy{};
  };
  // Index into messages_.
  static size_t between(int from, int to) {
    return static_cast<size_t>(from - to == 1 ? to : to - from == 1 ? from : std::max(from, to));
  }
  LinkShare mean_links(int stage, const TimedProgram& timed) const;
  int first_equal(const StageReport& stage, const LinkShare& links) const;
  NodeId run_pass(At at, NodeId arrived, SpanKind kind);
  // run, store and load add a node that waits for after_. They return kNoNode if there is nothing to copy.
  NodeId run(At at, const Event& event, SpanKind kind);
  NodeId store(At at, size_t instance);
  NodeId load(At at, size_t instance);
  NodeId& stored(At at, size_t instance) const;
  // The node that a wait of the event stands for. input: the node that the pass reads from.
  NodeId node_of(At at, const Event& event, const Wait& wait, NodeId input) const;
  NodeId gather_message(At at, SpanKind kind, NodeId arrived);
  const Structure& structure() const { return report_.graph().structure; }
  // The seconds of a part of a layer under this slowdown.
  const PartSeconds& slowed_seconds(const PartSeconds& part, const OverlapSlowdown& overlap);
  double slowdown_by_collectives(const PartSeconds& computed, double communication, int64_t taken) const;
  std::vector<PairedLayer> paired_layers(const Stage& stage, const Action& action) const;
  PartSeconds seconds_of(const Stage& stage, const Action& action) const;
  Node node(At at, SpanKind kind, StreamKind stream) const;

  const Report& report_;
  const Machine& machine_;
  const bool host_waits_for_passes_;
  SyncCosts costs_;
  Timeline& timeline_;
  std::map<int, TimedProgram> programs_;  // by StageReport::representative
  std::vector<Stage> stages_;
  std::vector<int> equal_stages_;  // by stage: the first stage whose actions take the same time
  // Between each stage and the next one; last entry: between the last stage and the first.
  std::vector<Message> messages_;
  std::map<std::pair<const PartSeconds*, OverlapSlowdown>, PartSeconds> slowed_;
  std::vector<LayerNode>* recorded_layers_ = nullptr;
  std::vector<NodeId> waits_;  // dependencies recorded in a dry run
  // Of the pass that is being simulated: the node of each event so far, and the nodes that the present event
  // waits for.
  std::vector<NodeId> ended_, after_;
  double gather_seconds_ = 0;  // of a message that was scattered over tp
};

}  // namespace shardscape
