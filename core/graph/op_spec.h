// The letters of an op: one letter per dimension of every operand and of the result, as in einsum.
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
  // Of attention only: keys after the query, or further back than the window, are masked; scores pass a tanh; scores
  // fall with distance.
  bool causal = false, window = false, soft_cap = false, alibi = false;
  // Of swiglu only, as in gpt-oss: gate at most 7 and its sigmoid of 1.702 times it; the other operand between -7 and 7, plus 1.
  bool clamp = false;
  std::optional<Axis> axis{};   // of take only: what the result's new letter means
  std::string text() const;     // "bsd,dhe->bshe"
  bool plain() const { return !causal && !window && !soft_cap && !alibi && !clamp; }
};

// Nothing when the text is not of the form "ab,bc->ac" (optionally "; causal, window", any of the attention's words, "; clamp", or
// "; ssm_state", the axis of a letter that only the result has). Which letters of the result may be new is up to the kind.
std::optional<OpSpec> parse_op_spec(const std::string& text);

// What the passes must know of a kind of op, whatever its letters.
struct OpTraits {
  int operands;                // how many data and parameter operands it takes; -1: two or more
  bool reduces;                // letters missing from the result are summed (or maximised): they may be sharded
  bool accumulates_max = false;
  bool float_result = false;   // the result is fp32 whatever the precision of activations
  int optional = 0;            // further operands that may be left out: the bias of a layer norm, the sinks of an attention
  std::vector<Axis> makes{};   // meaning of the letters that only the result has, in their order
};
const OpTraits& op_traits(OpKind kind);

// Letters of the result that no operand has.
std::string new_letters(const OpSpec& spec);

// Letters that no rank may hold a part of: normalised dimensions, rotated pairs, keys and head sizes of an attention,
// what is concatenated, the sequence of a scan.
std::string whole_letters(OpKind kind, const OpSpec& spec);

// Of an attention: the last operand with keys in it, forward the values. Behind it may stand only its sinks: a logit per head in
// the denominator of the softmax (gpt-oss, arXiv 2508.10925, section 2.2). The log-sum-exp that flash kernels keep counts it, from
// which their backward makes its gradient, -exp(sink - lse) (dO·O): nothing more is saved.
const std::string& attention_values(const OpSpec& spec);

}  // namespace shardscape
