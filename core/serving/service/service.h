// A service: the engines of a design answer requests. Step times come from the graph of the design
// (engine/engine_clock.h), the scheduler from requests/.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/plan_cache.h"
#include "campaign/running_cost.h"
#include "serving/engine/cache_capacity.h"
#include "serving/engine/engine_profile.h"
#include "serving/requests/request.h"
#include "serving/requests/request_wait.h"
#include "serving/service/service_cache.h"
#include "serving/service/service_spec.h"

namespace shardscape {

// The replicas of one kind: all of them, or those for prompts, or those for answers.
struct ServicePool {
  Design design;          // of one engine
  EngineSettings engine;  // with the role, and the blocks that the run has used
  CacheCapacity cache;    // what an engine has; without sizes of memory if the spec gives the blocks
  int64_t replicas = 0;
  int64_t replica_accelerators = 0;
  double gpu_seconds = 0;  // of the replicas in use, from the start to the last token
};

struct ServiceRun {
  Design design;                   // of one engine; of a decode engine if prompts have replicas of their own
  ServiceSpec spec;                // with the blocks and replicas that the run has used
  CacheCapacity cache;             // what an engine has; without sizes of memory if the spec gives the blocks
  std::vector<ServicePool> pools;  // as RequestSimulation::pools; `design` and `cache` are those of the last
  Workload workload;
  RequestSimulation simulation;
  ServiceResults results;
  int64_t accelerators = 0;  // of all replicas
  RunningCost cost;          // of a million output tokens; of the GPU-seconds if the replicas vary or differ
};
// The pool of a replica of the run.
const ServicePool& pool_with(const ServiceRun& run, int64_t replica);
// Why the requests of a run waited. The run has its steps.
RequestWaits request_waits(const ServiceRun& run);

// The design of one engine: one data-parallel replica, or all of them if they share experts.
Design engine_design(const Design& design);
// Engines of the design: its data-parallel degree, or 1 if the replicas share experts.
int64_t engine_count(const Design& design);

Result<Workload> make_workload(const RequestSource& source);

// Steps, their chunks and the preemptions of a run. Timelines, waits and bundles read them; latencies,
// throughput and cost do not. Without them the memory of a run does not grow with its steps, except for the
// gaps between tokens.
enum class RunSteps : uint8_t { Kept, Counted };

// Same arguments, same bytes. A stopped run has pending requests.
Result<std::shared_ptr<const ServiceRun>> run_service(const Design& design, const ServiceSpec& spec,
                                                      std::stop_token stop = {},
                                                      std::shared_ptr<PlanCache> cache = {},
                                                      RunSteps steps = RunSteps::Kept);

// The host of the engine, without what computes a draft. With vLLM's scheduler, the host of the engine whose
// kernel profile the design has (WorkloadSpec::profile), if it has one. So with other schedulers, if the
// profile is a code base of the engine: "trtllm-engine".
EngineProfile service_profile(const Design& design, const ServiceSpec& spec);
// The seconds of the engine's steps. Runs whose engine designs and engine settings are equal may share a
// clock, one after another.
Result<std::unique_ptr<StepClock>> service_clock(const Design& design, const ServiceSpec& spec,
                                                 std::shared_ptr<PlanCache> cache = {});
// The design of the prefill replicas instead of the file FleetSpec::prefill_design, and the seconds of their
// steps. Both outlive the run.
struct PrefillEngine {
  const Design* design = nullptr;
  StepClock* clock = nullptr;
};
// The same as run_service with given requests; the source of the spec has no effect.
Result<std::shared_ptr<const ServiceRun>> run_requests(const Design& design, const ServiceSpec& spec,
                                                       Workload workload, StepClock& clock,
                                                       std::stop_token stop = {},
                                                       std::shared_ptr<PlanCache> cache = {},
                                                       RunSteps steps = RunSteps::Kept,
                                                       const PrefillEngine& prefill = {});

}  // namespace shardscape
