// The kinds of op and phases; the words that reports and traces print.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace shardscape {

enum class OpKind : uint8_t {
  Einsum, Embed, PositionAdd, RmsNorm, LayerNorm, Rope, Attention, SwiGlu, GeGlu, Gelu, SoftCap, Scale, Dropout, Add,
  BiasAdd,
  ReduceMax, SumExp, Pick, Nll,                              // vocabulary-parallel loss, in pieces
  AllReduce, AllGather, ReduceScatter, AllToAll,             // redistributions
  RingPass, RingSum,                                         // the same by sends to the next rank of a ring
  Slice,
  Optimizer
};
inline constexpr int kOpKindCount = 27;
std::string_view op_kind_name(OpKind kind);  // "matmul", "rms_norm", "all_gather": what reports print
std::string_view template_name(OpKind kind);  // "einsum": what block templates and kernel profiles write
std::optional<OpKind> op_kind_from_name(std::string_view name);  // what block templates write: "einsum", "rms_norm"
bool is_collective(OpKind kind);             // AllReduce .. RingSum
bool is_ring(OpKind kind);                   // RingPass: every block visits every rank; RingSum: summands gather on the way home
bool is_redistribution(OpKind kind);         // collectives and local slices

enum class Phase : uint8_t { Forward, Backward, Recompute, Pipeline, GradReduce, ParamGather, Step };
inline constexpr int kPhaseCount = 7;
std::string_view phase_name(Phase phase);    // "forward", "grad_reduce"

}  // namespace shardscape
