// An engine that follows the source text of vLLM V1 sequence by sequence and token by token, without the
// shortcuts of core/serving/requests.
#pragma once

#include <vector>

#include "serving/requests/engine_settings.h"
#include "serving/requests/request.h"
#include "serving/requests/request_record.h"
#include "serving/requests/step_clock.h"

namespace shardscape::test {

struct ReferenceRun {
  std::vector<RequestRecord> requests;
  std::vector<StepRecord> steps;
  std::vector<double> gaps;  // between consecutive tokens of all requests, ascending
};
// One engine, an open loop. Turns are allowed. All requests fit.
ReferenceRun reference_run(const Workload& workload, const EngineSettings& settings, StepClock& clock);

}  // namespace shardscape::test
