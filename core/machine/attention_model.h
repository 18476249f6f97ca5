// Time of fused attention (Dao, arXiv 2307.08691; Shah et al., arXiv 2407.08608) from its work, before what was measured corrects it.
#pragma once

#include "machine/calibration.h"
#include "machine/op_time.h"

namespace shardscape {

// Pairs of query and key that the masks leave, of one head.
double attended_pairs(const AttentionShape& shape);
// Those that fused kernels compute: of tiles of 128 keys that the masks touch.
double computed_pairs(const AttentionShape& shape);
// Of all pairs: 1 where whole rows of scores are kept, as products over them skip nothing.
double computed_share(const AttentionShape& shape);
// FLOPs of what kernels compute; backward makes the scores again.
double attention_flops(const AttentionShape& shape);
double attention_bytes(const AttentionShape& shape);

double modelled_attention_seconds(const Accelerator& accelerator, const AttentionCalibration& constants, const AttentionShape& shape);
double calibrated_attention_seconds(const Accelerator& accelerator, const AttentionCalibration& constants, const AttentionShape& shape);
// A few queries over many keys, as where tokens are generated one by one: the queries of the heads that share keys make up a
// tile, and the keys are split over processors (Flash-Decoding, Dao et al. 2023).
AttentionPass attention_pass(const AttentionShape& shape);
// Where the correction of a shape stands in the grid: keys that a query meets at most, batch times heads, mean head dimension.
std::array<double, 3> attention_place(const AttentionShape& shape);

}  // namespace shardscape
