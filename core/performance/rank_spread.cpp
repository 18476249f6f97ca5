#include "performance/rank_spread.h"

#include <algorithm>
#include <cmath>

namespace shardscape {
namespace {

constexpr double kReach = 9;  // standard deviations, beyond which not one of 10^16 ranks lies

// The logarithm of the standard normal distribution function.
double log_phi(double z) {
  return z > 0 ? std::log1p(-0.5 * std::erfc(z / std::sqrt(2.0)))
               : std::log(0.5 * std::erfc(-z / std::sqrt(2.0)));
}

// P(slowest <= 1 + excess)
double distribution(const RankSpread& spread, double excess) {
  return std::exp(static_cast<double>(spread.ranks - 1) * log_phi(excess / spread.sigma) +
                  log_phi((excess - spread.straggler) / spread.sigma));
}

}  // namespace

double slowest_rank_mean(const RankSpread& spread) {
  if (!(spread.sigma > 0)) return 1 + spread.straggler;
  // The integral of 1 - P from `low` on, by the trapezoidal rule. It converges faster than any power of the
  // number of steps, because the integrand is smooth and its derivatives vanish at both ends.
  constexpr int kSteps = 288;
  const double low = spread.straggler - kReach * spread.sigma;
  const double step = 2 * kReach * spread.sigma / kSteps;
  double above = 0.5 * step;  // half of the first value, which is 1
  for (int i = 1; i <= kSteps; ++i) above += step * (1 - distribution(spread, low + step * i));
  return std::max(1.0, 1 + low + above);
}

double slowest_rank_percentile(const RankSpread& spread, double probability) {
  if (!(spread.sigma > 0)) return 1 + spread.straggler;
  double low = -kReach * spread.sigma, high = spread.straggler + kReach * spread.sigma;
  for (int i = 0; i < 80; ++i) {
    const double middle = 0.5 * (low + high);
    (distribution(spread, middle) < probability ? low : high) = middle;
  }
  return 1 + high;
}

}  // namespace shardscape
