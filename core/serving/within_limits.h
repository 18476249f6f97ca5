// The largest batches that keep the limits of a service, and what their tokens cost.
#pragma once

#include <memory>
#include <stop_token>

#include "campaign/running_cost.h"
#include "serving/inference.h"

namespace shardscape {

// Whether a point exceeds a limit. False for a phase that cannot be computed.
bool breaks_ttft(const ServedPoint& point, const ServiceLimits& limits);
bool breaks_tpot(const ServedPoint& point, const ServiceLimits& limits);
// Decode fits and keeps its limit; with a limit of TTFT, prefill does, too.
bool keeps_limits(const ServedPoint& point, const ServiceLimits& limits);

// Finds, per context, the largest batch that keeps the limits, and adds its point to the sweep. Replaces the
// answers to other limits; without limits, removes them. Bisection starts between the largest point of the
// sweep that keeps the limits and the next one that does not; both latencies grow with the batch. Batches are
// multiples of least_batch(). A stopped search leaves the sweep without answers.
void find_within_limits(ServingSweep& sweep, const ServiceLimits& limits, std::stop_token stop = {},
                        std::shared_ptr<PlanCache> cache = {});

// The cost of a million output tokens at the point, on all accelerators of the design.
RunningCost output_cost(const Design& design, const ServedPoint& point);

}  // namespace shardscape
