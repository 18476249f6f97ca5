// Events of a simulation in the order of their times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "serving/requests/engine.h"

namespace shardscape {

// A time and the number of a request, an engine or a timer. Equal times: the smallest number first.
using TimedEvent = std::pair<double, int32_t>;

class EventQueue {
 public:
  double time() const { return events_.empty() ? Engine::kIdle : events_.front().first; }
  void push(TimedEvent event) {
    events_.push_back(event);
    std::push_heap(events_.begin(), events_.end(), std::greater<>());
  }
  TimedEvent pop() {
    std::pop_heap(events_.begin(), events_.end(), std::greater<>());
    const TimedEvent event = events_.back();
    events_.pop_back();
    return event;
  }
  // All events of a number.
  void erase(int32_t number) {
    std::erase_if(events_, [&](const TimedEvent& event) { return event.second == number; });
    std::make_heap(events_.begin(), events_.end(), std::greater<>());
  }

 private:
  std::vector<TimedEvent> events_;
};

}  // namespace shardscape
