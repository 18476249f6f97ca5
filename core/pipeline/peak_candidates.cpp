#include "pipeline/peak_candidates.h"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>

namespace shardscape {
namespace {

// Two states compare by their counts only if these values are equal.
using ComparableKey = std::vector<int32_t>;

struct ComparableKeyHash {
  size_t operator()(const ComparableKey& key) const {
    uint64_t out = key.size();
    for (const int32_t word : key) out = (out ^ static_cast<uint32_t>(word)) * 0x9e3779b97f4a7c15u;
    return static_cast<size_t>(out ^ out >> 32);
  }
};

void write_comparable_key(std::span<const Action> at_once, const AccumulationStep& accumulation,
                          const std::vector<int>& classes, const std::vector<ChunkState>& holds,
                          ComparableKey& out) {
  out.assign(1, accumulation.makes + 2 * accumulation.first + 4 * accumulation.last);
  for (const Action& a : at_once) {
    out.push_back(static_cast<int32_t>(a.kind));
    out.push_back(classes[static_cast<size_t>(a.chunk)]);
  }
  for (const ChunkState& h : holds)
    for (const int32_t messages :
         {h.forward_received, h.forward_to_send, h.backward_received, h.backward_to_send})
      out.push_back(messages);
}

bool covers(const std::vector<ChunkState>& a, const std::vector<ChunkState>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](const ChunkState& x, const ChunkState& y) {
    return x.in_flight >= y.in_flight && x.deferred >= y.deferred && x.begun >= y.begun && x.ended >= y.ended;
  });
}

// Without backwards, nothing is saved beyond the forward.
bool trains(const std::vector<Action>& actions) {
  return std::any_of(actions.begin(), actions.end(), [](const Action& a) {
    return a.kind == ActionKind::Backward || a.kind == ActionKind::BackwardInput;
  });
}

void advance(const Action& action, ChunkState& at) {
  switch (action.kind) {
    case ActionKind::ReceiveForward: ++at.forward_received; break;
    case ActionKind::ReceiveBackward: ++at.backward_received; break;
    case ActionKind::SendForward: --at.forward_to_send; break;
    case ActionKind::SendBackward: --at.backward_to_send; break;
    case ActionKind::Forward:
      --at.forward_received;
      ++at.forward_to_send;
      ++at.in_flight;
      break;
    case ActionKind::Backward:
    case ActionKind::BackwardInput:
      --at.backward_received;
      ++at.backward_to_send;
      --at.in_flight;
      at.deferred += action.kind == ActionKind::BackwardInput;
      break;
    case ActionKind::BackwardWeight: --at.deferred; break;
    case ActionKind::GradReduce:
    case ActionKind::Optimizer: break;
  }
}

}  // namespace

bool overlaps_passes(const ParallelSpec& parallel) {
  return schedule_traits(schedule_of(parallel)).overlaps_passes;
}

std::vector<AccumulationStep> accumulation_steps(const std::vector<Action>& actions) {
  std::vector<AccumulationStep> out(actions.size());
  std::map<int, size_t> last;  // by chunk
  for (size_t i = 0; i < actions.size(); ++i) {
    if (actions[i].kind != ActionKind::Backward && actions[i].kind != ActionKind::BackwardWeight) continue;
    out[i] = {true, !last.contains(actions[i].chunk), false};
    last[actions[i].chunk] = i;
  }
  for (const auto& [chunk, i] : last) out[i].last = true;
  return out;
}

std::vector<PeakCandidate> peak_candidates(const std::vector<Action>& actions,
                                           const std::vector<int>& classes, bool gradients) {
  std::vector<AccumulationStep> accumulations(actions.size());
  if (gradients) accumulations = accumulation_steps(actions);
  std::vector<PeakCandidate> candidates;
  std::unordered_map<ComparableKey, std::vector<size_t>, ComparableKeyHash> fullest;
  ComparableKey key;
  std::vector<ChunkState> now(static_cast<size_t>(*std::max_element(classes.begin(), classes.end()) + 1));
  std::vector<bool> dropped;
  const bool keeps = trains(actions);
  for (size_t i = 0; i < actions.size(); ++i) {
    const bool pair = actions[i].overlapped && actions[i].kind == ActionKind::Forward;
    const auto at_once = std::span(actions).subspan(i, pair ? 2 : 1);
    const AccumulationStep accumulation = accumulations[pair ? i + 1 : i];
    write_comparable_key(at_once, accumulation, classes, now, key);
    std::vector<size_t>& others = fullest[key];
    if (std::none_of(others.begin(), others.end(),
                     [&](size_t other) { return covers(candidates[other].before, now); })) {
      std::erase_if(others, [&](size_t other) {
        const bool less = covers(now, candidates[other].before);
        if (less) dropped[other] = true;
        return less;
      });
      others.push_back(candidates.size());
      candidates.push_back({static_cast<int>(i), actions[i], pair ? std::optional(at_once[1]) : std::nullopt,
                            accumulation, now});
      dropped.push_back(false);
    }
    for (const Action& a : at_once) {
      ChunkState& holds = now[static_cast<size_t>(classes[static_cast<size_t>(a.chunk)])];
      advance(a, holds);
      if (!keeps) holds.in_flight = 0;
      const AccumulationStep& made = accumulations[static_cast<size_t>(&a - at_once.data()) + i];
      holds.begun += made.first - made.last;
      holds.ended += made.last;
    }
    i += at_once.size() - 1;
  }
  std::vector<PeakCandidate> out;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (!dropped[i]) out.push_back(std::move(candidates[i]));
  return out;
}

std::vector<int32_t> in_flight_by_chunk(const std::vector<Action>& actions, size_t chunks, int index) {
  std::vector<int32_t> out(chunks, 0);
  if (!trains(actions)) return out;
  std::vector<ChunkState> now(chunks);
  for (const Action& action : std::span(actions).first(static_cast<size_t>(index)))
    advance(action, now[static_cast<size_t>(action.chunk)]);
  std::transform(now.begin(), now.end(), out.begin(), [](const ChunkState& of) { return of.in_flight; });
  return out;
}

std::shared_ptr<const std::vector<PeakCandidate>> stage_peak_candidates(const ParallelSpec& parallel,
                                                                        int stage, int microbatches,
                                                                        const std::vector<int>& classes,
                                                                        bool gradients, PlanCache& cache) {
  const int representative = representative_microbatches(parallel, microbatches);
  CacheKey key = schedule_key(parallel);
  for (const int64_t word : {int64_t{stage}, int64_t{representative}, int64_t{gradients}}) key.add(word);
  for (const int of : classes) key.add(int64_t{of});
  const auto make = [&] {
    return std::make_shared<const std::vector<PeakCandidate>>(
        peak_candidates(make_stage_schedule(parallel, stage, representative, &cache), classes, gradients));
  };
  return cache.get<std::vector<PeakCandidate>>(
      CacheKind::PeakCandidates, key, make, [](const std::vector<PeakCandidate>& made) {
        size_t out = sizeof made;
        for (const PeakCandidate& candidate : made)
          out += sizeof candidate + candidate.before.size() * sizeof(ChunkState);
        return out;
      });
}

}  // namespace shardscape
