// Services next to each other: settings that differ, and figures of their runs.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "explore/comparison.h"
#include "explore/study.h"
#include "serving/service/service.h"

namespace shardscape {

// A setting whose value differs between the services, or that only some of their engines have and that is not
// its default.
struct ComparedSetting {
  const ServiceSetting* setting = nullptr;
  std::vector<std::string> values;  // one per service; empty: a setting of another engine
};
std::vector<ComparedSetting> compare_settings(const std::vector<ServiceSpec>& specs);

// Throughput, latencies (requests/service_results.h), GPUs and GPU-seconds, cost, cache, and requests that
// were preempted or refused. Goodput if any service has limits of a request.
std::vector<ComparedFigure> compare_services(const std::vector<std::shared_ptr<const ServiceRun>>& runs);

struct ServiceComparison {
  std::vector<NamedDesign> services;  // with settings
  std::vector<std::shared_ptr<const ServiceRun>> runs;
};
// Runs the services, in parallel. A Problem names the service that cannot run. A stopped comparison lacks
// runs. progress: called from any thread, see ProgressCount.
Result<std::shared_ptr<const ServiceComparison>> run_services(
    std::vector<NamedDesign> services, std::stop_token stop = {}, std::shared_ptr<PlanCache> cache = {},
    const std::function<void(size_t done, size_t of)>& progress = {});
// `spec` with the settings of the engine and the fleet of another service.
ServiceSpec with_engine_of(const ServiceSpec& spec, const ServiceSpec& other);

}  // namespace shardscape
