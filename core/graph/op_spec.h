// Op specs: one letter per dimension of every operand and of the result, as in einsum.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/op_kind.h"
#include "model/axis.h"

namespace shardscape {

struct OpSpec {
  std::vector<std::string> in;  // letters of each operand
  std::string out;
  // Attention only. causal: keys after the query are masked. window: keys further back than the window are
  // masked. soft_cap: scores pass a tanh. alibi: scores fall with distance.
  bool causal = false, window = false, soft_cap = false, alibi = false;
  // SwiGLU only, as in gpt-oss: the gate is at most 7 and is multiplied by sigmoid(1.702 · gate); the other
  // operand is limited to [-7, 7], plus 1.
  bool clamp = false;
  std::optional<Axis> axis{};  // take only: axis of the letter that only the result has
  std::string text() const;    // "bsd,dhe->bshe"
  bool plain() const { return !causal && !window && !soft_cap && !alibi && !clamp; }
};

// Reads "ab,bc->ac", optionally followed by "; " and words: causal, window, soft_cap, alibi (attention),
// clamp (swiglu), or the name of an axis such as ssm_state (take). Nothing for any other text. Does not check
// which letters the result may add; that depends on the kind.
std::optional<OpSpec> parse_op_spec(const std::string& text);

// Properties of an op kind that do not depend on its letters.
struct OpTraits {
  int operands;  // number of data and parameter operands; -1: two or more
  // Letters missing from the result are summed (or maximised), so ranks may hold shards of them.
  bool reduces;
  bool accumulates_max = false;
  // The result is float32, whatever the precision of activations.
  bool float_result = false;
  // Number of further optional operands: the bias of a layer norm, the sinks of an attention.
  int optional = 0;
  std::vector<Axis> makes{};  // axes of the letters that only the result has, in order
};
const OpTraits& op_traits(OpKind kind);

// Letters of the result that no operand has.
std::string new_letters(const OpSpec& spec);

// Letters that must not be sharded: normalised dimensions, rotated pairs, keys and head sizes of an
// attention, concatenated dimensions, the sequence of a scan.
std::string whole_letters(OpKind kind, const OpSpec& spec);

// Letters of the values of an attention: the last operand that has keys, in forward and in backward specs.
// Only the sinks may follow: one logit per head in the denominator of the softmax (gpt-oss, arXiv 2508.10925,
// section 2.2). The log-sum-exp that flash kernels save includes the sink. The backward derives the sink's
// gradient from it, -exp(sink - lse) (dO·O), so nothing more is saved.
const std::string& attention_values(const OpSpec& spec);

}  // namespace shardscape
