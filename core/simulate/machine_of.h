// The machine that a design runs on, from its cluster.
#pragma once

#include "design/design.h"
#include "machine/machine.h"

namespace shardscape {

// Of a valid design.
Machine machine_of(const Design& design);

}  // namespace shardscape
