// The bytes of a checkpoint from which training restarts: parameters in the storage type, float32 copies and
// optimizer states, as the memory model counts them. Gradients and activations are not saved.
#pragma once

#include <vector>

#include "plan/report.h"

namespace shardscape {

struct CheckpointBytes {
  std::vector<double> ranks;  // of one rank of each stage
  double total = 0;           // of the whole checkpoint
  int slowest_stage = 0;      // the stage whose ranks write most
  double slowest() const { return ranks[static_cast<size_t>(slowest_stage)]; }
};

// Of a valid training report. Every parameter is saved once: the ranks that hold replicas write equal parts,
// as Megatron-core's fully parallel save and torch.distributed.checkpoint do. Tensor-parallel ranks that hold
// the same parameter each write it. Bytes of a parameter: 2 in bfloat16, 4 for its float32 copy and 8 for two
// float32 moments, 14 together; the design's types change them. Frozen parameters have no states.
CheckpointBytes checkpoint_bytes(const Report& report);

}  // namespace shardscape
