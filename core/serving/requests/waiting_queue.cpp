#include "serving/requests/waiting_queue.h"

#include <algorithm>
#include <tuple>

namespace shardscape {

WaitingQueue::WaitingQueue(SchedulingPolicy policy, const Workload& workload,
                           std::span<const RequestRecord> records)
    : policy_(policy), workload_(&workload), records_(records) {
  if (policy == SchedulingPolicy::Fcfs) after_.resize(workload.requests.size(), -1);
}

bool WaitingQueue::later(int32_t a, int32_t b) const {
  const auto key = [&](int32_t request) {
    const auto i = static_cast<size_t>(request);
    return std::tuple(workload_->requests[i].priority, records_[i].arrival, request);
  };
  return key(a) > key(b);
}

void WaitingQueue::add(int32_t request) {
  ++size_;
  if (policy_ == SchedulingPolicy::Priority) {
    heap_.push_back(request);
    std::push_heap(heap_.begin(), heap_.end(), [&](int32_t a, int32_t b) { return later(a, b); });
    return;
  }
  after_[static_cast<size_t>(request)] = -1;
  (tail_ < 0 ? head_ : after_[static_cast<size_t>(tail_)]) = request;
  tail_ = request;
}

void WaitingQueue::put_back(int32_t request) {
  if (policy_ == SchedulingPolicy::Priority || size_ == 0) return add(request);
  ++size_;
  after_[static_cast<size_t>(request)] = head_;
  head_ = request;
}

void WaitingQueue::pop() {
  --size_;
  if (policy_ == SchedulingPolicy::Priority) {
    std::pop_heap(heap_.begin(), heap_.end(), [&](int32_t a, int32_t b) { return later(a, b); });
    heap_.pop_back();
    return;
  }
  head_ = after_[static_cast<size_t>(head_)];
  if (head_ < 0) tail_ = -1;
}

void WaitingQueue::remove(int32_t request) {
  if (front() == request) return pop();
  --size_;
  if (policy_ == SchedulingPolicy::Priority) {
    heap_.erase(std::find(heap_.begin(), heap_.end(), request));
    std::make_heap(heap_.begin(), heap_.end(), [&](int32_t a, int32_t b) { return later(a, b); });
    return;
  }
  int32_t before = head_;
  while (after_[static_cast<size_t>(before)] != request) before = after_[static_cast<size_t>(before)];
  after_[static_cast<size_t>(before)] = after_[static_cast<size_t>(request)];
  if (tail_ == request) tail_ = before;
}

}  // namespace shardscape
