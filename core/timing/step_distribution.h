// The distribution of step times over steps, where ranks are unequally fast (performance/rank_spread.h).
#pragma once

#include <optional>

#include "timing/simulation.h"

namespace shardscape {

// Seconds. In 5 % of the steps, the step takes at most percentile_5.
struct StepDistribution {
  double percentile_5 = 0, median = 0, percentile_95 = 0;
};

// Simulation::step_seconds is the step in which kernels take the mean compute time of the slowest rank. In
// another step, the kernels on the critical path take longer or shorter by the same ratio as the slowest
// rank, and all else on the path stays. This is exact as long as the critical path is the same. Where a
// pipeline has few microbatches, it is an upper bound: one slow rank delays its own stage, and here all
// stages have its speed. nullopt: all ranks are equally fast.
std::optional<StepDistribution> step_distribution(const Simulation& simulation);

}  // namespace shardscape
