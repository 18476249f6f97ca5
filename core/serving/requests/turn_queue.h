// When the requests of a workload arrive: first turns, later turns, and the users of a closed loop.
#pragma once

#include <cstdint>
#include <vector>

#include "serving/requests/event_queue.h"
#include "serving/requests/request.h"

namespace shardscape {

// A turn arrives its thinking time after the last token of its parent. A user of a closed loop sends the next
// first turn of the list when all turns of the previous one have ended.
class TurnQueue {
 public:
  explicit TurnQueue(const Workload& workload);                               // outlives the queue
  double time() const { return std::min(first_turn_time(), turns_.time()); }  // Engine::kIdle: none is left
  TimedEvent pop();                                                           // of time()
  void finished(int32_t request, double now);
  // The request and all turns after it, which end without an answer.
  std::vector<int32_t> refuse(int32_t request, double now);

 private:
  double first_turn_time() const;
  void next_of_user(double now);
  void ended(int32_t request, double now);

  const Workload* workload_;
  EventQueue turns_;                  // later turns, and first turns of a closed loop
  std::vector<int32_t> first_turns_;  // open loop: by arrival; closed loop: in the order of the list
  size_t next_first_ = 0;
  std::vector<int32_t> child_, sibling_;  // turns after each request
  std::vector<int32_t> root_;             // first turn of each request
  std::vector<int32_t> pending_;          // of each first turn: turns that have not ended
};

}  // namespace shardscape
