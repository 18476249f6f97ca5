// How the memory of a stage goes up and down with the actions of its schedule: bytes in all, or by category.
#pragma once

#include <algorithm>
#include <vector>

#include "schedule/moments.h"
#include "simulate/segment_memory.h"

namespace shardscape {

// What an action of one virtual stage adds to what is there before it.
template <typename Bytes>
struct ActionTerms {
  Bytes peak{}, change{};
  Bytes received{}, sent{};
  std::vector<Bytes> levels;
};
template <typename Bytes>
struct ChunkTerms {
  ActionTerms<Bytes> forward, backward;
  Bytes waiting{};           // between the two parts of its backward
};

// now: before the action, then after it; returns the fullest moment of it.
template <typename Bytes>
Bytes play(const Action& a, const ChunkTerms<Bytes>& of, Bytes& now) {
  Bytes peak = now;
  switch (a.kind) {
    case ActionKind::BackwardWeight: now = now - of.waiting; break;
    case ActionKind::Forward:
    case ActionKind::BackwardInput:
    case ActionKind::Backward: {
      const ActionTerms<Bytes>& p = a.kind == ActionKind::Forward ? of.forward : of.backward;
      const Bytes base = now - p.received;
      peak = base + p.peak;
      now = base + p.change + p.sent;
      if (a.kind == ActionKind::BackwardInput) now = now + of.waiting;
      break;
    }
    case ActionKind::ReceiveForward: now = now + of.forward.received; break;
    case ActionKind::ReceiveBackward: now = now + of.backward.received; break;
    case ActionKind::SendForward: now = now - of.forward.sent; break;
    case ActionKind::SendBackward: now = now - of.backward.sent; break;
    default: break;
  }
  return total(now) > total(peak) ? now : peak;
}

// A forward and a backward that run at once, layer by layer: what each has when, both count from what is there before them
// (github deepseek-ai/DualPipe, _forward_backward_compute_chunk). fullest: the step of both at which most is there; -1: as they begin,
// or when they are done.
template <typename Bytes>
Bytes play(const ActionTerms<Bytes>& f, const ActionTerms<Bytes>& b, const Bytes& waiting, Bytes& now, int& fullest) {
  const Bytes base = now - (f.received + b.received);
  Bytes peak = now;
  fullest = -1;
  for (size_t k = 0; k < std::max(f.levels.size(), b.levels.size()); ++k) {
    const Bytes level = base + (k < f.levels.size() ? f.levels[k] : f.change) + (k < b.levels.size() ? b.levels[k] : b.change);
    if (total(level) <= total(peak)) continue;
    peak = level;
    fullest = static_cast<int>(k);
  }
  now = base + f.change + b.change + (f.sent + b.sent) + waiting;
  return total(now) > total(peak) ? now : peak;
}

inline int64_t times(int64_t count, int64_t bytes) { return count * bytes; }
inline CategoryBytes times(int64_t count, CategoryBytes bytes) {
  for (int64_t& b : bytes) b *= count;
  return bytes;
}

// Before the action of a moment.
template <typename Bytes>
Bytes level_before(const StageMoment& moment, const std::vector<ChunkTerms<Bytes>>& classes, Bytes fixed) {
  const auto add = [&](int32_t count, const Bytes& bytes) {
    if (count != 0) fixed = fixed + times(count, bytes);
  };
  for (size_t c = 0; c < classes.size(); ++c) {
    const ChunkHolds& holds = moment.before[c];
    const ChunkTerms<Bytes>& of = classes[c];
    add(holds.in_flight, of.forward.change);
    add(holds.waiting, of.waiting);
    add(holds.forward_come, of.forward.received);
    add(holds.forward_to_send, of.forward.sent);
    add(holds.backward_come, of.backward.received);
    add(holds.backward_to_send, of.backward.sent);
  }
  return fixed;
}

}  // namespace shardscape
