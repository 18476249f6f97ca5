// Plays a whole bundle under the simulator's resource rules: one computation and one collective, send or access to remote memory
// at a time per rank, the ready one with the lowest id first, any number of receives; collectives meet by order of issue per
// group, messages by tag, ends and size.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "trace/bundle_traces.h"
#include "trace/findings.h"
#include "trace/sim_network.h"

namespace shardscape {

struct PlayedRank {
  int64_t end = 0;      // ns
  int64_t compute = 0;  // of its compute nodes
};

struct Played {
  bool finished = false;           // every rank ran all its nodes; otherwise findings say which rank waits for what
  std::vector<PlayedRank> ranks;
};

// network: nullptr to play without clocks, where compute nodes may be folded; otherwise the analyses hold every node.
Played play(const BundleTraces& traces, const BundleConfig& config, const SimNetwork* network, Findings& findings, const std::stop_token& stop);

}  // namespace shardscape
