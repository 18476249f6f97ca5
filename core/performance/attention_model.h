// Seconds of a fused attention kernel (Dao, arXiv 2307.08691; Shah et al., arXiv 2407.08608) from its FLOPs
// and bytes, before and after the correction by measurements.
#pragma once

#include "performance/calibration.h"
#include "performance/op_time.h"

namespace shardscape {

// Query-key pairs of one head that the masks leave.
double attended_pairs(const AttentionShape& shape);
// Query-key pairs of one head that fused kernels compute, in tiles of 128 keys that the masks touch.
double computed_pairs(const AttentionShape& shape);
// computed_pairs() as a share of all pairs. 1 if whole rows of scores are stored, because GEMMs over the
// scores skip nothing.
double computed_share(const AttentionShape& shape);
// FLOPs and bytes of the kernel. The backward computes the scores again.
double attention_flops(const AttentionShape& shape);
double attention_bytes(const AttentionShape& shape);

// Seconds with the constants only, and with the measured correction. The corrected time never beats the peak
// or the bandwidth.
double modelled_attention_seconds(const Accelerator& accelerator, const AttentionCalibration& constants,
                                  const AttentionShape& shape);
double calibrated_attention_seconds(const Accelerator& accelerator, const AttentionCalibration& constants,
                                    const AttentionShape& shape);
// The pass of a shape. Few queries over many keys are a Decode pass: the queries of the heads that share keys
// form one tile, and the keys are split over processors (Flash-Decoding, Dao et al. 2023).
AttentionPass attention_pass(const AttentionShape& shape);
// Position of a shape in the correction grid, as base-2 logarithms: keys that a query sees at most, batch
// times heads (KV heads for Decode), mean head dimension.
std::array<double, 3> attention_grid_position(const AttentionShape& shape);

}  // namespace shardscape
