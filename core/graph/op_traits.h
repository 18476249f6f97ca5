// Properties of op kinds: one row per kind in op_traits.cpp. Passes test these properties and not the kind.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "graph/op_attributes.h"
#include "graph/op_kind.h"
#include "model/axis.h"

namespace shardscape {

// The attributes that ops of a kind have (op_attributes.h), and whether kinds are placed by the same rules.
enum class OpFamily : uint8_t {
  Plain,
  Rope,
  Attention,  // operands are queries, keys, values, then compressed keys, picked keys and sinks, if any
  Index,      // operands are queries, keys, and weights of the heads if the scores of heads are added
  SwiGlu,
  StreamGate,
  Router,
  LinearScan,  // operands are queries, keys, values, and decays and betas unless the decay is fixed
  DecayGate,
  Redistribution  // collectives and local slices
};

// Mixture of experts, tokens to slots of experts and back: the layout of the operands and of the result. The
// dispatcher places each layout (routing.cpp). Slots per node exist where tokens are sent once per node.
enum class RoutingRule : uint8_t {
  StreamToTokens,
  TokensToStream,
  Tokens,         // operands and result belong to tokens, for example choices of experts
  TokensToNodes,  // operands belong to tokens, the result has slots per node
  ToExperts,      // tokens or slots per node to slots per expert
  FromExperts,    // operand 0 has slots per expert, the result belongs to tokens or slots per node
  NodesToTokens
};

// Letters that the result of an op may lack.
enum class DroppedLetters : uint8_t {
  None,
  Any,
  FirstOfSecond,  // operand 1 is a table: its first letter counts the rows
  LastOfSecond    // operand 1 has one number per row: its last letter
};

// Letters that must not be sharded (whole_letters in op_spec.h).
enum class WholeLetters : uint8_t {
  None,
  LastOperand,       // normalised dimensions: all letters of the last operand, the norm's parameter
  InsideGroups,      // as LastOperand, without the first letter, which counts independent groups or images
  LastOfFirst,       // rotated pairs: the last letter of operand 0
  LastOfEach,        // concatenated dimensions: the last letter of every operand
  KeysAndHeadSizes,  // attention: keys, and the last letter of every operand
  KeysAndSums,       // index_top_k: keys, and the letters of operand 0 that the result lacks
  Sequence,          // a recurrence along the sequence: the second letter of operand 0
  Cut                // the letter of operand 0 from which a part is taken
};

// How a pass computes the gradients of the operands (differentiate.cpp).
enum class GradientRule : uint8_t {
  None,             // no gradient, or another op makes the gradient
  OneKernel,        // one kernel makes the gradients of all operands
  Identity,         // every operand gets the gradient of the result
  StraightThrough,  // quantization: as Identity, without a cast
  Contraction,      // the gradient of an einsum is two einsums
  ToParameter,      // operand 0 gets the gradient; the parameter gets the sum over the letters that it lacks
  Lookup,           // a table: rows of the gradient are added to the rows of the tokens
  Part,             // zero outside the part
  LastVector,       // operand 0 gets the gradient, operand 1 its last vector
  Routing,          // placements of the operands; Partial along axes over which an operand is summed
  Redistribution    // identity between two placements
};

// How counted FLOPs follow from shapes (passes/count.cpp). The first five are FLOPs per element from the
// kernel profile, times a number of elements.
enum class FlopsRule : uint8_t {
  Letters,     // index space of the forward op
  OwnLetters,  // index space of this op: its operands may have other placements than those of the forward op
  Result,      // result of the forward op: only the rows of the tokens are touched
  FirstOperand,  // operand 0 of the forward op
  SecondOperand,
  None,  // no arithmetic
  Contraction,
  Attention,
  IndexScores,  // index_top_k: products of queries and keys
  Scan,         // SSD in chunks
  LinearScan,
  Sum,
  Merge,
  Quantize
};

// Which bytes an op reads and writes (passes/count.cpp).
enum class BytesRule : uint8_t {
  Tensors,       // every operand and every result once
  LookedUpRows,  // of a table, one row per token; the gradient adds to these rows
  PositionRows,  // of a table, one row per position
  QuantizedCopies,
  CacheWrite,
  LastToken,  // one token per sequence
  LastVector  // of a list of vectors; the others stay where they are
};

// How seconds follow from shapes and bytes (core/timing/compiled_ops.cpp). Seconds of collectives follow from
// the cluster.
enum class TimeRule : uint8_t {
  Bytes,      // bound by memory bandwidth
  ScanBytes,  // as Bytes, counted with attention
  MatrixProduct,
  Attention,
  Index,   // scores as an attention without values computes them, and a top-k
  Scan,    // chunks by GEMMs; in decode as ScanBytes
  Routing  // tokens to slots of experts and back
};

// Where a mixer op runs under cp.
enum class MixerSpace : uint8_t {
  None,         // no op of a mixer, or an op of single tokens
  SomeHeads,    // convolution, scan and decay: the whole sequence of some of the heads
  WholeGroups,  // norm over the heads of a group: all heads, where cp splits the sequence
};

// What a mixer op leaves for the next token in inference.
enum class StateRule : uint8_t {
  None,
  LastInputs,  // of a convolution: one token fewer than taps, in the type of activations
  Scan,        // in the type that the workload sets
  LastBlocks   // of a compression: operands 0 and 1 of the tokens of a block, in float32
};

struct OpTraits {
  OpKind kind;
  std::string_view name, template_name{};  // op_kind_name, template_name
  OpFamily family = OpFamily::Plain;
  FlopsGroup group = FlopsGroup::Pointwise;
  GradientRule gradient = GradientRule::OneKernel;
  FlopsRule flops = FlopsRule::Letters;
  BytesRule bytes = BytesRule::Tensors;
  TimeRule time = TimeRule::Bytes;
  // Kinds of block templates: number of data and parameter operands; -1: two or more. optional: number of
  // further operands, such as the bias of a layer norm or the sinks of an attention.
  int operands = 0, optional = 0;
  DroppedLetters drops = DroppedLetters::None;
  std::span<const Axis> makes{};  // axes of the letters that only the result has, in order
  WholeLetters whole = WholeLetters::None;
  std::optional<CollectiveKind> collective{};
  std::optional<RoutingRule> routing{};
  MixerSpace mixer = MixerSpace::None;
  StateRule state = StateRule::None;
  int state_operand = -1;  // the operand whose last dimension is that of the state
  const char* chunk = "";  // a scan in chunks: symbol of the tokens of a chunk
  // Missing letters are maximised instead of summed. The maximum is a constant for the gradient.
  bool accumulates_max = false;
  bool float_result = false;    // the result is float32, whatever the type of activations
  bool integer_result = false;  // the result has positions, as int64, and no gradient
  bool wide_result = false;     // the result has the type of its widest operand
  bool keeps_type = false;      // the result has the type of operand 0
  bool relabels = false;        // other axes for the same elements
  bool sends_tokens = false;    // operand 1 has the tokens; the result has their type
  // Of slots of experts: a further last operand, the weights of the slots, may multiply the result of an
  // activation, or the bias.
  bool weighs_slots = false;
  // Position of a letter of operand 0 and of one of the result that are placed alike: keys with the tokens of
  // their blocks, groups with their heads.
  int placed_alike = -1;
  int choices_operand = -1;  // has choices of experts without a gradient; -1: weights have gradients
  // Reads the whole sequence of the rank's part of cp, although sequence parallelism splits the residual
  // stream. A key that all heads share is gathered before its rotation.
  bool inner_sequence = false;
  bool reads_logits = false;     // a step of the loss: the last letter of operand 0 is the vocabulary
  bool decides_first = false;    // consumers redistribute their other operands to the placement of the result
  bool passes_decision = false;  // the result decides first if operand 0 does: a norm behind a scan
  bool one_batch = false;        // the first letters of all operands count the same sequences
  // A sum over heads. Ranks that hold copies of a KV head each contribute their share of the head's sum, so
  // that all ranks of tp add one number (as vLLM's MiniMaxText01RMSNormTP does).
  bool shares_copied_heads = false;
  // The backward is linear in the gradient and accepts a Partial gradient; its result is reduced instead.
  bool accepts_partial_gradient = false;
};
const OpTraits& op_traits(OpKind kind);
// Attributes of the kind's family, with their defaults.
OpAttributes default_attributes(OpKind kind);

}  // namespace shardscape
