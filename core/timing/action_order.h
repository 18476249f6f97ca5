// The order in which the actions and messages of a schedule are played, which does not depend on how long
// they take: worked out once by the player itself (simulate_schedule.h), for those who play many steps of
// equal schedules.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "pipeline/schedule.h"

namespace shardscape {

struct OrderedAction {
  int32_t message = -1;  // of a send: the message that it makes; of an action: the one that it waits for, -1:
                         // none
  int32_t microbatch = -1;
  int16_t stage = 0, peer = -1;  // peer: of a send, the stage that it goes to
  ActionKind kind = ActionKind::Forward;
  uint8_t chunk = 0;
  bool overlapped = false;  // Action::overlapped; the backward is the stage's next action
  bool first = false;       // forward of its chunk
  bool last = false;        // forward of its chunk, or action that ends a backward of it
  int8_t mark = -1;         // the action ends a window, counted from the last one; see ActionOrder::window
};

struct ActionOrder {
  static constexpr int kMarks = 3;
  std::vector<OrderedAction> actions;
  std::vector<int32_t> ends;  // of these: reductions, last forwards and last backwards of chunks
  std::vector<int64_t> key;   // equal orders have equal ones
  int stages = 1, chunks = 1, microbatches = 1, messages = 0;
  // Microbatches between two marks: on every stage forwards before the last one are marked at this distance,
  // where the schedule repeats itself in between. 0: nothing is marked.
  int window = 0;
  // The first of its ends that matters, or past all actions; asked of all but reductions, which always do.
  template <typename Matters>
  size_t own(const Matters& matters) const {
    for (const int32_t end : ends)
      if (const OrderedAction& a = actions[static_cast<size_t>(end)];
          a.kind == ActionKind::GradReduce || matters(a))
        return static_cast<size_t>(end);
    return actions.size();
  }
};

// So many microbatches of a design's schedule, or fewer where it then repeats itself: at least as many as
// `rounds` times those that fill the pipeline. Kept for the designs that have the same schedule. Thread safe.
// Null where it was stopped.
std::shared_ptr<const ActionOrder> action_order(const ParallelSpec& parallel, int microbatches, int rounds,
                                                PlanCache& cache, const std::stop_token& stop = {});

}  // namespace shardscape
