// Profiles of ranks, and the output of `shardscape-cli profile`: text for a terminal, and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/profile_comparison.h"

namespace shardscape {

// One file, without its events.
struct RankProfile {
  std::string file, device;
  std::optional<int64_t> rank, ranks;
  int64_t events = 0, skipped = 0;
  ProfiledStep step;
  double compute() const;  // seconds of kernels that compute, per step
  double exposed() const;  // of exposed collectives and messages
};

// steps: as profiled_step(). Problems: as read_profile() and profiled_step().
Result<RankProfile> profiled_rank(const std::string& file, int64_t steps);

struct ProfileAnswer {
  std::vector<RankProfile> ranks;
  size_t shown = 0;  // the rank whose step is shown in detail
  // With a design.
  std::string design, accelerator;
  std::optional<ProfileComparison> comparison;
};

std::string profile_text(const ProfileAnswer& answer);
std::string profile_json(const ProfileAnswer& answer);

}  // namespace shardscape
