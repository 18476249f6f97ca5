// Logical axes: what a tensor dimension means, and its global size.
#pragma once

#include <optional>
#include <string_view>

#include "symbolic/expr.h"

namespace shardscape {

enum class Axis : uint8_t {
  Batch, Seq, Hidden, Heads, KvHeads, HeadDim, Ffn, Vocab, Positions,
  SsmInner, SsmState, SsmConv, SsmDtRank, SsmProj, SsmGroups, SsmGroupHeads, SsmHeadDim
};
inline constexpr int kAxisCount = 17;

std::string_view axis_name(Axis axis);                    // "kv_heads"
std::optional<Axis> axis_from_name(std::string_view name);
// Elements of the whole, unsharded dimension within one microbatch of all replicas: batch is b·dp.
const Expr& axis_size(Axis axis);

enum class DType : uint8_t { BF16, FP16, FP32, Int64, Bool };
int dtype_bytes(DType type);
std::string_view dtype_name(DType type);  // "bfloat16"
std::optional<DType> dtype_from_name(std::string_view name);

}  // namespace shardscape
