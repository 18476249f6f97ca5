// How long the step of a bundle takes under its own configuration files, as ASTRA-sim's congestion-unaware analytical backend counts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "trace/checker.h"
#include "trace/player.h"

namespace shardscape {

struct PlayReport {
  int64_t nodes = 0;               // of all ranks
  bool finished = false;           // every rank ran all its nodes
  std::vector<PlayedRank> ranks;   // ns, which are the simulator's cycles
  std::vector<Finding> findings;   // what is wrong with the bundle
  int64_t cycles() const;          // of the rank that ends last
};

// A Problem where the configuration asks for something that is not played, or the folder holds no bundle.
std::variant<PlayReport, Problem> play_bundle(const std::filesystem::path& bundle, const std::function<void(double fraction)>& progress = {},
                                              std::stop_token stop = {});
std::string play_text(const PlayReport& report);
std::string play_json(const PlayReport& report);

}  // namespace shardscape
