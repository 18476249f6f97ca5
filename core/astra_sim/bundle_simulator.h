// Simulates a whole bundle under the resource rules of ASTRA-sim. A rank runs one computation at a time, and
// one collective, send or access to remote memory at a time; receives are unlimited. The ready node with the
// lowest id runs first. Collectives meet by order of issue per group; messages match by tag, ends and size.
// In a collective without a group, all ranks must have begun the same number of streams before.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "astra_sim/bundle_traces.h"
#include "astra_sim/sim_network.h"
#include "chakra/findings.h"

namespace shardscape {

struct SimulatedRank {
  int64_t end = 0;      // ns
  int64_t compute = 0;  // ns of its compute nodes
};

struct BundleSimulation {
  // Every rank ran all its nodes. Otherwise findings state which rank waits for which node.
  bool finished = false;
  std::vector<SimulatedRank> ranks;
};

// A node that ran. A receive begins when its dependencies are done.
struct SimulatedSpan {
  int64_t rank = 0;
  uint64_t node = 0;  // id
  chakra::NodeType type = chakra::NodeType::Invalid;
  int64_t begin = 0, end = 0;  // ns
};
using SpanVisit = std::function<void(const SimulatedSpan&)>;

// network: null simulates without times, and the analyses may be folded. With a network, the analyses must
// contain every node. visit: called for each node of a simulation with times, in the order of their ends.
BundleSimulation simulate_traces(const BundleTraces& traces, const BundleConfig& config,
                                 const SimNetwork* network, Findings& findings, const std::stop_token& stop,
                                 const SpanVisit& visit = {});

}  // namespace shardscape
