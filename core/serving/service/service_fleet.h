// The replicas of a service, from its settings: one kind, or replicas for prompts and replicas for answers.
#pragma once

#include <memory>
#include <vector>

#include "serving/service/service.h"

namespace shardscape {

struct ServiceFleet {
  std::vector<ServicePool> pools;            // without their GPU-seconds
  ServiceSetup setup;                        // refers to prefill_clock
  std::unique_ptr<StepClock> prefill_clock;  // empty: prompts and answers have one clock
};
// clock: of the design. prefill: as in run_requests. Problems: a cache without room, a prefill design that
// cannot be read or is of another model, and numbers of replicas that do not fit each other.
Result<ServiceFleet> make_fleet(const Design& design, const ServiceSpec& spec, StepClock& clock,
                                std::shared_ptr<PlanCache> cache, const PrefillEngine* prefill = nullptr);

// Of a million output tokens. Equal replicas whose number is fixed count from the first arrival to the last
// token. Otherwise the GPU-seconds of every pool count.
RunningCost fleet_cost(const ServiceRun& run);

}  // namespace shardscape
