// Seconds of a stage by category, and how precisely two sums of them agree.
#pragma once

#include "timing/simulation.h"

namespace shardscape::test {

inline constexpr double kTiny = 1e-9;  // share of the step: rounding by another order of additions

inline double seconds_of(const StageTimes& stage, TimeCategory category) {
  return stage.seconds[static_cast<size_t>(category)];
}

}  // namespace shardscape::test
