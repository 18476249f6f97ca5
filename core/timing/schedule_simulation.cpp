#include "timing/schedule_simulation.h"

#include <stdexcept>

namespace shardscape {
namespace {

// Messages in one direction, by receiving virtual stage and microbatch.
class Messages {
 public:
  Messages(int virtual_stages, int microbatches)
      : microbatches_(static_cast<size_t>(microbatches)),
        nodes_(static_cast<size_t>(virtual_stages) * microbatches_, kMissing) {}
  static constexpr NodeId kMissing = -2;
  NodeId& at(int virtual_stage, int microbatch) {
    return nodes_[static_cast<size_t>(virtual_stage) * microbatches_ + static_cast<size_t>(microbatch)];
  }

 private:
  size_t microbatches_;
  std::vector<NodeId> nodes_;
};

class ScheduleSimulator {
 public:
  ScheduleSimulator(const Schedule& schedule, ScheduleWork& work, Timeline& timeline)
      : schedule_(schedule),
        places_(schedule.places()),
        work_(work),
        timeline_(timeline),
        forward_(schedule.stages * schedule.chunks, schedule.microbatches),
        backward_(schedule.stages * schedule.chunks, schedule.microbatches),
        next_(schedule.actions.size(), 0),
        made_(schedule.actions.size(), kNoNode) {}

  void run(const std::stop_token& stop) {
    for (bool all = false; !all;) {
      all = true;
      bool moved = false;
      for (int stage = 0; stage < schedule_.stages; ++stage) {
        moved = advance(stage, stop) || moved;
        if (stop.stop_requested()) return;
        all = all &&
              next_[static_cast<size_t>(stage)] == schedule_.actions[static_cast<size_t>(stage)].size();
      }
      if (!all && !moved) throw std::logic_error("the schedule deadlocks");
    }
  }

 private:
  // Runs the actions of a stage until a message is missing.
  bool advance(int stage, const std::stop_token& stop) {
    constexpr size_t kStopCheckInterval = 1024;  // actions between two checks of the stop token; an action
                                                 // may have many layers
    const std::vector<Action>& actions = schedule_.actions[static_cast<size_t>(stage)];
    size_t& next = next_[static_cast<size_t>(stage)];
    const size_t begin = next;
    for (; next < actions.size(); ++next) {
      if (next % kStopCheckInterval == 0 && stop.stop_requested()) break;
      const Action& action = actions[next];
      if (action.overlapped && action.kind == ActionKind::Forward)
        work_.overlap(stage, action, actions.at(next + 1));
      if (!simulate(stage, action)) break;
    }
    return next > begin;
  }

  bool simulate(int stage, const Action& action) {
    const StagePlace place{stage, action.chunk};
    const int here = static_cast<int>(places_.virtual_stage(place));
    NodeId& made = made_[static_cast<size_t>(stage)];
    switch (action.kind) {
      case ActionKind::ReceiveForward: return has_arrived(forward_.at(here, action.microbatch));
      case ActionKind::ReceiveBackward: return has_arrived(backward_.at(here, action.microbatch));
      case ActionKind::SendForward:
        forward_.at(here + 1, action.microbatch) = work_.send(timeline_, stage, action, *places_.after(place),
                                                              made);
        return true;
      case ActionKind::SendBackward:
        backward_.at(here - 1, action.microbatch) = work_.send(timeline_, stage, action,
                                                               *places_.before(place), made);
        return true;
      case ActionKind::Forward:
        made = work_.compute(timeline_, stage, action, arrived(forward_.at(here, action.microbatch)));
        return true;
      case ActionKind::Backward:
      case ActionKind::BackwardInput:
        made = work_.compute(timeline_, stage, action, arrived(backward_.at(here, action.microbatch)));
        return true;
      case ActionKind::BackwardWeight:
      case ActionKind::GradReduce:
      case ActionKind::Optimizer: work_.compute(timeline_, stage, action, kNoNode); return true;
    }
    return true;
  }

  static NodeId arrived(NodeId message) { return message == Messages::kMissing ? kNoNode : message; }

  static bool has_arrived(NodeId message) { return message != Messages::kMissing; }

  const Schedule& schedule_;
  const PipelineLayout places_;
  ScheduleWork& work_;
  Timeline& timeline_;
  Messages forward_, backward_;
  std::vector<size_t> next_;  // next action of each stage
  std::vector<NodeId> made_;  // last node of the latest action of each stage
};

class FixedDurationWork : public ScheduleWork {
 public:
  explicit FixedDurationWork(const ActionSeconds& seconds) : seconds_(seconds) {}
  NodeId compute(Timeline& timeline, int stage, const Action& action, NodeId arrived) override {
    Node node;
    node.stage = stage;
    node.microbatch = action.microbatch;
    node.chunk = action.chunk;
    const auto add = [&](SpanKind kind, double seconds) {
      node.kind = kind;
      return timeline.add(node, seconds, {arrived});
    };
    switch (action.kind) {
      case ActionKind::Forward: return add(SpanKind::Forward, seconds_.forward);
      case ActionKind::Backward:
        return add(SpanKind::Backward, seconds_.backward_input + seconds_.backward_weight);
      case ActionKind::BackwardInput: return add(SpanKind::BackwardInput, seconds_.backward_input);
      case ActionKind::BackwardWeight: return add(SpanKind::BackwardWeight, seconds_.backward_weight);
      case ActionKind::ReceiveForward:
      case ActionKind::SendForward:
      case ActionKind::ReceiveBackward:
      case ActionKind::SendBackward:
      case ActionKind::GradReduce:
      case ActionKind::Optimizer: return kNoNode;
    }
    return kNoNode;
  }
  double message(int, int) const override { return seconds_.message; }

 private:
  ActionSeconds seconds_;
};

}  // namespace

NodeId ScheduleWork::send(Timeline& timeline, int stage, const Action& action, StagePlace to, NodeId made) {
  Node node;
  node.stage = stage;
  node.stream = StreamKind::PipelineComm;
  node.kind = SpanKind::Send;
  node.category = TimeCategory::PipelineComm;
  node.microbatch = action.microbatch;
  node.chunk = action.chunk;
  node.peer = static_cast<int32_t>(to.stage);
  node.peer_chunk = static_cast<int32_t>(to.chunk);
  return timeline.add(node, message(stage, node.peer), {made});
}

void simulate_schedule(const Schedule& schedule, ScheduleWork& work, Timeline& timeline,
                       const std::stop_token& stop) {
  ScheduleSimulator(schedule, work, timeline).run(stop);
}

Simulation simulate_schedule(const Schedule& schedule, const ActionSeconds& seconds) {
  FixedDurationWork work(seconds);
  Timeline timeline(schedule.stages);
  simulate_schedule(schedule, work, timeline);
  Simulation out;
  timeline.finish(out);
  return out;
}

}  // namespace shardscape
