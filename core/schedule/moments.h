// The moments of a stage's schedule at which it may hold most memory, whatever the sizes: many actions find the stage as earlier
// ones did, or with less of everything.
#pragma once

#include <memory>
#include <optional>

#include "schedule/schedule.h"

namespace shardscape {

// Whether forwards and backwards run at once, in pairs (Action::overlapped).
bool runs_pairs(const ParallelSpec& parallel);

// What there is before an action, on chunks that are alike together: microbatches in flight, those whose gradients of weights wait, messages that have come
// or wait to be sent. A microbatch that stays on the stage between two chunks counts once less as come and once more as sent.
struct ChunkHolds {
  int32_t in_flight = 0, waiting = 0;
  int32_t forward_come = 0, forward_to_send = 0, backward_come = 0, backward_to_send = 0;
  int32_t begun = 0, ended = 0;    // chunks whose gradients have come, by their first backward and not yet by all of them, and by all
  friend bool operator==(const ChunkHolds&, const ChunkHolds&) = default;
};

// What makes gradients of weights: which of its chunk's actions that do.
struct GradientTurn {
  bool makes = false, first = false, last = false;
  friend bool operator==(const GradientTurn&, const GradientTurn&) = default;
};
// Of every action.
std::vector<GradientTurn> gradient_turns(const std::vector<Action>& actions);

struct StageMoment {
  int action = 0;                  // index among the actions of the stage
  Action of{};
  std::optional<Action> beside;    // the backward that an overlapped forward runs with
  GradientTurn turn{};             // of the one of them that makes gradients
  std::vector<ChunkHolds> before;  // by class of chunks
};

// In the order of the schedule. As many microbatches as tell all suffice. classes: of every chunk, which ones do the same with memory.
// gradients: whether they come and go; otherwise moments do not tell turns apart.
std::vector<StageMoment> telling_moments(const std::vector<Action>& actions, const std::vector<int>& classes, bool gradients = false);
// Those of a design's stage, kept for the designs that have the same schedule. Thread safe.
std::shared_ptr<const std::vector<StageMoment>> stage_moments(const ParallelSpec& parallel, int stage, int microbatches, const std::vector<int>& classes, bool gradients = false);

}  // namespace shardscape
