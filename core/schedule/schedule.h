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
  friend bool operator==(const Action&, const Action&) = default;
};

struct Schedule {
  int stages = 1, microbatches = 1;
  std::vector<std::vector<Action>> actions;  // per stage, in order of execution
};

// ReceiveForward of stage s pairs with SendForward of stage s-1, ReceiveBackward with SendBackward of stage s+1.
Schedule make_schedule(ScheduleKind kind, int stages, int microbatches);

// Empty when every action is there once, dependencies hold, sends and receives pair in the same order on both ends and
// blocking execution in order finishes on every stage.
std::vector<std::string> violations(const Schedule& schedule);

// Largest number of microbatches whose forward ran and whose backward has not ended, per stage.
std::vector<int> microbatches_in_flight(const Schedule& schedule);

}  // namespace shardscape
