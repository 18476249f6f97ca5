#include "campaign/running_cost.h"

#include <algorithm>

namespace shardscape {

RunningCost running_cost(const ClusterSpec& cluster, int64_t accelerators, double tokens_per_second) {
  constexpr double kTokens = 1e6, kSecondsPerHour = 3600, kWattsPerKilowatt = 1000;
  const Operation site = operation_of(cluster);
  RunningCost out;
  if (!(tokens_per_second > 0)) return out;
  const double hours = static_cast<double>(accelerators) * kTokens / tokens_per_second / kSecondsPerHour;
  if (site.price_per_hour > 0) out.dollars = hours * site.price_per_hour;
  if (site.site_watts() > 0) out.kwh = hours * site.site_watts() / kWattsPerKilowatt;
  return out;
}

std::vector<MissingCost> missing_costs(const std::vector<ClusterSpec>& clusters) {
  std::vector<MissingCost> out;
  const auto add = [&](MissingCost missing) {
    if (std::find(out.begin(), out.end(), missing) == out.end()) out.push_back(std::move(missing));
  };
  for (const ClusterSpec& cluster : clusters) {
    const Operation site = operation_of(cluster);
    if (site.price_per_hour <= 0) add({"price_per_hour", "no price for " + machine_name(cluster)});
    if (site.board_watts <= 0) add({"board_power", "no board power for " + machine_name(cluster)});
  }
  return out;
}

}  // namespace shardscape
