// The waiting requests of an engine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "serving/requests/engine_settings.h"
#include "serving/requests/request.h"
#include "serving/requests/request_record.h"

namespace shardscape {

// Fcfs: a queue, to whose head preempted requests return. Priority: ordered by priority, arrival and number.
class WaitingQueue {
 public:
  WaitingQueue(SchedulingPolicy policy, const Workload& workload, std::span<const RequestRecord> records);
  bool empty() const { return size_ == 0; }
  int64_t size() const { return size_; }
  int32_t front() const { return policy_ == SchedulingPolicy::Fcfs ? head_ : heap_.front(); }
  void add(int32_t request);
  void put_back(int32_t request);  // a preempted request
  void pop();
  // The request waits. Searches from the head.
  void remove(int32_t request);
  // Whether a is served after b.
  bool later(int32_t a, int32_t b) const;

 private:
  SchedulingPolicy policy_;
  const Workload* workload_;
  std::span<const RequestRecord> records_;
  int64_t size_ = 0;
  int32_t head_ = -1, tail_ = -1;
  std::vector<int32_t> after_;  // Fcfs: the next request of each request
  std::vector<int32_t> heap_;   // Priority
};

}  // namespace shardscape
