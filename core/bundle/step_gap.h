// How far the simulated step of a bundle is from the program's own step, and why.
#pragma once

#include <string>

#include "bundle/bundle.h"
#include "bundle/bundle_simulation.h"
#include "timing/simulation.h"

namespace shardscape {

// Seconds of the last rank of the simulated bundle and of its stage in the program's own simulation. Compute
// includes the optimizer. Exposed: the rest of the step without the host, that is communication and waits for
// other stages.
struct StepGap {
  double own_step = 0, simulated_step = 0;
  double own_compute = 0, simulated_compute = 0;
  double own_host = 0;  // waits for launches by the host and for copies
  double own_exposed = 0, simulated_exposed = 0;
  bool durations = false, launches = false;  // as ExportOptions
  bool quantized = false;
  bool coarse = false;  // merged nodes
};

// Larger bundles are not simulated after an export: nodes of all ranks.
inline constexpr int64_t kMostSimulatedNodes = 5'000'000;

// What is known without a simulation of the bundle.
StepGap step_gap(const Report& report, const ExportOptions& options, const Simulation& own);
// Both simulations must have finished.
StepGap step_gap(const Report& report, const ExportOptions& options, const Simulation& own,
                 const SimulationReport& simulated);
// Lines: both steps, then the causes of the difference, largest first, each with its seconds and the flag
// that removes it.
std::string gap_text(const StepGap& gap);
// The same causes without seconds, for a bundle that is not simulated. Uses own_host and the options alone.
std::string gap_causes_text(const StepGap& gap);

}  // namespace shardscape
