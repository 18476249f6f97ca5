#include "support/schedule_times.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

namespace shardscape::test {
namespace {

class Player {
 public:
  Player(const Schedule& schedule, const ActionTimes& times)
      : schedule_(schedule), times_(times), places_(schedule.places()) {}

  TimedSchedule run() {
    const size_t stages = schedule_.actions.size();
    for (const auto& actions : schedule_.actions) out_.spans.emplace_back(actions.size());
    out_.busy.assign(stages, 0);
    at_.assign(stages, 0);
    now_.assign(stages, 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t stage = 0; stage < stages; ++stage)
        while (at_[stage] < schedule_.actions[stage].size() && step(stage)) {
          ++at_[stage];
          moved = true;
        }
    }
    for (size_t stage = 0; stage < stages; ++stage) {
      if (at_[stage] < schedule_.actions[stage].size())
        throw std::invalid_argument("the schedule never ends");
      double begin = -1, end = 0;
      for (size_t i = 0; i < at_[stage]; ++i) {
        if (duration(schedule_.actions[stage], i) == 0) continue;
        if (begin < 0) begin = out_.spans[stage][i].begin;
        end = out_.spans[stage][i].end;
      }
      out_.stage_time = std::max(out_.stage_time, end - std::max(begin, 0.0));
      out_.makespan = std::max(out_.makespan, end);
    }
    return std::move(out_);
  }

 private:
  using Key = std::tuple<bool, int64_t, int64_t, int>;  // is backward, virtual stage, chunk, microbatch

  double duration(const std::vector<Action>& actions, size_t i) const {
    const Action& action = actions[i];
    const double backward = times_.backward_input + times_.backward_weight;
    if (action.overlapped && times_.both >= 0) return action.kind == ActionKind::Forward ? times_.both : 0;
    switch (action.kind) {
      case ActionKind::Forward: return times_.forward;
      case ActionKind::Backward: return backward;
      case ActionKind::BackwardInput: return times_.backward_input;
      case ActionKind::BackwardWeight: return times_.backward_weight;
      default: return 0;
    }
  }

  static Key key(bool backward, StagePlace at, int microbatch) {
    return {backward, at.stage, at.chunk, microbatch};
  }

  // Sets when the input of an action from another stage arrives. False if this is still unknown.
  bool arrives(const Action& action, StagePlace here, double& when) const {
    const bool forward = action.kind == ActionKind::ReceiveForward;
    if (!forward && action.kind != ActionKind::ReceiveBackward) return true;
    const auto it = done_.find(
        key(!forward, forward ? *places_.before(here) : *places_.after(here), action.microbatch));
    if (it == done_.end()) return false;
    when = it->second + times_.message;
    return true;
  }

  bool step(size_t stage) {
    const Action& action = schedule_.actions[stage][at_[stage]];
    const StagePlace here{static_cast<int64_t>(stage), action.chunk};
    double arrival = 0;
    if (!arrives(action, here, arrival)) return false;
    const double begin = std::max(now_[stage], arrival);
    const double end = begin + duration(schedule_.actions[stage], at_[stage]);
    out_.spans[stage][at_[stage]] = {begin, end};
    out_.busy[stage] += end - begin;
    now_[stage] = end;
    if (action.kind == ActionKind::Forward) done_[key(false, here, action.microbatch)] = end;
    if (action.kind == ActionKind::Backward || action.kind == ActionKind::BackwardInput)
      done_[key(true, here, action.microbatch)] = end;
    return true;
  }

  const Schedule& schedule_;
  const ActionTimes& times_;
  const PipelineLayout places_;
  std::vector<size_t> at_;
  std::vector<double> now_;
  std::map<Key, double> done_;  // when results are ready to send
  TimedSchedule out_;
};

}  // namespace

double TimedSchedule::rate(double time) const {
  return time > 0 ? 1 - *std::max_element(busy.begin(), busy.end()) / time : 0;
}

TimedSchedule time_schedule(const Schedule& schedule, const ActionTimes& times) {
  return Player(schedule, times).run();
}

}  // namespace shardscape::test
