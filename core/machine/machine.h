// The machine that an estimate of time is for: an accelerator, how many share a node, and the links between them.
#pragma once

#include <cstdint>

#include "machine/accelerator.h"
#include "machine/network.h"

namespace shardscape {

struct Machine {
  const Accelerator* accelerator = nullptr;
  Network network;
  // Kernels launched one by one in between others' memory traffic, by a host that may be slower than they are; otherwise replayed from a
  // recorded graph, as inference engines do: then as fast as isolated loops, on which the tables were measured.
  bool training = true;
  double host_gbps = 63;  // to and from the host's memory, 10^9 bytes per second and direction: PCI Express 5.0, 16 lanes
};

}  // namespace shardscape
