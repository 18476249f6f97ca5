// How much load a service can take: the largest rate of arrivals that keeps the promised level.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include "serving/service/service.h"

namespace shardscape {

struct LargestRate {
  double rate = 0;             // requests per second; 0: no rate keeps the level
  ServiceResults results;      // at the rate; at the lowest rate if none keeps the level
  RunningCost cost;            // of a million output tokens at the rate
  int64_t accelerators = 0;    // of all replicas
  bool by_throughput = false;  // the level is kept up to the throughput
};

// Bisection between 0 and the requests per second that the service answers if all arrive at once (its
// throughput): eight halvings, so the rate is within 1/256 of the throughput. The level is assumed to hold at
// all rates below one that keeps it. The number of requests stays. A service that refuses a request keeps no
// level. clock: of engine_design(design) and the spec. A stopped search returns what it has.
// A Problem if the spec has a trace or users, which have no rate, or if the service cannot run.
Result<LargestRate> largest_rate(const Design& design, const ServiceSpec& spec, StepClock& clock,
                                 std::stop_token stop = {}, std::shared_ptr<PlanCache> cache = {});

// Why the requests of the spec have no rate; nothing: they are drawn at a rate.
std::optional<Problem> check_has_rate(const ServiceSpec& spec);

}  // namespace shardscape
