// The invariants of every schedule, checked on its actions alone.
#include <algorithm>
#include <array>
#include <set>

#include "pipeline/schedule.h"

namespace shardscape {
namespace {

constexpr int kKinds = static_cast<int>(ActionKind::BackwardWeight) + 1;

bool once_a_step(ActionKind kind) { return kind == ActionKind::GradReduce || kind == ActionKind::Optimizer; }
bool of_forward(ActionKind kind) {
  return kind == ActionKind::Forward || kind == ActionKind::ReceiveForward || kind == ActionKind::SendForward;
}
bool part_of_backward(ActionKind kind) {
  return kind == ActionKind::BackwardInput || kind == ActionKind::BackwardWeight;
}

class Checker {
 public:
  explicit Checker(const Schedule& schedule) : schedule_(schedule), places_(schedule.places()) {}

  std::vector<std::string> run() {
    if (schedule_.stages < 1 || schedule_.microbatches < 1)
      return {"a schedule needs a stage and a microbatch"};
    if (schedule_.actions.size() != static_cast<size_t>(schedule_.stages)) {
      return {"actions are given for " + std::to_string(schedule_.actions.size()) + " stages, not for " +
              std::to_string(schedule_.stages)};
    }
    if (schedule_.chunks < 1) return {"a stage needs a chunk"};
    for (int stage = 0; stage < schedule_.stages; ++stage) check_stage(stage);
    for (const auto& [from, to] : links()) {
      check_pairs(from, ActionKind::SendForward, to, ActionKind::ReceiveForward);
      check_pairs(to, ActionKind::SendBackward, from, ActionKind::ReceiveBackward);
    }
    run_blocking();
    return std::move(found_);
  }

 private:
  // Per kind, microbatch and chunk: index of the action; -1 if it is missing.
  using Positions = std::array<std::vector<int>, kKinds>;
  using Message = std::pair<int, int>;  // microbatch, receiving chunk

  const std::vector<Action>& actions(int stage) const {
    return schedule_.actions[static_cast<size_t>(stage)];
  }
  static StagePlace place_of(const Action& action, int stage) { return {stage, action.chunk}; }

  // Pairs of stages between which activations move forward.
  std::set<std::pair<int, int>> links() const {
    std::set<std::pair<int, int>> out;
    for (int stage = 0; stage < schedule_.stages; ++stage)
      for (int chunk = 0; chunk < schedule_.chunks; ++chunk)
        if (places_.sends({stage, chunk}))
          out.insert({stage, static_cast<int>(places_.after({stage, chunk})->stage)});
    return out;
  }

  std::string name(const Action& action) const {
    std::string text(action_name(action.kind));
    if (action.microbatch < 0) return text;
    text += " " + std::to_string(action.microbatch);
    return schedule_.chunks == 1 ? text : text + " of chunk " + std::to_string(action.chunk);
  }

  // Whether a chunk has this transfer. The two ends of the model lack one neighbour each, and neighbours on
  // the same stage send nothing.
  bool belongs(const Action& action, int stage) const {
    switch (action.kind) {
      case ActionKind::ReceiveForward:
      case ActionKind::SendBackward: return places_.receives(place_of(action, stage));
      case ActionKind::SendForward:
      case ActionKind::ReceiveBackward: return places_.sends(place_of(action, stage));
      case ActionKind::Forward:
      case ActionKind::Backward:
      case ActionKind::BackwardInput:
      case ActionKind::BackwardWeight:
      case ActionKind::GradReduce:
      case ActionKind::Optimizer: return true;
    }
    return true;
  }

  size_t index(int microbatch, int chunk) const {
    return static_cast<size_t>(chunk) * static_cast<size_t>(schedule_.microbatches) +
           static_cast<size_t>(microbatch);
  }

  void report(int stage, const std::string& text) {
    found_.push_back("stage " + std::to_string(stage) + ": " + text);
  }

  void check_stage(int stage) {
    Positions positions;
    for (int kind = 0; kind < kKinds; ++kind) {
      const bool single = once_a_step(static_cast<ActionKind>(kind));
      positions[static_cast<size_t>(kind)].assign(single ? 1 : index(0, schedule_.chunks), -1);
    }
    for (size_t i = 0; i < actions(stage).size(); ++i) place(stage, static_cast<int>(i), positions);
    for (int k = 0; k < kKinds; ++k) {
      const auto kind = static_cast<ActionKind>(k);
      const std::vector<int>& places = positions[static_cast<size_t>(k)];
      if (schedule_.forward_only && !of_forward(kind)) {
        if (std::any_of(places.begin(), places.end(), [](int at) { return at >= 0; }))
          report(stage, std::string(action_name(kind)) + " is not allowed without backwards");
        continue;
      }
      if (once_a_step(kind)) {
        if (places[0] < 0) report(stage, name({kind}) + " is missing");
        continue;
      }
      for (int chunk = 0; chunk < schedule_.chunks; ++chunk)
        for (int i = 0; i < schedule_.microbatches; ++i) {
          const Action action{kind, i, chunk};
          if (!places_.runs({stage, chunk}, i, schedule_.microbatches) || places[index(i, chunk)] >= 0 ||
              !belongs(action, stage))
            continue;
          const auto there = [&](ActionKind other) {
            return positions[static_cast<size_t>(other)][index(i, chunk)] >= 0;
          };
          const bool split = there(ActionKind::BackwardInput) || there(ActionKind::BackwardWeight);
          if (part_of_backward(kind) ? split : kind != ActionKind::Backward || !split)
            report(stage, name(action) + " is missing");
        }
    }
    check_order(stage, positions);
  }

  void place(int stage, int at, Positions& positions) {
    const Action& action = actions(stage)[static_cast<size_t>(at)];
    const bool single = once_a_step(action.kind);
    const std::string kind(action_name(action.kind));
    if (single ? action.chunk != 0 : action.chunk < 0 || action.chunk >= schedule_.chunks) {
      report(stage, kind + " names chunk " + std::to_string(action.chunk));
    } else if (!belongs(action, stage)) {
      report(stage, name(action) + " has no stage on the other end");
    } else if (single ? action.microbatch != -1
                      : action.microbatch < 0 || action.microbatch >= schedule_.microbatches) {
      report(stage, kind + " names microbatch " + std::to_string(action.microbatch));
    } else if (!single && !places_.runs(place_of(action, stage), action.microbatch, schedule_.microbatches)) {
      report(stage, name(action) + " goes the other way");
    } else if (int& place = positions[static_cast<size_t>(action.kind)]
                                     [single ? 0 : index(action.microbatch, action.chunk)];
               place >= 0) {
      report(stage, name(action) + " is there twice");
    } else {
      place = at;
    }
  }

  void check_order(int stage, const Positions& positions) {
    const auto at = [&](const Action& action) {
      return positions[static_cast<size_t>(action.kind)]
                      [once_a_step(action.kind) ? 0 : index(action.microbatch, action.chunk)];
    };
    const auto after = [&](const Action& later, const Action& earlier) {
      const int a = at(later), b = at(earlier);
      if (a >= 0 && b >= 0 && a < b) report(stage, name(later) + " comes before " + name(earlier));
    };
    for (int c = 0; c < schedule_.chunks; ++c) {
      for (int i = 0; i < schedule_.microbatches; ++i) {
        const Action forward{ActionKind::Forward, i, c}, weight{ActionKind::BackwardWeight, i, c};
        // A microbatch passes a stage again in a later chunk.
        const bool later_chunk = c > 0 && schedule_.layout != ChunkLayout::BothWays;
        if (later_chunk) after(forward, {ActionKind::Forward, i, c - 1});
        after(forward, {ActionKind::ReceiveForward, i, c});
        after({ActionKind::SendForward, i, c}, forward);
        if (at(weight) >= 0 && at({ActionKind::Backward, i, c}) >= 0)
          report(stage, name(weight) + " repeats the backward");
        after(weight, {ActionKind::BackwardInput, i, c});
        after({ActionKind::GradReduce}, weight);
        for (const ActionKind kind : {ActionKind::Backward, ActionKind::BackwardInput}) {
          const Action backward{kind, i, c};
          after(backward, forward);
          after(backward, {ActionKind::ReceiveBackward, i, c});
          after({ActionKind::SendBackward, i, c}, backward);
          after({ActionKind::GradReduce}, backward);
          if (!later_chunk) continue;
          for (const ActionKind other : {ActionKind::Backward, ActionKind::BackwardInput})
            after({other, i, c - 1}, backward);
        }
      }
    }
    check_pairs_run_at_once(stage);
    after({ActionKind::Optimizer}, {ActionKind::GradReduce});
  }

  // The action after an overlapped forward is its backward.
  void check_pairs_run_at_once(int stage) {
    const std::vector<Action>& list = actions(stage);
    for (size_t i = 0; i < list.size(); ++i) {
      if (!list[i].overlapped) continue;
      const bool pair = list[i].kind == ActionKind::Forward && i + 1 < list.size() &&
                        list[i + 1].overlapped &&
                        (list[i + 1].kind == ActionKind::Backward ||
                         list[i + 1].kind == ActionKind::BackwardInput);
      if (!pair) report(stage, name(list[i]) + " overlaps nothing");
      i += pair ? 1 : 0;
    }
  }

  // The virtual stage that receives the message of a transfer.
  StagePlace target(const Action& action, int stage) const {
    const StagePlace here = place_of(action, stage);
    if (action.kind == ActionKind::SendForward) return *places_.after(here);
    if (action.kind == ActionKind::SendBackward) return *places_.before(here);
    return here;
  }
  Message message(const Action& action, int stage) const {
    return {action.microbatch, static_cast<int>(target(action, stage).chunk)};
  }
  // The stage on the other end of a transfer.
  int64_t peer(const Action& action, int stage) const {
    const bool up = action.kind == ActionKind::ReceiveForward || action.kind == ActionKind::SendBackward;
    const auto other = up ? places_.before(place_of(action, stage)) : places_.after(place_of(action, stage));
    return other ? other->stage : -1;
  }

  std::vector<Action> transfers(int stage, ActionKind kind, int with) const {
    std::vector<Action> order;
    for (const Action& action : actions(stage)) {
      if (action.kind == kind && known(action) && belongs(action, stage) && peer(action, stage) == with)
        order.push_back(action);
    }
    return order;
  }
  bool known(const Action& action) const { return action.chunk >= 0 && action.chunk < schedule_.chunks; }

  // Messages between two stages are matched by their order alone, so both ends need the same order.
  void check_pairs(int from, ActionKind send, int to, ActionKind receive) {
    const std::vector<Action> sent = transfers(from, send, to), received = transfers(to, receive, from);
    const size_t both = std::min(sent.size(), received.size());
    for (size_t i = 0; i < both; ++i) {
      if (message(sent[i], from) == message(received[i], to)) continue;
      report(to, name(received[i]) + " meets " + name(sent[i]) + " of stage " + std::to_string(from));
      return;
    }
    if (sent.size() != received.size()) {
      report(to, std::to_string(received.size()) + " times " + std::string(action_name(receive)) + " for " +
                     std::to_string(sent.size()) + " times " + std::string(action_name(send)) + " of stage " +
                     std::to_string(from));
    }
  }

  // Blocking execution of every stage in order: a receive waits until its message was sent; a send never
  // waits.
  void run_blocking() {
    std::vector<size_t> at(schedule_.actions.size(), 0);
    std::vector<std::set<Message>> forward(schedule_.actions.size()), backward(schedule_.actions.size());
    std::vector<int> ready;
    for (int stage = schedule_.stages - 1; stage >= 0; --stage) ready.push_back(stage);
    while (!ready.empty()) {
      const int stage = ready.back();
      ready.pop_back();
      for (size_t& i = at[static_cast<size_t>(stage)]; i < actions(stage).size(); ++i) {
        const Action& action = actions(stage)[i];
        const size_t here = static_cast<size_t>(stage);
        if (!known(action) || !belongs(action, stage)) continue;  // reported above
        const Message key = message(action, stage);
        const auto to = static_cast<int>(target(action, stage).stage);
        if (action.kind == ActionKind::ReceiveForward && forward[here].erase(key) == 0) break;
        if (action.kind == ActionKind::ReceiveBackward && backward[here].erase(key) == 0) break;
        if (action.kind == ActionKind::SendForward && forward[static_cast<size_t>(to)].insert(key).second) {
          ready.push_back(to);
        }
        if (action.kind == ActionKind::SendBackward && backward[static_cast<size_t>(to)].insert(key).second) {
          ready.push_back(to);
        }
      }
    }
    for (int stage = 0; stage < schedule_.stages; ++stage) {
      const size_t i = at[static_cast<size_t>(stage)];
      if (i < actions(stage).size()) report(stage, "never gets past " + name(actions(stage)[i]));
    }
  }

  const Schedule& schedule_;
  const PipelineLayout places_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> violations(const Schedule& schedule) { return Checker(schedule).run(); }

}  // namespace shardscape
