// The machine of a time estimate: an accelerator, and the network between accelerators.
#pragma once

#include <memory>

#include <cstdint>
#include <optional>

#include "hardware/accelerator.h"
#include "hardware/network.h"
#include "performance/rank_spread.h"

namespace shardscape {

struct Machine {
  std::shared_ptr<const Accelerator> accelerator;
  Network network;
  // true: the host launches kernels one by one, between other memory traffic, and may be slower than the
  // kernels. false: kernels are replayed from a recorded graph, as inference engines do, and take the times
  // of the isolated loops on which tables were measured.
  bool training = true;
  // Training: KernelProfile::slowdown of the code base.
  double code_base_factor = 1;
  // Link to the host's memory, 10^9 bytes per second and direction: PCI Express 5.0, 16 lanes.
  double host_gbps = 63;
  // Training: microseconds that the host needs to launch an op of the code base. No value: that of the
  // accelerator's tables.
  std::optional<double> host_launch_us = {};
  // Training: how unequally fast ranks compute, and the expected compute time of the slowest rank / that of
  // the mean rank. A step waits for the slowest rank, so kernels take this factor.
  RankSpread spread{};
  double slowest_rank = 1;
};

}  // namespace shardscape
