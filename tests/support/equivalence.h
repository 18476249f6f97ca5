// Whether a design computes what one rank would.
#pragma once

#include <string>

#include "support/interpreter.h"

namespace shardscape::test {

// The same step on one rank: all replicas' samples of a microbatch at once, nothing computed again.
Design unsharded(const Design& design);

// Empty when loss, outputs and all gradients of a step equal those of the unsharded run to rounding; else
// what differs.
std::string difference_from_unsharded(const Design& design);

// Empty when sampled gradients of the design equal finite differences of its loss.
std::string difference_from_slopes(const Design& design);

}  // namespace shardscape::test
