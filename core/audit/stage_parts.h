// What the graph says of the parts of one stage: its segments in order, their parameters, FLOPs and kept bytes.
// Private to core/audit.
#pragma once

#include <vector>

#include "report/report.h"

namespace shardscape {

Wide value_of(const Expr& expr, const Binding& binding);  // 0 where it has none; a valid report has none such
// Index of the segment of every part that a microbatch runs through in this chunk of the stage, in order of forward.
std::vector<int> segments_of_chunk(const Report& report, const StageReport& stage, size_t chunk);

struct SegmentNumbers {
  Wide parameters = 0;                  // on this rank
  Wide forward_flops = 0, backward_flops = 0, recompute_flops = 0;  // matrix products and attention, per microbatch
  Wide saved = 0;                       // bytes kept per microbatch
  std::vector<std::pair<std::string, Wide>> storages;  // what is kept, with the op whose backward needs it
};
SegmentNumbers segment_numbers(const Segment& segment, const Binding& binding);

// Whether recordings count the FLOPs of such an op.
bool is_product(OpKind kind);

}  // namespace shardscape
