// The tensors of a rank that exist during the whole step: parameters, gradients in buffers, states of the
// optimizer, caches.
#pragma once

#include "chakra/rank_program.h"
#include "chakra/sync_lower.h"

namespace shardscape {

// Lets the optimizer, or the last node of a program without one, read these tensors, so that a simulator
// holds them from the start of the step. Bytes of the memory model that no op reads by name, such as
// quantized copies and padding, are one tensor per category.
void add_states(RankProgram& program, const Report& report, const StageReport& stage,
                const SyncLowering& sync);

}  // namespace shardscape
