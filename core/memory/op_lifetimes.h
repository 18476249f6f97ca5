// The storages that each op of a part of a segment allocates and frees: SegmentEvents by op. For traces,
// whose simulators follow tensors from the node that writes them to the last node that reads them.
#pragma once

#include <vector>

#include "memory/segment_memory.h"

namespace shardscape {

struct OpLifetimes {
  struct Change {
    OpId op = -1;
    StorageId storage = -1;
  };
  std::vector<StorageId> begin;          // allocated before the first op
  std::vector<Change> allocated, freed;  // in order of the ops; without workspaces
  StorageId takes = -1, gives = -1;      // as SegmentEvents
};

// part: Forward, ReplayInGroup, Backward or InputBackward. Storages without bytes are left out.
OpLifetimes op_lifetimes(const SegmentLifetimes& lifetimes, int segment, CheckpointPolicy checkpoint_policy,
                         const SegmentSizes& sizes, SegmentLifetimes::Part part);

}  // namespace shardscape
