// Useful (model) FLOPs: FLOPs of the tokens times their top-k experts, not of the expert slots that kernels
// compute. Padded slots do not count, nor slots by which the busiest expert exceeds its even share.
// Assignments that a capacity drops do count, as in Megatron-LM, which knows only the tokens and the top-k
// (num_floating_point_operations in megatron/training/training.py).
#pragma once

#include "graph/graph.h"

namespace shardscape {

// FLOPs with every expert at its even share of the tokens: the slots per expert of a rank, Cx, become Cx ·
// tokens · K / (X · slots), with Xr instead of X where the router also selects experts that compute nothing.
// Expressions without Cx, and segments without experts, stay unchanged. flops: of one rank or of all ranks.
Expr useful_flops_of(const Segment& segment, const Expr& flops);
// Whether model FLOPs count ops of the kind: matrix products and attention, as in Chowdhery et al., arXiv
// 2204.02311, appendix B.
bool has_model_flops(OpKind kind);
// Model FLOPs of a forward op whose kind has model FLOPs, summed over all ranks: 2 per term of the full
// index space, for attention 2 · (size of a key + size of a value) per pair of query and key. Masks do not
// reduce them.
Expr model_flops_of(const Segment& segment, const Op& op);
// Sd, tokens of a document in a packed sequence (Structure::packed).
Expr document_tokens();

}  // namespace shardscape
