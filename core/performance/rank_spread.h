// The slowest of the ranks that compute a step together.
//
// Ranks compute unequally fast: clocks depend on temperature and power, and chips differ (Sinha et al., SC
// 2022, arXiv 2208.11035). The compute time of a rank in a step is 1 + sigma·Z times the mean, with Z of the
// standard normal distribution, independent between ranks and constant during the step. A synchronous step
// ends when the slowest of N ranks ends, at the largest of N such numbers:
//   P(slowest <= 1 + t) = Phi(t/sigma)^(N-1) · Phi((t - straggler)/sigma)
// The mean and the percentiles below follow from this distribution without an approximation for large N.
// Without a straggler, the mean excess is sigma times 1.42 for 8 ranks, 2.39 for 64, 3.24 for 1,024 and 3.77
// for 8,192.
#pragma once

#include <cstdint>

namespace shardscape {

struct RankSpread {
  double sigma = 0;      // standard deviation of a rank's compute time / its mean
  double straggler = 0;  // how much longer one of the ranks computes, relative to the mean of the others
  int64_t ranks = 1;     // all ranks that wait for each other, at least 1
  bool exists() const { return sigma > 0 || straggler > 0; }
  friend bool operator==(const RankSpread&, const RankSpread&) = default;
};

// Expected compute time of the slowest rank / mean compute time of a rank, at least 1.
double slowest_rank_mean(const RankSpread& spread);
// The same for a percentile: the slowest rank is at most as slow in the share `probability` of steps, between
// 0 and 1 exclusive. May be below 1 with few ranks.
double slowest_rank_percentile(const RankSpread& spread, double probability);

}  // namespace shardscape
