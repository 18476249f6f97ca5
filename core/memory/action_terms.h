// The change of a stage's memory over one action of its schedule. Bytes is int64_t (all bytes) or
// CategoryBytes (bytes by category). All sizes are those of one rank.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "memory/segment_memory.h"
#include "pipeline/peak_candidates.h"

namespace shardscape {

// The memory of one action of one virtual stage, relative to the memory before the action. peak: highest.
// change: at the end. received, sent: messages that the action consumes and produces. levels: the peak per
// layer instance.
template <typename Bytes>
struct ActionTerms {
  Bytes peak{}, change{};
  Bytes received{}, sent{};
  std::vector<Bytes> levels;
};
// A separate pass for weight gradients (BackwardWeight). allocated: the peak while the gradients are
// computed. reduced: the peak while the gradients are reduced. change: the change at the end.
template <typename Bytes>
struct WeightTerms {
  Bytes allocated{}, reduced{}, change{};
};
// The gradients that a backward allocates depend on the accumulation step. Index 0: the action makes no
// gradients, or gradients are always allocated. kSplit: the input-gradient part of a backward.
inline constexpr size_t kAccumulationKinds = 6, kSplit = 5;
inline size_t accumulation_index(const AccumulationStep& accumulation) {
  return accumulation.makes
             ? 1 + static_cast<size_t>(accumulation.first) + 2 * static_cast<size_t>(accumulation.last)
             : 0;
}
inline size_t backward_index(const Action& a, const AccumulationStep& accumulation) {
  return a.kind == ActionKind::Backward ? accumulation_index(accumulation) : kSplit;
}
template <typename Bytes>
struct ChunkTerms {
  ActionTerms<Bytes> forward;
  std::array<ActionTerms<Bytes>, kAccumulationKinds> backward;
  std::array<WeightTerms<Bytes>, kAccumulationKinds> weights;
  Bytes deferred{};        // saved tensors between the input gradient and the deferred weight gradient
  Bytes begun{}, ended{};  // gradients after the first and after the last pass: ChunkState::begun, ended
};

// Applies one action to `now`, the bytes before the action. `now` becomes the bytes after the action. Returns
// the peak of the action.
template <typename Bytes>
Bytes apply_action(const Action& a, const AccumulationStep& accumulation, const ChunkTerms<Bytes>& of,
                   Bytes& now) {
  Bytes peak = now;
  switch (a.kind) {
    case ActionKind::BackwardWeight: {
      const WeightTerms<Bytes>& w = of.weights[accumulation_index(accumulation)];
      peak = now + w.allocated;
      now = now - of.deferred;
      if (total(now + w.reduced) > total(peak)) peak = now + w.reduced;
      now = now + w.change;
      break;
    }
    case ActionKind::Forward:
    case ActionKind::BackwardInput:
    case ActionKind::Backward: {
      const ActionTerms<Bytes>& p = a.kind == ActionKind::Forward
                                        ? of.forward
                                        : of.backward[backward_index(a, accumulation)];
      const Bytes base = now - p.received;
      peak = base + p.peak;
      now = base + p.change + p.sent;
      break;
    }
    case ActionKind::ReceiveForward: now = now + of.forward.received; break;
    case ActionKind::ReceiveBackward: now = now + of.backward[0].received; break;
    case ActionKind::SendForward: now = now - of.forward.sent; break;
    case ActionKind::SendBackward: now = now - of.backward[0].sent; break;
    case ActionKind::GradReduce:
    case ActionKind::Optimizer: break;
  }
  return total(now) > total(peak) ? now : peak;
}

// Applies a forward and a backward that overlap layer by layer. The changes of both count from the memory
// before the pair (github deepseek-ai/DualPipe, _forward_backward_compute_chunk). Returns the peak of the
// pair. fullest: the layer step with the peak; -1: the peak is at the begin or the end.
template <typename Bytes>
Bytes apply_pair(const ActionTerms<Bytes>& f, const ActionTerms<Bytes>& b, Bytes& now, int& fullest) {
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

// Bytes of a stage before the action of a peak candidate. classes: terms per class of chunks. fixed: bytes
// that are always allocated.
template <typename Bytes>
Bytes level_before(const PeakCandidate& candidate, const std::vector<ChunkTerms<Bytes>>& classes,
                   Bytes fixed) {
  const auto add = [&](int32_t count, const Bytes& bytes) {
    if (count != 0) fixed = fixed + times(count, bytes);
  };
  for (size_t c = 0; c < classes.size(); ++c) {
    const ChunkState& holds = candidate.before[c];
    const ChunkTerms<Bytes>& of = classes[c];
    add(holds.in_flight, of.forward.change);
    add(holds.deferred, of.deferred);
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
