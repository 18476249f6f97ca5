// The kernels of a part of a layer around its exchanges of experts, and shared experts that run next to them.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "plan/report.h"
#include "plan/stage_program.h"
#include "timing/op_seconds.h"

namespace shardscape {

// How much longer GEMMs and attention take while communication kernels occupy `taken` processors, as a share
// of their seconds: taken / (all - taken). 0: as long.
double slower_share(const Machine& machine, int64_t taken);

// The part of a layer in which an op runs.
Part part_of(const Structure& structure, const Segment& segment, OpId op);

// Seconds before the first exchange (dispatch, or the gradient of combine), of experts, and after the second
// exchange. Parts without exchanges have only the first entry. Weight gradients that run on their own have
// those of experts in the second entry and the others in the third one.
struct ExpertPhases {
  double compute[3]{};   // all kernels
  double gemms[3]{};     // GEMMs and attention among them
  double exchange[2]{};  // dispatch and combine, or their gradients
};
// ops: of the part, in the order of the segment.
ExpertPhases expert_phases(const Segment& segment, const std::vector<OpTime>& times,
                           const std::vector<OpId>& ops, Part part);

// Whether shared experts run on a stream of their own in training.
bool overlaps_shared_experts(const Design& design);
// Shared experts run on a stream of their own (Megatron-core, shared_experts.py): all but their last GEMM
// next to the dispatch, their last GEMM next to the combine, and their gradients next to those of the
// exchanges. Exchange kernels occupy dispatch_sms processors, so the shared experts are slower until the
// exchange ends. Sets the seconds of these kernels to what the compute stream waits for.
void overlap_shared_experts(const Report& report, const Machine& machine, const Segment& segment,
                            std::vector<OpTime>& times);

}  // namespace shardscape
