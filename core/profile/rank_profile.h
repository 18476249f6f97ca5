// The profiled steps of the ranks of a job: one file each, without its events.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "profile/profile_step.h"

namespace shardscape {

struct RankProfile {
  std::string file, device;
  std::optional<int64_t> rank, ranks;
  int64_t events = 0, skipped = 0;
  ProfiledStep step;
  double compute() const;  // seconds of kernels that compute, per step
  double exposed() const;  // of exposed collectives and messages
};

// steps: as profiled_step(). Problems: as read_profile() and profiled_step(). Stopped:
// without its step.
Result<RankProfile> profiled_rank(const std::string& file, int64_t steps, const std::stop_token& stop = {});
// Files, and folders of files, by rank. Stopped: the ranks so far. progress: 0 to 1, after each file.
Result<std::vector<RankProfile>> profiled_ranks(const std::vector<std::string>& paths, int64_t steps,
                                                const std::function<void(double)>& progress = {},
                                                std::stop_token stop = {});
// The position of the rank that computes longest: all others wait for it. ranks: at least one.
size_t longest_computing(const std::vector<RankProfile>& ranks);

}  // namespace shardscape
