// When the passes of a stage compute in a simulated step, and how long they take. Times are in seconds.
#pragma once

#include <map>
#include <optional>
#include <tuple>

#include "memory/memory_timeline.h"
#include "pipeline/schedule.h"
#include "timing/simulation.h"
#include "timing/step_ops.h"

namespace shardscape {

struct PassInterval {
  double begin = 0, end = 0;  // seconds since the step began
  int span = -1;              // index of its first span
};

class PassTimes {
 public:
  explicit PassTimes(const StageTimes& stage);
  // nullptr: the action computes nothing, for example a message.
  const PassInterval* of(const Action& action) const;

 private:
  using Key = std::tuple<int, int, int>;  // kind of pass, microbatch, chunk
  std::map<Key, PassInterval> intervals_;
};

bool is_pass(ActionKind kind);  // a forward, a backward, or a part of a split backward

// Seconds into the step at which the memory of an action has its peak: the begin of the op with the peak, in
// the layer `at`. If another action computes all gradients of that layer, the result is the end of the pass.
// interval: begin and end of the pass.
double peak_seconds_of(int stage, const Action& action, const PeakPlace& at, const PassInterval& interval,
                       StepOps& ops);
// Seconds into the step at the peak of a stage. Empty: the action with the peak computes nothing.
std::optional<double> peak_seconds(const StageMemory& memory, StepOps& ops);

// The pass times of this step, as input for a zb-auto schedule: means over stages and microbatches in whole
// microseconds. They are the forward, the input gradient (including recompute), the weight gradient, and a
// message. waiting_percent: the bytes that deferred weight gradients read, in percent of the bytes that a
// microbatch in flight saves. Needs a pipeline with split backwards.
PassPlan measured_passes(const Report& report, const Simulation& simulation);
// A note where zb-auto ordered the passes for other proportions than this step has. It offers the measured
// times as a fix.
std::optional<Problem> pass_times_note(const Report& report, const Simulation& simulation);

}  // namespace shardscape
