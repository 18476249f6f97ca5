// Step time without a timeline, for bound plans (plan/bound_plan.h): the same numbers as simulate(), from the
// steady-state simulation (steady_simulation.h).
#pragma once

#include <stop_token>

#include "timing/layer_seconds.h"

namespace shardscape {

struct StepNumbers {
  double step_seconds = 0;
  double bubble = 0, exposed = 0;                           // shares of the step, mean over stages
  double tokens_per_second = 0, model_tflops = 0, mfu = 0;  // as in Simulation
};

// All numbers are 0 when stopped.
StepNumbers step_numbers(const Report& plan, const std::stop_token& stop = {});

}  // namespace shardscape
