// When the actions of a stage's schedule compute, of a played step.
#pragma once

#include <map>
#include <optional>
#include <tuple>

#include "schedule/schedule.h"
#include "simulate/memory_timeline.h"
#include "simulate/simulation.h"

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

// Seconds into the step of a stage's fullest moment: the middle of its action, which is as near as memory and time agree on. Nothing
// where that action computes nothing.
std::optional<double> peak_seconds(const StageMemory& memory, const Simulation& simulation);

}  // namespace shardscape
