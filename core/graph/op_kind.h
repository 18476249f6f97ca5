// The kinds of op and phases; the words that reports and traces print.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace shardscape {

enum class OpKind : uint8_t {
  Einsum, Embed, PositionAdd, RmsNorm, LayerNorm, Rope, Attention, SwiGlu, GeGlu, Gelu, SoftCap, Scale, Dropout, Add,
  BiasAdd, SigmoidGate,
  Concat, Contiguous,
  Cast, Take, CausalConv, SelectiveScan, Ssd, GroupRmsNorm,   // another type; a part of a tensor; state-space mixers
  ReduceMax, SumExp, Pick, Nll,                              // vocabulary-parallel loss, in pieces
  Flatten, Unflatten, SoftmaxTopK, SigmoidTopK, DispatchNodes, Dispatch, CombineNodes, Combine,  // mixture of experts: tokens to slots and back
  AllReduce, AllGather, ReduceScatter, AllToAll,             // redistributions
  RingPass, RingSum,                                         // the same by sends to the next rank of a ring
  Slice,
  Optimizer,
  Quantize,                                                  // in front of matrix products in fewer bits
  CacheWrite, LastToken,                                     // inference: what attention keeps; of a prompt only the last token has a successor
  MergeParts                                                 // attention to parts of a context, each on another rank
};
inline constexpr int kOpKindCount = 48;
std::string_view op_kind_name(OpKind kind);  // "matmul", "rms_norm", "all_gather": what reports print
std::string_view template_name(OpKind kind);  // "einsum": what block templates and kernel profiles write
// An einsum that profiles have a rule of its own for: logits of a router that works in another precision.
inline constexpr std::string_view kRouterRule = "router";
std::optional<OpKind> op_kind_from_name(std::string_view name);  // what block templates write: "einsum", "rms_norm"
bool is_collective(OpKind kind);             // AllReduce .. RingSum
bool is_ring(OpKind kind);                   // RingPass: every block visits every rank; RingSum: summands gather on the way home
bool is_redistribution(OpKind kind);         // collectives and local slices
bool is_routing(OpKind kind);                // Flatten .. Combine
bool is_relabelling(OpKind kind);            // Flatten and Unflatten: another name for the same elements

enum class Phase : uint8_t { Forward, Backward, Recompute, Pipeline, GradReduce, ParamGather, Step };
inline constexpr int kPhaseCount = 7;
std::string_view phase_name(Phase phase);    // "forward", "grad_reduce"

}  // namespace shardscape
