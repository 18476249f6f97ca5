// The steps of a simulated service as traces.
#pragma once

#include <memory>
#include <stop_token>

#include "base/plan_cache.h"
#include "bundle/bundle.h"
#include "serving/service/step_range.h"

namespace shardscape {

// The steps of a replica, for export_bundle(). Replicas that share experts are one engine: all of its ranks
// have the batches of this replica. Problems: of the design of a step, or stopped_problem().
Result<std::shared_ptr<const StepWindow>> step_window(const ServiceRun& run, const StepRange& range,
                                                      std::stop_token stop = {},
                                                      std::shared_ptr<PlanCache> cache = {});

}  // namespace shardscape
