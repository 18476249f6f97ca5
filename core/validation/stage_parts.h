// What the graph says of the parts of one stage: its segments in order, their parameters, FLOPs and kept
// bytes. Private to core/audit.
#pragma once

#include <vector>

#include "graph/chunk_layers.h"
#include "plan/report.h"

namespace shardscape {

Wide value_of(const Expr& expr, const Binding& binding);  // 0 where it has none; a valid report has none such
// Every part that a microbatch runs through in this chunk of the stage, in order of forward; the ends as
// layers that keep their activations.
std::vector<ChunkLayer> parts_of_chunk(const Report& report, const StageReport& stage, size_t chunk);

struct SegmentNumbers {
  Wide parameters = 0;  // on this rank
  Wide forward_flops = 0, backward_flops = 0,
       recompute_flops = 0;                            // matrix products and attention, per microbatch
  Wide saved = 0;                                      // bytes kept per microbatch
  std::vector<std::pair<std::string, Wide>> storages;  // what is kept, with the op whose backward needs it
};
// Of a segment that keeps this much of its forward.
SegmentNumbers segment_numbers(const Segment& segment, CheckpointPolicy checkpoint_policy,
                               const Binding& binding);

// Whether recordings count the FLOPs of such an op.
bool is_product(OpKind kind);

}  // namespace shardscape
