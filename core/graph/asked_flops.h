// FLOPs that the model asks for, as against those of the slots that routing computes: of tokens times top-k. Slots that a capacity fills up
// are not in it, nor what the busiest expert gets beyond its share; assignments that a capacity drops are, as in Megatron-LM's count, which
// knows the tokens and the top-k alone (num_floating_point_operations in megatron/training/training.py).
#pragma once

#include "graph/graph.h"

namespace shardscape {

// FLOPs of a rank, or of all of them, where every expert has its even share of the tokens. Themselves where slots are an even share already.
Expr asked_flops(const Segment& segment, const Expr& flops);
// Of a forward product or attention, all ranks together: two for each term of the product, no mask spares any.
Expr asked_by_model(const Segment& segment, const Op& op);

}  // namespace shardscape
