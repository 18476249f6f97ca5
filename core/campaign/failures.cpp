#include "campaign/failures.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shardscape {

double stretch(const Interruptions& i, double interval) {
  if (!std::isfinite(i.mtti)) return std::isfinite(interval) ? 1 + i.save / interval : 1;
  return i.mtti * std::exp(i.restart / i.mtti) * std::expm1((interval + i.save) / i.mtti) / interval;
}

double best_interval(const Interruptions& i) {
  if (!std::isfinite(i.mtti)) return std::numeric_limits<double>::infinity();
  // log(1 - x) + x falls from 0 without bound over 0 < x < 1. Bisection needs no start value.
  const double wanted = -i.save / i.mtti;
  double low = 0, high = 1;
  for (int step = 0; step < 200 && low < high; ++step) {
    const double x = (low + high) / 2;
    if (x <= low || x >= high) break;
    (std::log1p(-x) + x > wanted ? low : high) = x;
  }
  return i.mtti * high;
}

double young_interval(const Interruptions& i) { return std::sqrt(2 * i.mtti * i.save); }

double daly_interval(const Interruptions& i) {
  if (i.save >= 2 * i.mtti) return i.mtti;
  const double ratio = i.save / (2 * i.mtti);
  return young_interval(i) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - i.save;
}

double run_seconds(const Interruptions& i, double work, double interval, double quantile) {
  constexpr double kWithoutEnd = 1e15;
  const double expected = work * stretch(i, interval);
  if (!(expected < kWithoutEnd)) return std::numeric_limits<double>::infinity();
  const double mean = expected / i.mtti, undisturbed = work * (1 + i.save / interval);
  if (quantile <= 0 || mean <= 0) return expected;
  return undisturbed +
         (expected - undisturbed) / mean * static_cast<double>(poisson_quantile(mean, quantile));
}

int64_t poisson_quantile(double mean, double probability) {
  constexpr double kNormalAbove = 10000;
  if (!(mean > 0) || !std::isfinite(mean)) return 0;
  if (mean > kNormalAbove) {
    // The quantile of the normal distribution by bisection of its distribution function.
    double low = -10, high = 10;
    for (int step = 0; step < 100; ++step) {
      const double z = (low + high) / 2;
      (std::erfc(-z / std::sqrt(2.0)) / 2 < probability ? low : high) = z;
    }
    return std::max<int64_t>(0, std::llround(mean + high * std::sqrt(mean)));
  }
  double sum = 0;
  int64_t n = -1;
  const auto most = static_cast<int64_t>(mean + 20 * std::sqrt(mean) + 20);
  while (sum < probability && n < most) {
    ++n;
    sum += std::exp(static_cast<double>(n) * std::log(mean) - mean - std::lgamma(static_cast<double>(n) + 1));
  }
  return n;
}

}  // namespace shardscape
