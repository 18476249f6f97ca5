// The step of a report: what the actions of its schedule do on the streams of every stage, layer by layer.
#pragma once

#include <algorithm>

#include "pipeline/schedule.h"
#include "plan/stage_program.h"
#include "timing/layer_seconds.h"
#include "timing/schedule_simulation.h"
#include "timing/steady_state/action_transfer.h"
#include "timing/sync_simulator.h"

namespace shardscape {

// The layers of an action run one after the other: on the compute stream, and on the host that launches them.
struct ActionDuration {
  double seconds = 0;        // where the host keeps ahead
  double behind_launch = 0;  // where it does not: until the end, from when the host begins to launch
  double host = 0;
  double exposed = 0;  // communication in it that nothing hides
};

class StepSimulator final : public ScheduleWork {
 public:
  StepSimulator(const Report& report, const Machine& machine, LayerTable& table, Timeline& timeline);
  NodeId compute(Timeline& timeline, int stage, const Action& action, NodeId arrived) override;
  void overlap(int stage, const Action& forward, const Action& backward) override;
  double message(int from, int to) const override {
    return messages_[static_cast<size_t>(from - to == 1 ? to : to - from == 1 ? from : std::max(from, to))];
  }
  void finish();  // of the step, once all actions are played

  // The parts of layers that are played from here on, as they come.
  struct LayerNode {
    NodeId node;
    size_t instance;
    Part part;
    OverlapFactors beside;
  };
  void note_layers(std::vector<LayerNode>& into) { noted_ = &into; }

  // For those who play microbatches that are alike as stretches. Whether all but the first and the last of a
  // chunk are: nothing but FSDP's units is gathered or reduced beside their layers, or goes to the host, and
  // no action depends on the one beside it.
  bool microbatches_repeat() const;
  ActionDuration stretch(int stage, const Action& action) const;
  // Of a microbatch before the last, where there are units. message: whether it waits for one. units: which
  // ones are whole before it; set to those that are after it.
  bool gathers_units() const;
  ActionTransfer action_transfer(int stage, const Action& action, bool message, SyncSimulator::Units& units);
  SyncSimulator& sync(int stage) { return *stages_[static_cast<size_t>(stage)].sync; }
  double gather_seconds() const { return gather_seconds_; }  // of a message that was split, before its action
  bool gathers_ahead(int stage) const {
    return stages_[static_cast<size_t>(stage)].sync->gathers_ahead();
  }  // the first forwards wait
  // Whether gradient sync hears of the last forward, or of the last backward, of this chunk.
  bool ends(int stage, int chunk, bool backward) const;

 private:
  // The program of a stage class, and the seconds of its instances.
  struct TimedProgram {
    StageProgram program;
    std::vector<const LayerSeconds*> seconds;
  };
  struct Stage {
    const TimedProgram& timed;  // shared by the stages of a class
    std::unique_ptr<SyncSimulator> sync;
    std::vector<NodeId> stored;  // by microbatch and instance; empty where nothing is offloaded
    std::vector<NodeId> loaded;  // by instance, of the backward at hand; kNoNode: not yet
    OverlapFactors beside{};     // of the overlapped actions at hand
    const PartSeconds& seconds(const Event& event) const {
      return timed.seconds[event.instance]->of(event.part);
    }
  };
  struct At {
    Timeline& timeline;
    Stage& stage;
    int number;
    const Action& action;
  };
  NodeId run_pass(At at, NodeId arrived, SpanKind kind);
  NodeId run(At at, const Event& event, SpanKind kind, std::initializer_list<NodeId> after);
  void load(At at, size_t instance);
  void store(At at, size_t instance, NodeId after);
  NodeId& stored(At at, size_t instance) const;
  NodeId gather_message(At at, SpanKind kind, NodeId arrived);
  const PartSeconds& slowed_part(const PartSeconds& part, const OverlapFactors& beside);
  double slowdown_by_collectives(const PartSeconds& computed, double communication, int64_t taken) const;
  PartSeconds seconds_of(const Stage& stage, const Action& action) const;
  Node node(At at, SpanKind kind, StreamKind stream) const;

  const Report& report_;
  const Machine& machine_;
  SyncCosts costs_;
  Timeline& timeline_;
  std::map<int, TimedProgram> programs_;  // by StageReport::like
  std::vector<Stage> stages_;
  std::vector<double>
      messages_;  // of each stage to and from the next one, of the last one to and from the first
  std::map<std::pair<const PartSeconds*, OverlapFactors>, PartSeconds> beside_;
  std::vector<LayerNode>* noted_ = nullptr;
  std::vector<NodeId> waits_;  // of an action that is made into a stretch
  double gather_seconds_ = 0;  // of a message that was scattered over tp
};

}  // namespace shardscape
