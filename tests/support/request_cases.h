// Step times, workloads and settings that tests of core/serving/requests share.
#pragma once

#include <string>
#include <vector>

#include "serving/requests/engine_settings.h"
#include "serving/requests/request.h"
#include "serving/requests/request_simulation.h"
#include "serving/requests/step_clock.h"

namespace shardscape::test {

// A constant, plus times per token.
class LinearClock : public StepClock {
 public:
  explicit LinearClock(double constant = 0.01, double token = 1e-4, double context = 1e-6)
      : constant_(constant), token_(token), context_(context) {}
  double seconds(const StepBatch& batch) override;

 private:
  double constant_, token_, context_;
};

Request request(double arrival, int32_t prompt, int32_t output);
Workload workload(std::vector<Request> requests);

// A few dozen requests that share prefixes, in bursts, partly as turns of sessions; and settings that are
// short of blocks, of budget or of neither. All requests fit.
struct RequestCase {
  Workload workload;
  EngineSettings settings;
};
RequestCase random_case(uint64_t seed);
// The same requests on an engine of another kind, with random settings of that kind. All requests fit.
void use_engine(RequestCase& request_case, EngineKind engine, uint64_t seed);

// The simulation of valid input on one engine.
RequestSimulation simulated(const Workload& workload, const EngineSettings& settings, StepClock& clock);
std::string settings_text(const EngineSettings& settings);
// Of each step.
std::vector<int> prefill_tokens(const RequestSimulation& run);
std::vector<int> decode_sequences(const RequestSimulation& run);

}  // namespace shardscape::test
