// Dollars and energy of a million tokens, training or inference, while the job runs without interruptions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "design/cluster.h"

namespace shardscape {

struct RunningCost {
  std::optional<double> dollars;  // of a million tokens; nothing: the price is not known
  std::optional<double> kwh;      // of a million tokens; nothing: the power is not known
};

// dollars = price of an hour · accelerators / (tokens per hour) · 10^6. Energy takes the power that the site
// draws (Operation::site_watts) instead of the price: boards at their limit, hosts and PUE. A node of 8 H100
// takes 8.4 kW in training, its boards at their limit 5.6 kW (arXiv 2412.08602).
RunningCost running_cost(const ClusterSpec& cluster, int64_t accelerators, double tokens_per_second);

// A value that a cost needs and that neither the knobs nor the catalogue have.
struct MissingCost {
  std::string knob;  // sets the value: "price_per_hour" for dollars, "board_power" for energy
  std::string what;  // "no price for NVIDIA B300 HGX 270 GB"
  friend bool operator==(const MissingCost&, const MissingCost&) = default;
};
// Of all clusters, each value once.
std::vector<MissingCost> missing_costs(const std::vector<ClusterSpec>& clusters);

}  // namespace shardscape
