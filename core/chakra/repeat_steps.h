// Several equal steps in one trace.
#pragma once

#include <cstdint>

#include "chakra/rank_program.h"

namespace shardscape {

// The program of one step `steps` times, one after the other. A step begins on a rank when all nodes of the
// step before have ended on this rank; ranks do not wait for each other otherwise. The numbers of
// microbatches go on from step to step, so that tags stay distinct: with m microbatches per step, step s has
// s·m to (s + 1)·m - 1. microbatches: per step. Throws LoweringError if tags or the file become too large.
RankProgram repeat_steps(RankProgram program, int64_t steps, int64_t microbatches);

}  // namespace shardscape
