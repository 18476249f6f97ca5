// Op kinds and phases, with the names that reports, traces and block templates use.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "mesh/collective_kind.h"

namespace shardscape {

enum class OpKind : uint8_t {
  Einsum,
  Embed,
  PositionAdd,
  RmsNorm,
  LayerNorm,
  UnitNorm,  // without a weight
  // A norm over dimensions that are sharded, in two steps: the sum of squares, then the scaling.
  SquareSum,
  RmsScale,
  Rope,
  Attention,
  IndexTopK,   // the keys that a sparse attention reads
  Compress,    // one key for each block of tokens, a weighted sum
  SplitHeads,  // heads in groups
  SwiGlu,
  GeGlu,
  Gelu,
  Relu2,  // the square of a ReLU
  SoftCap,
  Scale,
  Dropout,
  LoraDropout,
  Add,
  BiasAdd,
  SigmoidGate,
  Concat,
  Contiguous,
  // Another type; a part of a tensor along one dimension.
  Cast,
  Take,
  TakeLayer,  // the part of the layer, of a tensor with a part for every layer
  // Vision towers: neighbouring patches become one token, concatenated or as their mean; tokens of images
  // replace tokens of text, or are added to the tokens at their places; a class token follows the patches of
  // an image; each token gets the patches that a convolution of 3 x 3 patches with stride 2 reads; numbers
  // are kept between two bounds.
  FoldTokens,
  PoolTokens,
  InsertTokens,
  AddTokens,
  AppendToken,
  UnfoldTokens,
  Clip,
  // State-space mixers.
  CausalConv,
  SelectiveScan,
  Ssd,
  GroupRmsNorm,
  // Several residual streams. Repeat: copies of one vector per token. MeanSquare: of all numbers of a token.
  // StreamGate, Sinkhorn: weights of streams from projections. Mix: sums of vectors with weights per token.
  Repeat,
  MeanSquare,
  StreamGate,
  Sinkhorn,
  Mix,
  // Residual blocks. Append: one more vector per token. Accumulate: adds to the last vector.
  Softmax,
  Append,
  Accumulate,
  // Linear attention with a state per head; its decay; gates of single elements.
  LinearScan,
  DecayGate,
  Sigmoid,
  Silu,
  // Vocabulary-parallel loss, in steps.
  ReduceMax,
  SumExp,
  Pick,
  Nll,
  // Mixture of experts: tokens to slots of experts and back.
  Flatten,
  Unflatten,
  SoftmaxTopK,
  SigmoidTopK,
  ScoreTopK,        // the choice by any score
  TableTopK,        // a table says the experts of each token
  ExpertScale,      // weights of experts times a number per expert
  WeighTokens,      // tokens times the weight of their one expert
  IdentityExperts,  // the experts that return their input
  DispatchNodes,
  Dispatch,
  DispatchWeights,  // the weights of the slots, where experts multiply them
  CombineNodes,
  Combine,
  CombineSum,  // without weights
  // Redistributions. RingPass and RingSum redistribute by sends to the next rank of a ring.
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  RingPass,
  RingSum,
  Slice,
  Optimizer,
  Quantize,  // in front of GEMMs of a quantized type
  // Inference. CacheWrite: writes to a cache. LastToken: selects the last token of each prompt, the only one
  // that the head reads.
  CacheWrite,
  LastToken,
  MergeParts,  // attention over parts of a context on several ranks: scales a part by its share of the
               // softmax
  End          // no kind: the end of the list
};
inline constexpr int kOpKindCount = static_cast<int>(OpKind::End);
// Every function of a kind reads the kind's row in op_traits.cpp.
// The name in reports: "matmul", "rms_norm", "all_gather".
std::string_view op_kind_name(OpKind kind);
// The name in block templates and kernel profiles: "einsum". Empty for kinds that only passes insert.
std::string_view template_name(OpKind kind);
// The einsum rule of kernel profiles for router logits, which a code base may compute in another precision.
inline constexpr std::string_view kRouterRule = "router";
// The kind that a block template or a kernel profile names: "einsum", "rms_norm", kRouterRule. Nothing for an
// unknown name.
std::optional<OpKind> op_kind_from_name(std::string_view name);
bool is_collective(OpKind kind);            // moves data between ranks, ring passes and ring sums included
CollectiveKind collective_of(OpKind kind);  // of a collective; the sends of a ring are SendRecv
// RingPass: every block visits every rank. RingSum: the gradient of a block collects summands on its way to
// the block's owner.
bool is_ring(OpKind kind);
bool is_redistribution(OpKind kind);  // collectives and local slices
bool is_routing(OpKind kind);         // tokens to experts and back
bool is_relabelling(OpKind kind);     // other axes for the same elements

// The groups in which reports and charts count FLOPs.
enum class FlopsGroup : uint8_t {
  MatrixProducts,
  Attention,  // and scans
  Activation,
  Embedding,
  Loss,
  Pointwise,
  Optimizer
};
FlopsGroup flops_group(OpKind kind);
// Whether the op belongs to the loss. Memory counts its saved tensors as Logits.
bool is_loss(OpKind kind);

enum class Phase : uint8_t { Forward, Backward, Recompute, Pipeline, GradReduce, ParamGather, Step };
inline constexpr int kPhaseCount = 7;
std::string_view phase_name(Phase phase);  // "forward", "grad_reduce"

}  // namespace shardscape
