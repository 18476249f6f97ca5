// The memory that a simulator sees when it follows the tensors of a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chakra/rank_program.h"

namespace shardscape {

struct TrackedMemory {
  int64_t peak = 0;      // bytes
  uint32_t at = 0;       // node id at the peak
  int64_t at_start = 0;  // bytes of tensors that exist before the first node
  // Tensors that no node reads. A simulator holds them to the end.
  std::vector<std::string> unread;
  std::vector<std::string> written_twice;
};

// Follows the tensors of a program that was lowered with tensors, as ASTRA-sim does with track-local-mem
// (astra-sim/workload/LocalMemUsageTracker.cc @518bd51), for nodes that run one after the other in program
// order. A tensor exists from the start of the node that writes it, or from the start of the step, to the end
// of the last node that reads it.
TrackedMemory track_memory(const RankProgram& program);

}  // namespace shardscape
