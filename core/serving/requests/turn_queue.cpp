#include "serving/requests/turn_queue.h"

#include <algorithm>
#include <utility>

namespace shardscape {

TurnQueue::TurnQueue(const Workload& workload) : workload_(&workload) {
  const size_t count = workload.requests.size();
  child_.assign(count, -1);
  sibling_.assign(count, -1);
  root_.resize(count);
  pending_.assign(count, 0);
  for (size_t i = count; i-- > 0;) {
    const int32_t parent = workload.requests[i].parent;
    if (parent < 0) continue;
    sibling_[i] = std::exchange(child_[static_cast<size_t>(parent)], static_cast<int32_t>(i));
  }
  for (size_t i = 0; i < count; ++i) {
    const int32_t parent = workload.requests[i].parent;
    root_[i] = parent < 0 ? static_cast<int32_t>(i) : root_[static_cast<size_t>(parent)];
    ++pending_[static_cast<size_t>(root_[i])];
    if (parent < 0) first_turns_.push_back(static_cast<int32_t>(i));
  }
  if (workload.users == 0)
    std::stable_sort(first_turns_.begin(), first_turns_.end(), [&](int32_t a, int32_t b) {
      return workload.requests[static_cast<size_t>(a)].arrival <
             workload.requests[static_cast<size_t>(b)].arrival;
    });
  for (int64_t user = 0; user < workload.users && next_first_ < first_turns_.size(); ++user) next_of_user(0);
}

double TurnQueue::first_turn_time() const {
  if (workload_->users > 0 || next_first_ == first_turns_.size()) return Engine::kIdle;
  return workload_->requests[static_cast<size_t>(first_turns_[next_first_])].arrival;
}

void TurnQueue::next_of_user(double now) {
  if (next_first_ < first_turns_.size()) turns_.push({now, first_turns_[next_first_++]});
}

TimedEvent TurnQueue::pop() {
  const double first = first_turn_time();
  return first <= turns_.time() ? TimedEvent{first, first_turns_[next_first_++]} : turns_.pop();
}

void TurnQueue::finished(int32_t request, double now) {
  for (int32_t turn = child_[static_cast<size_t>(request)]; turn >= 0;
       turn = sibling_[static_cast<size_t>(turn)])
    turns_.push({now + workload_->requests[static_cast<size_t>(turn)].arrival, turn});
  ended(request, now);
}

std::vector<int32_t> TurnQueue::refuse(int32_t request, double now) {
  std::vector<int32_t> out, turns{request};
  while (!turns.empty()) {
    const int32_t turn = turns.back();
    turns.pop_back();
    out.push_back(turn);
    for (int32_t next = child_[static_cast<size_t>(turn)]; next >= 0;
         next = sibling_[static_cast<size_t>(next)])
      turns.push_back(next);
    ended(turn, now);
  }
  return out;
}

void TurnQueue::ended(int32_t request, double now) {
  int32_t& left = pending_[static_cast<size_t>(root_[static_cast<size_t>(request)])];
  if (--left == 0 && workload_->users > 0) next_of_user(now);
}

}  // namespace shardscape
