// The replicas of a service, from its settings: one kind, or replicas for prompts and replicas for answers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "serving/service/service.h"

namespace shardscape {

struct ServiceFleet {
  std::vector<ServicePool> pools;            // without their GPU-seconds
  ServiceSetup setup;                        // refers to prefill_clock
  std::unique_ptr<StepClock> prefill_clock;  // empty: prompts and answers have one clock
};
// The design of the prefill replicas: that of the file, or the given one without a file. Problems: the file
// cannot be read, or has another model.
Result<Design> prefill_design(const Design& design, const std::string& file);
// clock: of the design. prefill: instead of a file of the spec, if it is set. Problems: a cache without room,
// a prefill design that cannot be read or is of another model, and numbers of replicas that do not fit each
// other.
Result<ServiceFleet> make_fleet(const Design& design, const ServiceSpec& spec, StepClock& clock,
                                std::shared_ptr<PlanCache> cache, const PrefillEngine& prefill = {});

// Of a million output tokens. Equal replicas whose number is fixed count from the first arrival to the last
// token. Otherwise the GPU-seconds of every pool count.
RunningCost fleet_cost(const ServiceRun& run);

}  // namespace shardscape
