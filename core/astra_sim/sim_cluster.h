// The cluster of a job in the terms of ASTRA-sim's analytical backends: nested dimensions. The first
// dimension connects neighbouring ranks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "chakra/lower.h"

namespace shardscape {

struct SimDimension {
  std::string topology;  // Switch, FullyConnected, Ring
  int64_t ranks = 1;
  // Nominal rate of one link in one direction, 10^9 bytes per second.
  double gbps = 0;
  double latency_ns = 0;  // one hop; a message through a switch takes two
  std::string reduction;  // algorithm of all-reduces, all-gathers and reduce-scatters
  std::string all_to_all;
};

struct SimCluster {
  std::vector<SimDimension> dimensions;
  // Properties of the cluster that the simulator cannot express, each with the description written instead.
  std::vector<std::string> substitutions;
};

// flat: one dimension, which the congestion-aware backend requires.
SimCluster sim_cluster(const Lowering& lowering, bool flat);

}  // namespace shardscape
