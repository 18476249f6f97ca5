// Peak candidates: the actions of a stage's schedule at which the stage may hold most memory, whatever the
// sizes are. Before any other action, the stage is in the same state as before a candidate, or holds less of
// everything.
#pragma once

#include <memory>
#include <optional>

#include "pipeline/schedule.h"

namespace shardscape {

// Whether a forward and a backward overlap, in pairs (Action::overlapped).
bool overlaps_passes(const ParallelSpec& parallel);

// State of a stage before an action, summed over the chunks of one class: microbatches in flight,
// microbatches with deferred weight gradients, messages received and messages to send. A microbatch that
// stays on the stage between two chunks counts as -1 received and +1 to send.
struct ChunkState {
  int32_t in_flight = 0, deferred = 0;
  int32_t forward_received = 0, forward_to_send = 0, backward_received = 0, backward_to_send = 0;
  // Chunks after their first action that makes weight gradients: before (begun) or after (ended) their last
  // one.
  int32_t begun = 0, ended = 0;
  friend bool operator==(const ChunkState&, const ChunkState&) = default;
};

// Accumulation step: whether an action makes weight gradients, and whether it is the first or last such
// action of its chunk.
struct AccumulationStep {
  bool makes = false, first = false, last = false;
  friend bool operator==(const AccumulationStep&, const AccumulationStep&) = default;
};
// One entry per action.
std::vector<AccumulationStep> accumulation_steps(const std::vector<Action>& actions);

// One peak candidate.
struct PeakCandidate {
  int index = 0;  // among the actions of the stage
  Action action{};
  std::optional<Action> concurrent;  // the backward that overlaps with the forward
  // Accumulation step of the action; of an overlapped pair, of its backward.
  AccumulationStep accumulation{};
  std::vector<ChunkState> before;  // state before the action, by class of chunks
};

// Peak candidates in the order of the schedule. representative_microbatches reaches all candidates.
// classes: class of every chunk; chunks of one class have equal effect on memory. gradients: whether
// gradients appear and disappear during the step; if false, candidates do not differ by accumulation step.
std::vector<PeakCandidate> peak_candidates(const std::vector<Action>& actions,
                                           const std::vector<int>& classes, bool gradients = false);
// Microbatches in flight in every chunk before action `index`. ChunkState::in_flight has their sums by class.
std::vector<int32_t> in_flight_by_chunk(const std::vector<Action>& actions, size_t chunks, int index);
// Peak candidates of a design's stage. The cache shares them between designs with equal schedules.
std::shared_ptr<const std::vector<PeakCandidate>> stage_peak_candidates(const ParallelSpec& parallel,
                                                                        int stage, int microbatches,
                                                                        const std::vector<int>& classes,
                                                                        bool gradients, PlanCache& cache);

}  // namespace shardscape
