// How the memory of a stage goes up and down with the actions of its schedule: bytes in all, or by category.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "memory/segment_memory.h"
#include "pipeline/peak_candidates.h"

namespace shardscape {

// What an action of one virtual stage adds to what is there before it.
template <typename Bytes>
struct ActionTerms {
  Bytes peak{}, change{};
  Bytes received{}, sent{};
  std::vector<Bytes> levels;
};
// What gradients of weights add where a pass of their own makes them: as they come, at most as they are
// reduced, in the end.
template <typename Bytes>
struct WeightTerms {
  Bytes come{}, reduced{}, change{};
};
// Gradients that come and go differ by turn: 0 where none are made, or all are there all along.
inline constexpr size_t kAccumulationKinds = 6, kSplit = 5;  // kSplit: the first part of a backward
inline size_t accumulation_index(const AccumulationStep& turn) {
  return turn.makes ? 1 + static_cast<size_t>(turn.first) + 2 * static_cast<size_t>(turn.last) : 0;
}
inline size_t backward_index(const Action& a, const AccumulationStep& turn) {
  return a.kind == ActionKind::Backward ? accumulation_index(turn) : kSplit;
}
template <typename Bytes>
struct ChunkTerms {
  ActionTerms<Bytes> forward;
  std::array<ActionTerms<Bytes>, kAccumulationKinds> backward;
  std::array<WeightTerms<Bytes>, kAccumulationKinds> weights;
  Bytes waiting{};         // between the two parts of its backward
  Bytes begun{}, ended{};  // gradients between its passes: ChunkState::begun, ended
};

// now: before the action, then after it; returns the fullest moment of it.
template <typename Bytes>
Bytes play(const Action& a, const AccumulationStep& turn, const ChunkTerms<Bytes>& of, Bytes& now) {
  Bytes peak = now;
  switch (a.kind) {
    case ActionKind::BackwardWeight: {
      const WeightTerms<Bytes>& w = of.weights[accumulation_index(turn)];
      peak = now + w.come;
      now = now - of.waiting;
      if (total(now + w.reduced) > total(peak)) peak = now + w.reduced;
      now = now + w.change;
      break;
    }
    case ActionKind::Forward:
    case ActionKind::BackwardInput:
    case ActionKind::Backward: {
      const ActionTerms<Bytes>& p = a.kind == ActionKind::Forward ? of.forward
                                                                  : of.backward[backward_index(a, turn)];
      const Bytes base = now - p.received;
      peak = base + p.peak;
      now = base + p.change + p.sent;
      break;
    }
    case ActionKind::ReceiveForward: now = now + of.forward.received; break;
    case ActionKind::ReceiveBackward: now = now + of.backward[0].received; break;
    case ActionKind::SendForward: now = now - of.forward.sent; break;
    case ActionKind::SendBackward: now = now - of.backward[0].sent; break;
    default: break;
  }
  return total(now) > total(peak) ? now : peak;
}

// A forward and a backward that run at once, layer by layer: what each has when, both count from what is
// there before them (github deepseek-ai/DualPipe, _forward_backward_compute_chunk). fullest: the step of both
// at which most is there; -1: as they begin, or when they are done.
template <typename Bytes>
Bytes play(const ActionTerms<Bytes>& f, const ActionTerms<Bytes>& b, Bytes& now, int& fullest) {
  const Bytes base = now - (f.received + b.received);
  Bytes peak = now;
  fullest = -1;
  for (size_t k = 0; k < std::max(f.levels.size(), b.levels.size()); ++k) {
    const Bytes level = base + (k < f.levels.size() ? f.levels[k] : f.change) +
                        (k < b.levels.size() ? b.levels[k] : b.change);
    if (total(level) <= total(peak)) continue;
    peak = level;
    fullest = static_cast<int>(k);
  }
  now = base + f.change + b.change + (f.sent + b.sent);
  return total(now) > total(peak) ? now : peak;
}

inline int64_t times(int64_t count, int64_t bytes) { return count * bytes; }
inline CategoryBytes times(int64_t count, CategoryBytes bytes) {
  for (int64_t& b : bytes) b *= count;
  return bytes;
}

// Before the action of a moment.
template <typename Bytes>
Bytes level_before(const PeakCandidate& moment, const std::vector<ChunkTerms<Bytes>>& classes, Bytes fixed) {
  const auto add = [&](int32_t count, const Bytes& bytes) {
    if (count != 0) fixed = fixed + times(count, bytes);
  };
  for (size_t c = 0; c < classes.size(); ++c) {
    const ChunkState& holds = moment.before[c];
    const ChunkTerms<Bytes>& of = classes[c];
    add(holds.in_flight, of.forward.change);
    add(holds.waiting, of.waiting);
    add(holds.begun, of.begun);
    add(holds.ended, of.ended);
    add(holds.forward_received, of.forward.received);
    add(holds.forward_to_send, of.forward.sent);
    add(holds.backward_received, of.backward[0].received);
    add(holds.backward_to_send, of.backward[0].sent);
  }
  return fixed;
}

}  // namespace shardscape
