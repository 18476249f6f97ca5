// The step of a report: what the actions of its schedule do on the streams of every stage, layer by layer.
#pragma once

#include "schedule/schedule.h"
#include "simulate/layer_seconds.h"
#include "simulate/play_schedule.h"
#include "simulate/stage_layout.h"
#include "simulate/sync_play.h"

namespace shardscape {

StageLayout stage_layout(const Report& report, const StageReport& stage, LayerTable& table);  // with seconds

class StepPlay : public ScheduleWork {
 public:
  StepPlay(const Report& report, const Machine& machine, LayerTable& table, Timeline& timeline);
  NodeId compute(Timeline& timeline, int stage, const Action& action, NodeId arrived) override;
  void overlap(int stage, const Action& forward, const Action& backward) override;
  double message(int from, int to) const override;
  void finish();  // of the step, once all actions are played

 private:
  struct Stage {
    StageLayout layout;
    std::unique_ptr<SyncPlay> sync;
    std::vector<NodeId> stored;  // by microbatch and instance
    std::vector<NodeId> loaded;  // by instance, of the backward at hand; kNoNode: not yet
    // Of the overlapped actions at hand: share of the experts' communication that is not hidden, and how much longer products
    // and attention take as that keeps processors to itself.
    double exposed = 1, stretch = 1;
  };
  struct At {
    Timeline& timeline;
    Stage& stage;
    int number;
    const Action& action;
  };
  NodeId forward(At at, NodeId arrived);
  NodeId backward(At at, NodeId arrived, bool whole);
  NodeId weights(At at, size_t instance, SpanKind kind, NodeId after);
  NodeId weights(At at);
  NodeId run(At at, size_t instance, Part part, SpanKind kind, std::initializer_list<NodeId> after);
  void load(At at, size_t instance, NodeId after);
  NodeId gather_message(At at, SpanKind kind, NodeId arrived);
  const PartSeconds& beside_other(const PartSeconds& part, const Stage& stage);
  PartSeconds seconds_of(const Stage& stage, const Action& action) const;
  Node node(At at, SpanKind kind, StreamKind stream) const;

  const Report& report_;
  const Machine& machine_;
  SyncCosts costs_;
  Timeline& timeline_;
  std::vector<Stage> stages_;
  std::vector<double> messages_;  // of each stage to and from the next one, of the last one to and from the first
  std::map<std::tuple<const PartSeconds*, double, double>, PartSeconds> beside_;
  double gather_seconds_ = 0;     // of a message that was scattered over tp
};

}  // namespace shardscape
