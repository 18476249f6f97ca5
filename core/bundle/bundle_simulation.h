// Simulates the step of a bundle under the bundle's own configuration files, as ASTRA-sim's
// congestion-unaware analytical backend does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "astra_sim/bundle_simulator.h"
#include "base/problem.h"
#include "bundle/checker.h"

namespace shardscape {

struct SimulationReport {
  int64_t nodes = 0;                 // of all ranks
  bool finished = false;             // every rank ran all its nodes
  std::vector<SimulatedRank> ranks;  // ns, equal to the simulator's cycles
  std::vector<Finding> findings;     // defects of the bundle
  int64_t cycles() const;            // end of the last rank
  // Finished, and the simulator does not abort either: there is no error.
  bool ok() const;
};

// Returns a Problem if the configuration asks for something that is not simulated. A folder without traces
// gives a report with findings.
// visit: called for each node, in the order of their ends.
Result<SimulationReport> simulate_bundle(const BundlePaths& paths,
                                         const std::function<void(double fraction)>& progress = {},
                                         std::stop_token stop = {}, const SpanVisit& visit = {});
Result<SimulationReport> simulate_bundle(const std::filesystem::path& bundle,
                                         const std::function<void(double fraction)>& progress = {},
                                         std::stop_token stop = {});
std::string simulation_text(const SimulationReport& report);
std::string simulation_json(const SimulationReport& report);

}  // namespace shardscape
