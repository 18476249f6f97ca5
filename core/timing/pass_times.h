// When the actions of a stage's schedule compute, of a played step, and how long they take.
#pragma once

#include <map>
#include <optional>
#include <tuple>

#include "memory/memory_timeline.h"
#include "pipeline/schedule.h"
#include "timing/simulation.h"
#include "timing/step_ops.h"

namespace shardscape {

struct PassStretch {
  double begin = 0, end = 0;  // seconds since the step began
  int span = -1;              // the first of its spans
};

class PassTimes {
 public:
  explicit PassTimes(const StageTimes& stage);
  // nullptr: it computes nothing, as a message.
  const PassStretch* of(const Action& action) const;

 private:
  using Key = std::tuple<int, int, int>;  // kind of pass, microbatch, chunk
  std::map<Key, PassStretch> stretches_;
};

bool is_pass(ActionKind kind);  // a forward, or a backward or a part of one

// Seconds into the step at which an action is fullest: when the op begins that needs most, in the layer that
// runs it; its end where that layer only makes gradients of weights, which an action of its own does.
// stretch: of the action.
double fullest_seconds(int stage, const Action& action, const PeakPlace& at, const PassStretch& stretch,
                       StepOps& ops);
// The same of a stage's fullest moment. Nothing where its action computes nothing.
std::optional<double> peak_seconds(const StageMemory& memory, StepOps& ops);

// What a schedule that follows from the times of passes would be given after this step: means over stages and
// microbatches in whole microseconds, of a forward, a gradient of the input (what is recomputed for it
// included), one of weights and a message; and what waits for the gradients of weights, in percent of what a
// microbatch in flight keeps. Of a pipeline whose backwards are split.
PassPlan played_passes(const Report& report, const Simulation& simulation);
// Where the design's order was found for passes of other proportions than they have in its step: what they
// are, with the fix.
std::optional<Problem> pass_times_note(const Report& report, const Simulation& simulation);

}  // namespace shardscape
