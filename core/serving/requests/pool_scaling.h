// The number of replicas of a pool follows the requests that it has (Autoscaling, request_simulation.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "serving/requests/engine_pool.h"

namespace shardscape {

class PoolScaling {
 public:
  // The pool outlives the object. With a rule, the pool starts with the least number of replicas.
  PoolScaling(const Autoscaling& rule, int32_t lockstep, EnginePool& pool);

  bool on() const { return rule_.least > 0; }
  // Starts or stops engines for so many requests in the pool. Without a rule: nothing.
  void scale(int64_t requests, double now);
  // Draining engines that have ended their requests leave.
  void settle(double now);
  // When the next engine is ready or the next cool-down ends; infinite: never.
  double time() const;
  // Takes this event. True: an engine is ready. False: the number of engines may change, so call scale().
  bool run();

 private:
  static constexpr int32_t kCoolDown = -1;  // instead of the number of an engine
  void start_engines(int32_t count, double now);
  void stop_engines(int32_t count, double now);

  Autoscaling rule_;
  int32_t lockstep_;
  EnginePool* pool_;
  std::multimap<double, int32_t> timers_;  // engines that start, and cool-downs
  std::map<int32_t, double> starts_;       // when engines that start are ready
  std::optional<double> too_many_since_;   // engines
  int32_t most_wanted_ = 0;                // engines since then
};

}  // namespace shardscape
