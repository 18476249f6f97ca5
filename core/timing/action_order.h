// The order in which a schedule's actions and messages are simulated. It does not depend on their durations.
// The schedule simulation (schedule_simulation.h) computes it once; many steady-state simulations of equal
// schedules share it.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "pipeline/schedule.h"

namespace shardscape {

// An action, and the message that its stage sends directly after the action. A search reads millions of
// ordered actions, so the struct is small.
struct OrderedAction {
  static constexpr size_t kMostPairs = 2047;
  int32_t message = -1;       // slot of the message that the action waits for; -1: none
  int32_t sent_message = -1;  // slot of the message that the stage sends after the action; -1: none
  int32_t microbatch = -1;
  int16_t stage = 0, peer = -1;  // peer: the stage that receives `sent_message`
  ActionKind kind = ActionKind::Forward;
  uint8_t chunk = 0;
  uint16_t pair : 11 = 0;  // of an overlapped action: 1 + index in ActionOrder::pairs; 0: not overlapped
  bool first : 1 = false;  // the first forward of its chunk
  bool last : 1 = false;   // the last forward of its chunk, or the action that ends its last backward
  // The action ends a window: 0 is the last window, 1 the one before it. -1: no mark. See
  // ActionOrder::window.
  int16_t mark : 3 = -1;
};
static_assert(sizeof(OrderedAction) == 20);

// A forward and the backward that overlaps with it (Action::overlapped).
struct OverlappedPair {
  int forward_chunk = 0, backward_chunk = 0;
  ActionKind backward = ActionKind::Backward;
  auto operator<=>(const OverlappedPair&) const = default;
};

struct ActionOrder {
  static constexpr int kMarks = 3;
  std::vector<OrderedAction> actions;
  // Actions that may start collectives of data parallelism: GradReduce, and actions with `last`. Indices.
  std::vector<int32_t> sync_points;
  std::vector<OverlappedPair> pairs;  // every pair that occurs, once
  std::vector<int64_t> key;           // equal for equal orders
  int stages = 1, chunks = 1, microbatches = 1;
  // Number of slots of messages. A message occupies its slot from its send to the last action that waits for
  // the message. Later messages use the slot again.
  int message_slots = 0;
  // Microbatches between two marks. In each stage, forwards before the last one are marked at this distance,
  // where the schedule is periodic. 0: no marks.
  int window = 0;
  size_t marks_end = 0;  // index of the first action after all marks; 0: no marks
  // Index of the first action in `sync_points` that is a GradReduce or satisfies `has_sync`; actions.size()
  // if there is none.
  template <typename HasSync>
  size_t first_sync(const HasSync& has_sync) const {
    for (const int32_t point : sync_points)
      if (const OrderedAction& a = actions[static_cast<size_t>(point)];
          a.kind == ActionKind::GradReduce || has_sync(a))
        return static_cast<size_t>(point);
    return actions.size();
  }
};

// The order of a design's schedule with `microbatches` microbatches, or with fewer if the schedule is
// periodic from there on. A shortened order has at least `rounds` times the microbatches that fill the
// pipeline. The cache shares it between designs with equal schedules. Thread safe. Null when stopped.
std::shared_ptr<const ActionOrder> action_order(const ParallelSpec& parallel, int microbatches, int rounds,
                                                PlanCache& cache, const std::stop_token& stop = {});

}  // namespace shardscape
