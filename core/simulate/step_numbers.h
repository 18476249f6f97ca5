// How long a step takes, without its timeline: what simulate() finds, of an outline (report/outline.h), played as brief_play.h says.
#pragma once

#include <stop_token>

#include "base/memo.h"
#include "simulate/layer_seconds.h"

namespace shardscape {

struct StepNumbers {
  double step_seconds = 0;
  double bubble = 0, exposed = 0;  // shares of the step, mean over stages
  double tokens_per_second = 0, model_tflops = 0, mfu = 0;  // as Simulation has them
};

struct PlayStart;

// Shared by the steps of many designs. Thread safe.
struct StepMemo {
  StepMemo();
  ~StepMemo();
  Memo<LayerTable> layers{1 << 12};
  Memo<PlayStart> starts{1 << 9};
};

// Stopped on the way, all are 0.
StepNumbers step_numbers(Report& outline, StepMemo& memo, const std::stop_token& stop = {});

}  // namespace shardscape
