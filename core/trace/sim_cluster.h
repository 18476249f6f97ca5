// The cluster of a job as ASTRA-sim's analytical backends describe one: dimensions of equal building blocks, the first of them
// along neighbouring ranks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/lower.h"

namespace shardscape {

struct SimDimension {
  std::string topology;    // Switch, FullyConnected, Ring
  int64_t ranks = 1;
  double gbps = 0;         // of one link and direction, 10^9 bytes per second; nominal
  double latency_ns = 0;   // of one hop; a message through a switch takes two
  std::string reduction;   // how all-reduces, all-gathers and reduce-scatters run
  std::string all_to_all;
};

struct SimCluster {
  std::vector<SimDimension> dimensions;
  std::vector<std::string> nearest;  // what the simulator cannot express, and what stands for it
};

// flat: in one dimension, as the congestion-aware backend wants it.
SimCluster sim_cluster(const Lowering& lowering, bool flat);

}  // namespace shardscape
