#include "performance/reached_experts.h"

#include <algorithm>
#include <cmath>

namespace shardscape {

double reached_experts(double tokens, int64_t experts, int64_t chosen, int64_t local) {
  const auto all = static_cast<double>(experts), own = static_cast<double>(local);
  const double missed = std::pow(std::max(0.0, 1 - static_cast<double>(chosen) / all), tokens);
  const double hit = 1 - missed, ranks = all / own;
  double out = own * hit;
  if (ranks > 1 && missed > 0) {
    double probability = std::pow(missed, own), below = 0;  // of exactly j, of at most j experts
    out = 0;
    for (int64_t j = 0; j < local; ++j) {
      below = std::min(1.0, below + probability);
      out += 1 - std::pow(below, ranks);
      probability *= static_cast<double>(local - j) / static_cast<double>(j + 1) * hit / missed;
    }
  }
  return std::clamp(out, 1.0, own);
}

}  // namespace shardscape
