// The machine that an estimate of time is for: an accelerator, how many share a node, and the links between them.
#pragma once

#include <cstdint>

#include "machine/accelerator.h"
#include "machine/network.h"

namespace shardscape {

struct Machine {
  const Accelerator* accelerator = nullptr;
  Network network;
};

}  // namespace shardscape
