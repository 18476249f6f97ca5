#include "timing/step_distribution.h"

#include "performance/rank_spread.h"

namespace shardscape {

std::optional<StepDistribution> step_distribution(const Simulation& simulation) {
  const Machine& machine = simulation.machine;
  if (!machine.spread.exists()) return std::nullopt;
  double kernels = 0;
  for (const TimeCategory category : {TimeCategory::MatrixProducts, TimeCategory::Attention,
                                      TimeCategory::MemoryBound, TimeCategory::Optimizer})
    kernels += simulation.critical_seconds[static_cast<size_t>(category)];
  const auto at = [&](double probability) {
    const double slowest = slowest_rank_percentile(machine.spread, probability);
    return simulation.step_seconds + (slowest / machine.slowest_rank - 1) * kernels;
  };
  return StepDistribution{at(0.05), at(0.5), at(0.95)};
}

}  // namespace shardscape
