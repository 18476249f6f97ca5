// The memory of this computer that a report of a whole step takes.
#pragma once

#include <optional>

#include "base/problem.h"
#include "base/wide.h"
#include "design/design.h"

namespace shardscape {

// Bytes that the simulation stores per pass of a layer and microbatch (timing/timeline.h,
// timing/simulation.h), with the growth of the lists; and what the replay of the allocator adds for each
// microbatch whose forward has run but whose backward has not.
inline constexpr int64_t kBytesOfPass = 240, kBytesOfWaitingPass = 260;
// Bytes that the simulation of the step takes at most. The design is valid.
Wide step_memory(const Design& design);
// A Problem if the computer has less: the batch has too many microbatches.
std::optional<Problem> step_memory_short(const Design& design);

}  // namespace shardscape
