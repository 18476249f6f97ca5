// How long a step takes, without its timeline: what simulate() finds, of an outline (plan/bound_plan.h),
// played as steady_simulation.h says.
#pragma once

#include <stop_token>

#include "timing/layer_seconds.h"

namespace shardscape {

struct StepNumbers {
  double step_seconds = 0;
  double bubble = 0, exposed = 0;                           // shares of the step, mean over stages
  double tokens_per_second = 0, model_tflops = 0, mfu = 0;  // as Simulation has them
};

// Stopped on the way, all are 0.
StepNumbers step_numbers(Report& outline, const std::stop_token& stop = {});

}  // namespace shardscape
