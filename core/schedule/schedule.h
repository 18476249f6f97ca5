// Pipeline schedules: lists of actions per stage, and the invariants that hold whatever made them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/parallel_spec.h"

namespace shardscape {

enum class ActionKind : uint8_t {
  Forward, Backward, ReceiveForward, SendForward, ReceiveBackward, SendBackward, GradReduce, Optimizer
};
std::string_view action_name(ActionKind kind);  // "forward", "receive_forward"

struct Action {
  ActionKind kind;
  int microbatch = -1;  // -1 for GradReduce and Optimizer
  int chunk = 0;        // virtual stage on this stage; 0 for GradReduce and Optimizer
  friend bool operator==(const Action&, const Action&) = default;
};

struct Schedule {
  int stages = 1, microbatches = 1;
  std::vector<std::vector<Action>> actions;  // per stage, in order of execution
  int chunks = 1;                            // virtual stages per stage
};

// Chunk c of stage s is virtual stage c·stages + s. ReceiveForward of a virtual stage pairs with SendForward of the one
// before, ReceiveBackward with SendBackward of the one after; so messages also go from the last stage to the first.
// Several chunks are interleaved 1F1B: they want two stages or more, and microbatches in multiples of the stages.
Schedule make_schedule(ScheduleKind kind, int stages, int microbatches, int chunks = 1);
std::vector<Action> make_stage_schedule(ScheduleKind kind, int stage, int stages, int microbatches, int chunks = 1);

// Chunk of the virtual stage nearer to the embedding, of the two between which a transfer of this stage goes.
inline int upstream_chunk(const Action& transfer, int stage) {
  const bool from_above = transfer.kind == ActionKind::ReceiveForward || transfer.kind == ActionKind::SendBackward;
  return transfer.chunk - (from_above && stage == 0 ? 1 : 0);
}

// Empty when every action is there once, dependencies hold, sends and receives pair in the same order on both ends and
// blocking execution in order finishes on every stage.
std::vector<std::string> violations(const Schedule& schedule);

// Largest number of microbatches whose forward ran and whose backward has not ended, per stage; a microbatch counts once
// for each chunk that holds it.
std::vector<int> microbatches_in_flight(const Schedule& schedule);

// What a stage holds when it holds most. A microbatch in flight in chunk c holds held[c][i] of quantity i; the result
// are the totals per quantity at every moment at which none other has as much or more of each.
std::vector<std::vector<int64_t>> fullest_moments(const std::vector<Action>& actions,
                                                  const std::vector<std::vector<int64_t>>& held);

}  // namespace shardscape
