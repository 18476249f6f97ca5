#include "schedule/moments.h"

#include <algorithm>
#include <map>

#include "base/memo.h"

namespace shardscape {
namespace {

// What has to be equal for one moment to have at least as much of everything as another.
using Kin = std::vector<int32_t>;

Kin kin_of(const std::vector<Action>& at_once, const GradientTurn& turn, const std::vector<int>& classes, const std::vector<ChunkHolds>& holds) {
  Kin out{turn.makes + 2 * turn.first + 4 * turn.last};
  for (const Action& a : at_once) out.insert(out.end(), {static_cast<int32_t>(a.kind), classes[static_cast<size_t>(a.chunk)]});
  for (const ChunkHolds& h : holds) out.insert(out.end(), {h.forward_come, h.forward_to_send, h.backward_come, h.backward_to_send});
  return out;
}

bool covers(const std::vector<ChunkHolds>& a, const std::vector<ChunkHolds>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](const ChunkHolds& x, const ChunkHolds& y) { return x.in_flight >= y.in_flight && x.waiting >= y.waiting && x.begun >= y.begun && x.ended >= y.ended; });
}

void advance(const Action& action, ChunkHolds& at) {
  switch (action.kind) {
    case ActionKind::ReceiveForward: ++at.forward_come; break;
    case ActionKind::ReceiveBackward: ++at.backward_come; break;
    case ActionKind::SendForward: --at.forward_to_send; break;
    case ActionKind::SendBackward: --at.backward_to_send; break;
    case ActionKind::Forward:
      --at.forward_come;
      ++at.forward_to_send;
      ++at.in_flight;
      break;
    case ActionKind::Backward:
    case ActionKind::BackwardInput:
      --at.backward_come;
      ++at.backward_to_send;
      --at.in_flight;
      at.waiting += action.kind == ActionKind::BackwardInput;
      break;
    case ActionKind::BackwardWeight: --at.waiting; break;
    default: break;
  }
}

}  // namespace

bool runs_pairs(const ParallelSpec& parallel) {
  const ScheduleKind kind = schedule_of(parallel);
  return kind == ScheduleKind::DualPipe || kind == ScheduleKind::DualPipeV || kind == ScheduleKind::OneFOneBPairs;
}

std::vector<GradientTurn> gradient_turns(const std::vector<Action>& actions) {
  std::vector<GradientTurn> out(actions.size());
  std::map<int, size_t> last;  // by chunk
  for (size_t i = 0; i < actions.size(); ++i) {
    if (actions[i].kind != ActionKind::Backward && actions[i].kind != ActionKind::BackwardWeight) continue;
    out[i] = {true, !last.contains(actions[i].chunk), false};
    last[actions[i].chunk] = i;
  }
  for (const auto& [chunk, i] : last) out[i].last = true;
  return out;
}

std::vector<StageMoment> telling_moments(const std::vector<Action>& actions, const std::vector<int>& classes, bool gradients) {
  std::vector<GradientTurn> turns(actions.size());
  if (gradients) turns = gradient_turns(actions);
  std::vector<StageMoment> moments;
  std::map<Kin, std::vector<size_t>> fullest;
  std::vector<ChunkHolds> now(static_cast<size_t>(*std::max_element(classes.begin(), classes.end()) + 1));
  std::vector<bool> dropped;
  // Without backwards nothing outlives its forward.
  const bool trains = std::any_of(actions.begin(), actions.end(), [](const Action& a) { return a.kind == ActionKind::Backward || a.kind == ActionKind::BackwardInput; });
  for (size_t i = 0; i < actions.size(); ++i) {
    std::vector<Action> at_once{actions[i]};
    if (actions[i].overlapped && actions[i].kind == ActionKind::Forward) at_once.push_back(actions[i + 1]);
    const GradientTurn turn = turns[at_once.size() > 1 ? i + 1 : i];
    std::vector<size_t>& others = fullest[kin_of(at_once, turn, classes, now)];
    if (std::none_of(others.begin(), others.end(), [&](size_t other) { return covers(moments[other].before, now); })) {
      std::erase_if(others, [&](size_t other) {
        const bool less = covers(now, moments[other].before);
        if (less) dropped[other] = true;
        return less;
      });
      others.push_back(moments.size());
      moments.push_back({static_cast<int>(i), actions[i], at_once.size() > 1 ? std::optional(at_once[1]) : std::nullopt, turn, now});
      dropped.push_back(false);
    }
    for (const Action& a : at_once) {
      ChunkHolds& holds = now[static_cast<size_t>(classes[static_cast<size_t>(a.chunk)])];
      advance(a, holds);
      if (!trains) holds.in_flight = 0;
      const GradientTurn& made = turns[static_cast<size_t>(&a - at_once.data()) + i];
      holds.begun += made.first - made.last;
      holds.ended += made.last;
    }
    i += at_once.size() - 1;
  }
  std::vector<StageMoment> out;
  for (size_t i = 0; i < moments.size(); ++i)
    if (!dropped[i]) out.push_back(std::move(moments[i]));
  return out;
}

std::shared_ptr<const std::vector<StageMoment>> stage_moments(const ParallelSpec& parallel, int stage, int microbatches, const std::vector<int>& classes, bool gradients) {
  static Memo<std::vector<StageMoment>> kept(1 << 14);
  const int telling = telling_microbatches(parallel, microbatches);
  thread_local MemoKey key;
  key.clear();
  for (const int64_t word : {int64_t{stage}, int64_t{telling}, int64_t{gradients}}) key.add(word);
  for (const int64_t word : schedule_key(parallel)) key.add(word);
  for (const int of : classes) key.add(int64_t{of});
  return kept.get(key, [&] {
    return std::make_shared<const std::vector<StageMoment>>(telling_moments(make_stage_schedule(parallel, stage, telling), classes, gradients));
  });
}

}  // namespace shardscape
