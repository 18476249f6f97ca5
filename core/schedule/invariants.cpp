// What every schedule must keep, whatever made it.
#include <algorithm>
#include <array>
#include <set>

#include "schedule/schedule.h"

namespace shardscape {
namespace {

constexpr int kKinds = static_cast<int>(ActionKind::Optimizer) + 1;

std::string name(const Action& action) {
  std::string text(action_name(action.kind));
  if (action.microbatch >= 0) text += " " + std::to_string(action.microbatch);
  return text;
}

bool once_a_step(ActionKind kind) { return kind == ActionKind::GradReduce || kind == ActionKind::Optimizer; }

// Which transfers a stage has follows from its neighbours.
bool belongs(ActionKind kind, int stage, int stages) {
  switch (kind) {
    case ActionKind::ReceiveForward:
    case ActionKind::SendBackward: return stage > 0;
    case ActionKind::SendForward:
    case ActionKind::ReceiveBackward: return stage + 1 < stages;
    default: return true;
  }
}

class Checker {
 public:
  explicit Checker(const Schedule& schedule) : schedule_(schedule) {}

  std::vector<std::string> run() {
    if (schedule_.stages < 1 || schedule_.microbatches < 1) return {"a schedule needs a stage and a microbatch"};
    if (schedule_.actions.size() != static_cast<size_t>(schedule_.stages)) {
      return {"actions are given for " + std::to_string(schedule_.actions.size()) + " stages, not for " +
              std::to_string(schedule_.stages)};
    }
    for (int stage = 0; stage < schedule_.stages; ++stage) check_stage(stage);
    for (int stage = 0; stage + 1 < schedule_.stages; ++stage) {
      check_pairs(stage, ActionKind::SendForward, stage + 1, ActionKind::ReceiveForward);
      check_pairs(stage + 1, ActionKind::SendBackward, stage, ActionKind::ReceiveBackward);
    }
    play();
    return std::move(found_);
  }

 private:
  using Positions = std::array<std::vector<int>, kKinds>;  // of each microbatch's action, -1 when missing

  const std::vector<Action>& actions(int stage) const { return schedule_.actions[static_cast<size_t>(stage)]; }
  void report(int stage, const std::string& text) { found_.push_back("stage " + std::to_string(stage) + ": " + text); }

  void check_stage(int stage) {
    Positions positions;
    for (int kind = 0; kind < kKinds; ++kind) {
      const bool single = once_a_step(static_cast<ActionKind>(kind));
      positions[static_cast<size_t>(kind)].assign(single ? 1 : static_cast<size_t>(schedule_.microbatches), -1);
    }
    for (size_t i = 0; i < actions(stage).size(); ++i) place(stage, static_cast<int>(i), positions);
    for (int kind = 0; kind < kKinds; ++kind) {
      if (!belongs(static_cast<ActionKind>(kind), stage, schedule_.stages)) continue;
      const std::vector<int>& places = positions[static_cast<size_t>(kind)];
      for (size_t i = 0; i < places.size(); ++i) {
        if (places[i] >= 0) continue;
        const int microbatch = once_a_step(static_cast<ActionKind>(kind)) ? -1 : static_cast<int>(i);
        report(stage, name({static_cast<ActionKind>(kind), microbatch}) + " is missing");
      }
    }
    check_order(stage, positions);
  }

  void place(int stage, int at, Positions& positions) {
    const Action& action = actions(stage)[static_cast<size_t>(at)];
    const size_t kind = static_cast<size_t>(action.kind);
    const bool single = once_a_step(action.kind);
    if (!belongs(action.kind, stage, schedule_.stages)) {
      report(stage, name(action) + " has no stage on the other end");
    } else if (single ? action.microbatch != -1 : action.microbatch < 0 || action.microbatch >= schedule_.microbatches) {
      report(stage, std::string(action_name(action.kind)) + " names microbatch " + std::to_string(action.microbatch));
    } else if (int& place = positions[kind][single ? 0 : static_cast<size_t>(action.microbatch)]; place >= 0) {
      report(stage, name(action) + " is there twice");
    } else {
      place = at;
    }
  }

  void check_order(int stage, const Positions& positions) {
    const auto at = [&](ActionKind kind, int microbatch) {
      return positions[static_cast<size_t>(kind)][static_cast<size_t>(microbatch)];
    };
    const auto after = [&](ActionKind later, int m_later, ActionKind earlier, int m_earlier) {
      const int a = at(later, std::max(0, m_later)), b = at(earlier, std::max(0, m_earlier));
      if (a >= 0 && b >= 0 && a < b) report(stage, name({later, m_later}) + " comes before " + name({earlier, m_earlier}));
    };
    for (int i = 0; i < schedule_.microbatches; ++i) {
      after(ActionKind::Forward, i, ActionKind::ReceiveForward, i);
      after(ActionKind::SendForward, i, ActionKind::Forward, i);
      after(ActionKind::Backward, i, ActionKind::Forward, i);
      after(ActionKind::Backward, i, ActionKind::ReceiveBackward, i);
      after(ActionKind::SendBackward, i, ActionKind::Backward, i);
      after(ActionKind::GradReduce, -1, ActionKind::Backward, i);
    }
    after(ActionKind::Optimizer, -1, ActionKind::GradReduce, -1);
  }

  std::vector<int> microbatches_of(int stage, ActionKind kind) const {
    std::vector<int> order;
    for (const Action& action : actions(stage)) {
      if (action.kind == kind) order.push_back(action.microbatch);
    }
    return order;
  }

  // Messages between two stages carry no address but their order.
  void check_pairs(int from, ActionKind send, int to, ActionKind receive) {
    const std::vector<int> sent = microbatches_of(from, send), received = microbatches_of(to, receive);
    const size_t both = std::min(sent.size(), received.size());
    for (size_t i = 0; i < both; ++i) {
      if (sent[i] == received[i]) continue;
      report(to, name({receive, received[i]}) + " meets " + name({send, sent[i]}) + " of stage " + std::to_string(from));
      return;
    }
    if (sent.size() != received.size()) {
      report(to, std::to_string(received.size()) + " times " + std::string(action_name(receive)) + " for " +
                     std::to_string(sent.size()) + " times " + std::string(action_name(send)) + " of stage " +
                     std::to_string(from));
    }
  }

  // Every stage in order; a receive waits until its message was sent, a send never waits.
  void play() {
    std::vector<size_t> next(schedule_.actions.size(), 0);
    std::vector<std::set<int>> forward(schedule_.actions.size()), backward(schedule_.actions.size());
    std::vector<int> ready;
    for (int stage = schedule_.stages - 1; stage >= 0; --stage) ready.push_back(stage);
    while (!ready.empty()) {
      const int stage = ready.back();
      ready.pop_back();
      for (size_t& at = next[static_cast<size_t>(stage)]; at < actions(stage).size(); ++at) {
        const Action& action = actions(stage)[at];
        const size_t here = static_cast<size_t>(stage);
        if (!belongs(action.kind, stage, schedule_.stages)) continue;  // reported above
        if (action.kind == ActionKind::ReceiveForward && forward[here].erase(action.microbatch) == 0) break;
        if (action.kind == ActionKind::ReceiveBackward && backward[here].erase(action.microbatch) == 0) break;
        if (action.kind == ActionKind::SendForward && forward[here + 1].insert(action.microbatch).second) {
          ready.push_back(stage + 1);
        }
        if (action.kind == ActionKind::SendBackward && backward[here - 1].insert(action.microbatch).second) {
          ready.push_back(stage - 1);
        }
      }
    }
    for (int stage = 0; stage < schedule_.stages; ++stage) {
      const size_t at = next[static_cast<size_t>(stage)];
      if (at < actions(stage).size()) report(stage, "waits for ever at " + name(actions(stage)[at]));
    }
  }

  const Schedule& schedule_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> violations(const Schedule& schedule) { return Checker(schedule).run(); }

}  // namespace shardscape
