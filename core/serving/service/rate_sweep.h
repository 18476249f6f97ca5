// Latency against load: one simulation of a service per rate of arrivals.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "serving/service/service.h"

namespace shardscape {

struct RatePoint {
  double rate = 0;  // requests per second
  ServiceResults results;
  RunningCost cost;           // of a million output tokens
  bool keeps_limits = false;  // the promised level (service_spec.h), or nothing is promised
};

struct RateSweep {
  Design design;
  ServiceSpec spec;               // its rate has no effect
  std::vector<RatePoint> points;  // ascending rates
  std::optional<size_t> knee;  // the largest rate up to which all rates keep the limits; none without limits
};

// rates: requests per second. Empty: a dozen rates from 1/10 to 1.2 of the requests per second that the
// service answers if all arrive at once; then further rates that halve the gap above the knee four times.
// The number of requests stays, so queues at rates above the service's throughput grow with this number.
// A Problem if the spec has a trace or users, which have no rate. A stopped sweep lacks points.
// progress: called from any thread, see ProgressCount.
Result<std::shared_ptr<const RateSweep>> sweep_rates(
    const Design& design, const ServiceSpec& spec, std::vector<double> rates, std::stop_token stop = {},
    std::shared_ptr<PlanCache> cache = {}, const std::function<void(size_t done, size_t of)>& progress = {});

}  // namespace shardscape
