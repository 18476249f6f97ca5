// Op specs: one letter per dimension of every operand and of the result, as in einsum.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/op_attributes.h"
#include "graph/op_kind.h"
#include "model/axis.h"

namespace shardscape {

struct OpSpec {
  std::vector<std::string> in;  // letters of each operand
  std::string out;
  OpAttributes attributes{};   // as the words after the letters say; monostate without words
  std::optional<Axis> axis{};  // take only: axis of the letter that only the result has
  std::string text() const;    // letters and axis: "bsd,dhe->bshe"
};

// Reads "ab,bc->ac", optionally followed by "; " and words: the flags of set_attribute, or the name of an
// axis such as ssm_state (take). Nothing for any other text. Does not check which letters the result may add;
// that depends on the kind.
std::optional<OpSpec> parse_op_spec(const std::string& text);

// Letters of the result that no operand has.
std::string new_letters(const OpSpec& spec);

// Letters that must not be sharded (WholeLetters in op_traits.h).
std::string whole_letters(OpKind kind, const OpSpec& spec);

// Letters of the values of an attention: the last operand that has keys of tokens, in forward and in backward
// specs.
// Only the sinks may follow: one logit per head in the denominator of the softmax (gpt-oss, arXiv 2508.10925,
// section 2.2). The log-sum-exp that flash kernels save includes the sink. The backward derives the sink's
// gradient from it, -exp(sink - lse) (dO·O), so nothing more is saved.
const std::string& attention_values(const OpSpec& spec);

}  // namespace shardscape
