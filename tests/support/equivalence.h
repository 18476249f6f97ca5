// Tests that a design computes the same result as one rank.
#pragma once

#include <string>

#include "support/interpreter.h"

namespace shardscape::test {

// The same step on one rank: a microbatch contains the samples of all replicas; nothing is recomputed.
Design unsharded(const Design& design);

// Empty if loss, outputs and all gradients of a step equal those of the unsharded run to rounding; otherwise
// the difference. change: a mistake in the graph of the sharded run, which must show.
std::string difference_from_unsharded(const Design& design, const GraphChange& change = {});

// Empty if gradients of the design equal finite differences of its loss; otherwise the parameter that
// differs. samples: at most so many numbers of each parameter.
std::string difference_from_slopes(const Design& design, size_t samples = 5,
                                   const ModelLibrary& library = ModelLibrary::instance());

// Empty if a prefill of `prompt` tokens and the decode of one more compute what the forward of training, and
// a prefill of the longer sequence, compute unsharded; otherwise the difference. decode_cp: ranks of context
// parallelism in decode.
std::string difference_from_longer(Design design, int64_t prompt, int64_t decode_cp);

}  // namespace shardscape::test
