// Segments of one stage in order, with parameters, FLOPs and saved bytes from the graph. Private to
// core/validation.
#pragma once

#include <vector>

#include "graph/chunk_layers.h"
#include "plan/report.h"

namespace shardscape {

// Value of an expression; 0 if a symbol has no number, which does not occur in a valid report.
Wide value_of(const Expr& expr, const Binding& binding);
// Every segment that a microbatch runs in this chunk of the stage, in forward order. Embedding and head count
// as layers that save their activations.
std::vector<ChunkLayer> parts_of_chunk(const Report& report, const StageReport& stage, size_t chunk);

struct SegmentNumbers {
  Wide parameters = 0;  // on this rank
  Wide forward_flops = 0, backward_flops = 0,
       recompute_flops = 0;  // of matrix products and attention per microbatch
  Wide saved = 0;            // bytes saved per microbatch
  // Saved storages: "name for op", where the backward of the op reads the storage, and bytes.
  std::vector<std::pair<std::string, Wide>> storages;
};
// Numbers of one layer (or embedding, or head) under a checkpoint policy.
SegmentNumbers segment_numbers(const Segment& segment, CheckpointPolicy checkpoint_policy,
                               const Binding& binding);

}  // namespace shardscape
