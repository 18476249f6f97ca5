// How long a step takes, without its timeline: what simulate() finds, of an outline (report/outline.h). Microbatches whose actions
// are alike are played as one stretch per chunk, and only as many as show how the schedule goes on; layers are played one by one where
// gradients and parameters move between them.
#pragma once

#include "base/memo.h"
#include "simulate/layer_seconds.h"

namespace shardscape {

struct StepNumbers {
  double step_seconds = 0;
  double bubble = 0, exposed = 0;  // shares of the step, mean over stages
  double tokens_per_second = 0, model_tflops = 0, mfu = 0;  // as Simulation has them
};

// memo: of seconds that designs share. Leaves the outline with as many microbatches as were played.
StepNumbers step_numbers(Report& outline, Memo<LayerTable>& memo);

}  // namespace shardscape
