// Checks a bundle against the rules of simulators, and simulates it without times under the resource rules of
// ASTRA-sim.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "chakra/findings.h"

namespace shardscape {

struct CheckReport {
  int64_t ranks = 0, nodes = 0, collectives = 0, sends = 0, bytes = 0;
  // Ranks of the job that the bundle, a part of the job, does not have. If there are any, each trace is
  // checked on its own; nothing is matched between ranks, and no rank is simulated.
  int64_t absent = 0;
  bool finished = false;  // every rank ran all its nodes in the simulation
  std::vector<Finding> findings;
  bool ok() const;  // finished or a part, without errors
};

CheckReport check_bundle(const std::filesystem::path& bundle,
                         const std::function<void(double fraction)>& progress = {},
                         std::stop_token stop = {});
std::string check_text(const CheckReport& report);
std::string check_json(const CheckReport& report);

}  // namespace shardscape
