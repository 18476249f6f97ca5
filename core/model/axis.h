// Logical axes name the meaning of tensor dimensions and give their global sizes. This header also defines
// the data types of tensors.
#pragma once

#include <optional>
#include <string_view>

#include "symbolic/expr.h"
#include "symbolic/symbol_scope.h"

namespace shardscape {

enum class Axis : uint8_t {
  Batch,
  Seq,
  Hidden,
  Heads,
  KvHeads,
  HeadDim,
  Ffn,
  Vocab,
  Positions,
  // Vision towers. Images and ImageTokens: images of a microbatch, and the tokens that the language model
  // reads of one image. PatchInputs: numbers of one patch of an image. VisionHidden: the tower's hidden size.
  // Merged: the hidden sizes of the patches that make one token, concatenated. ProjectorFfn: inner width of a
  // projector. MergedHidden: the hidden sizes of the language model, concatenated in the same way.
  // ProjectorWidth and ProjectorOut: inner width of a projector that says its width. Patches: patches of an
  // image without the class token of the tower. QuarterTokens, DoubledChannels and QuadrupledChannels: tokens
  // after the first of two convolutions with stride 2, channels after the first and the second. ConvTaps:
  // patches that such a convolution reads. ClipBounds: smallest and largest number.
  Images,
  ImageTokens,
  PatchInputs,
  VisionHidden,
  Merged,
  ProjectorFfn,
  MergedHidden,
  ProjectorWidth,
  ProjectorOut,
  Patches,
  QuarterTokens,
  DoubledChannels,
  QuadrupledChannels,
  ConvTaps,
  ClipBounds,
  SsmInner,
  SsmState,
  SsmConv,
  SsmDtRank,
  SsmProj,
  SsmGroups,
  SsmGroupHeads,
  SsmHeadDim,
  SsmConvState,  // inputs that a convolution stores for the next token
  // Linear attention with a state per head. With a delta rule, LinearGroupHeads value heads share queries and
  // keys. With a fixed decay, all heads are in groups that share a norm. LinearChunk: tokens of a chunk of
  // the scan. GateRank: rank of the projections to decay and output gate.
  LinearKeyHeads,
  LinearGroupHeads,
  LinearNormGroups,
  LinearNormHeads,
  LinearKeyDim,
  LinearValueDim,
  LinearConv,
  LinearConvState,
  LinearChunk,
  GateRank,
  // Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1). QRank and KvRank: compressed
  // queries, compressed keys and values. RopeDim and NopeDim: the part of a query or key head with and
  // without rotary embedding. QkDim: both parts together. ValueDim: a head of a value.
  QRank,
  KvRank,
  RopeDim,
  NopeDim,
  QkDim,
  ValueDim,
  // Sparse attention. IndexHeads: heads of an indexer. IndexDim: an index key, or one head of an index query;
  // IndexNopeDim: its part without rotary embedding. Picked: the keys, or blocks of keys, that a query reads.
  IndexHeads,
  IndexDim,
  IndexNopeDim,
  Picked,
  // Compressed keys (DeepSeek-V4, arXiv 2606.19348). CompressRatio: tokens of a block, which one key stands
  // for. TwoRatios: tokens of two blocks. Halves: the part of a projection for the key of the next block, and
  // the part for that of the own block. Compressed: the keys of a sequence, or the key of a decoded token.
  // CompressedContext: keys in a cache.
  CompressRatio,
  TwoRatios,
  Halves,
  Compressed,
  CompressedContext,
  // Output projection of heads in groups: groups, heads of a group, width to which a group is projected.
  OutputGroups,
  GroupHeads,
  OutputRank,
  TwoHidden,  // two hidden-size tensors, concatenated
  // Per-layer inputs (Gemma 4). PerLayer: width of the input of one layer. ModelLayers: the layers of the
  // model.
  PerLayer,
  ModelLayers,
  // Hyper-connections. Streams: residual streams. StreamMix: the projections from which a sublayer computes
  // its weights of streams.
  Streams,
  StreamMix,
  // Attention residuals. ResidualBlocks: vectors per token in the residual stream, the sums of earlier blocks
  // of layers and of the current block. GrownBlocks: one more.
  ResidualBlocks,
  GrownBlocks,
  // Mixture of experts. Experts: sharded over ep. Routes: the experts as scored by the router, never sharded.
  // Tokens: batch and sequence flattened. Choices: experts per token. Slots: tokens per expert. ExpertFfn and
  // SharedFfn: inner widths. LatentWidth: width of tokens at experts that compute in a latent width.
  // AllRoutes: Routes and the experts that compute nothing. Nodes: nodes that share the experts. NodeSlots:
  // tokens that arrive at a node.
  Experts,
  Routes,
  Tokens,
  Choices,
  Slots,
  ExpertFfn,
  SharedFfn,
  LatentWidth,
  AllRoutes,
  Nodes,
  NodeSlots,
  LoraRank,  // rank of the adapters of LoRA
  One,       // one number per row, such as a gate
  // Caches of inference. Context: tokens of a sequence. WindowContext: tokens inside a sliding window.
  // ChunkContext: tokens of a chunk.
  // LatentDim: the latent and the rotary part of a key, concatenated.
  Context,
  WindowContext,
  ChunkContext,
  LatentDim,
  Parts  // parts of a context that ranks share, one part per rank
};
inline constexpr int kAxisCount = static_cast<int>(Axis::Parts) + 1;

std::string_view axis_name(Axis axis);  // "kv_heads"
std::optional<Axis> axis_from_name(std::string_view name);
// Elements of the unsharded dimension in one microbatch of all replicas. For example, Batch is b·dp.
const Expr& axis_size(Axis axis);
// Elements of the dimension that take part in the computation of one token: K instead of X for Experts,
// otherwise axis_size().
const Expr& axis_size_per_token(Axis axis);
// The first axis with this size in a scope, for the result of a concatenation; nullopt if there is none.
std::optional<Axis> axis_of_size(const Expr& size, const SymbolScope& scope);
// Whether the axis counts the tokens in a cache.
constexpr bool is_context(Axis axis) {
  return axis == Axis::Context || axis == Axis::WindowContext || axis == Axis::ChunkContext ||
         axis == Axis::CompressedContext;
}
// Whether the axis counts keys that stand for blocks of tokens.
constexpr bool is_compressed(Axis axis) {
  return axis == Axis::Compressed || axis == Axis::CompressedContext;
}
// Whether a model with such blocks may omit the axis: true for QRank, because queries may be uncompressed.
bool is_optional_axis(Axis axis);

// FP8 and the four types after it are quantized: elements plus scales. FP8: one scale per tensor
// (Micikevicius et al., arXiv 2209.05433). FP8Block: a float32 scale per 128 elements (DeepSeek-V3, arXiv
// 2412.19437, section 3.3.2). MXFP8: an E8M0 byte per 32 elements (OCP Microscaling formats, arXiv
// 2310.10537). NVFP4: an E4M3 byte per 16 elements of half a byte (arXiv 2509.25149). Per-tensor scales are
// not counted. Int8: one scale per row of the inputs and per column of the weights, which is not counted
// (google/aqt, as MaxText's quantization: int8). The types after
// Int8 are those of stored weights only: FP8Block2D and FP8BlockE8M0 have a float32 scale or an E8M0 byte per
// 128 x 128 elements, MXFP4 has an E8M0 byte per 32 elements of half a byte, the integers of half a byte have
// a 16-bit scale per 32 or 128 elements. FP8Entry is a type of caches only: an entry of 512 elements has 448
// in FP8 with 8 bytes of scales, and 64 rotated ones in 16 bits (fp8_ds_mla of DeepSeek-V4 in vLLM, 584
// bytes). E5M6 is a type of saved activations only: 12 bits, and a float32 scale per 128 elements
// (DeepSeek-V3, section 3.3.3; the paper does not give the type of the scale). Int8Block is a type of
// optimizer moments only: a byte, and a float32 scale per 256 elements (Dettmers et al., arXiv 2110.02861;
// blocks of 256 since bitsandbytes 0.44). NF4 and NF4Double are types of frozen
// weights only (QLoRA, Dettmers et al., arXiv 2305.14314, sections 3 and 4; bitsandbytes functional.py,
// quantize_4bit): half a byte, and a float32 scale per 64 elements, or with double quantization a byte of
// scale per 64 elements and a float32 scale per 256 of these bytes.
enum class DType : uint8_t {
  BF16,
  FP16,
  FP32,
  Int64,
  Int32,
  Bool,
  FP8,
  FP8Block,
  MXFP8,
  NVFP4,
  Int8,
  FP8Block2D,
  FP8BlockE8M0,
  MXFP4,
  Int4G32,
  Int4G128,
  FP8Entry,
  E5M6,
  Int8Block,
  NF4,
  NF4Double
};
inline constexpr int kDTypeCount = static_cast<int>(DType::NF4Double) + 1;
int dtype_bytes(DType type);         // bytes per element; std::logic_error for types with scales
const Expr& dtype_size(DType type);  // bytes per element, scales included: 33/32 for FP8Block
// Bytes of so many consecutive elements, scales included, rounded up.
int64_t storage_bytes(DType type, int64_t elements);
bool is_quantized(DType type);
bool is_integer(DType type);             // Int64, Int32, Bool
bool is_arithmetic(DType type);          // whether matrix products run in the type
int64_t quantization_block(DType type);  // elements per scale, along the contraction; 1 without blocks
// How a type stores a matrix: bits of an element, elements that share a scale along the inputs and along the
// outputs, and the bits of a scale. Without scales, the three numbers of the scale are 1, 1 and 0.
struct ElementFormat {
  int64_t bits, inputs, outputs, scale_bits;
};
ElementFormat element_format(DType type);
std::string_view dtype_name(DType type);  // "bfloat16"
std::optional<DType> dtype_from_name(std::string_view name);

}  // namespace shardscape
