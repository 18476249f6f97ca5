// Logical axes: what a tensor dimension means, and its global size.
#pragma once

#include <optional>
#include <string_view>

#include "symbolic/expr.h"

namespace shardscape {

enum class Axis : uint8_t {
  Batch, Seq, Hidden, Heads, KvHeads, HeadDim, Ffn, Vocab, Positions,
  SsmInner, SsmState, SsmConv, SsmDtRank, SsmProj, SsmGroups, SsmGroupHeads, SsmHeadDim,
  // Latent attention: ranks of the compressed queries and of keys and values; rotated and plain part of a query's or key's
  // head, both together, and the head of a value (DeepSeek-V2, arXiv 2405.04434, section 2.1).
  QRank, KvRank, RopeDim, NopeDim, QkDim, ValueDim,
  TwoHidden,  // two tensors of the stream side by side
  // Mixture of experts: experts, which ep splits; experts as what a router scores, which nothing does; tokens in one row;
  // experts per token; tokens that an expert gets; inner widths; nodes that
  // share the experts, and tokens that a node gets.
  Experts, Routes, Tokens, Choices, Slots, ExpertFfn, SharedFfn, Nodes, NodeSlots,
  One,  // a single number per row: of a gate
  // Of what inference keeps: tokens of a sequence; those that a sliding window leaves; latent and rotated part of a key side by
  // side.
  Context, WindowContext, LatentDim,
  Parts  // of a context that ranks share, one on each
};
inline constexpr int kAxisCount = 38;

std::string_view axis_name(Axis axis);                    // "kv_heads"
std::optional<Axis> axis_from_name(std::string_view name);
// Elements of the whole, unsharded dimension within one microbatch of all replicas: batch is b·dp.
const Expr& axis_size(Axis axis);
// What one token meets of it: as large as the axis, unless tokens are routed.
const Expr& axis_active_size(Axis axis);
// The axis that is as large: that of a concatenation.
std::optional<Axis> axis_of_size(const Expr& size);
// Whether a model that has the blocks may still be without it: queries that are not compressed.
bool may_lack(Axis axis);

// The last four are quantized: elements with their scales. FP8: one scale per tensor (Micikevicius et al., arXiv 2209.05433);
// FP8Block: a float32 per 128 elements (DeepSeek-V3, arXiv 2412.19437, section 3.3.2); MXFP8: an E8M0 byte per 32 (OCP
// Microscaling formats, arXiv 2310.10537); NVFP4: an E4M3 byte per 16 elements of half a byte (arXiv 2509.25149). The scale
// of a whole tensor is not counted.
enum class DType : uint8_t { BF16, FP16, FP32, Int64, Bool, FP8, FP8Block, MXFP8, NVFP4 };
int dtype_bytes(DType type);            // of an element; std::logic_error where that is not whole
const Expr& dtype_size(DType type);     // the same as an expression, scales included: 33/32 of FP8Block
bool is_quantized(DType type);
int64_t quantization_block(DType type); // elements that share a scale; 1 where all or none do
std::string_view dtype_name(DType type);  // "bfloat16"
std::optional<DType> dtype_from_name(std::string_view name);

}  // namespace shardscape
