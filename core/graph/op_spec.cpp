#include "graph/op_spec.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace shardscape {
namespace {

bool* word_of(OpSpec& spec, const std::string& word) {
  if (word == "causal") return &spec.causal;
  if (word == "window") return &spec.window;
  if (word == "soft_cap") return &spec.soft_cap;
  if (word == "alibi") return &spec.alibi;
  return word == "clamp" ? &spec.clamp : nullptr;
}

std::string last_letters(const OpSpec& spec) {
  std::string out;
  for (const std::string& letters : spec.in)
    if (letters.size() > 1) out += letters.back();
  return out;
}

}  // namespace

std::string OpSpec::text() const {
  std::string out;
  for (const std::string& letters : in) out += (out.empty() ? "" : ",") + letters;
  return out + "->" + this->out + (axis ? "; " + std::string(axis_name(*axis)) : "");
}

std::optional<OpSpec> parse_op_spec(const std::string& text) {
  OpSpec spec;
  std::string letters = text;
  if (const size_t semicolon = text.find(';'); semicolon != std::string::npos) {
    letters = text.substr(0, semicolon);
    std::string word;
    for (char c : text.substr(semicolon + 1) + ",") {
      if (std::isspace(static_cast<unsigned char>(c))) continue;
      if (c != ',') {
        word += c;
        continue;
      }
      bool* flag = word_of(spec, word);
      if (flag)
        *flag = true;
      else if (spec.axis = axis_from_name(word); !spec.axis)
        return std::nullopt;
      word.clear();
    }
  }
  const size_t arrow = letters.find("->");
  if (arrow == std::string::npos) return std::nullopt;
  std::string current;
  for (char c : letters.substr(0, arrow) + ",") {
    if (std::isspace(static_cast<unsigned char>(c))) continue;
    if (c == ',') {
      if (current.empty()) return std::nullopt;
      spec.in.push_back(std::move(current));
      current.clear();
    } else if (std::isalpha(static_cast<unsigned char>(c)) && current.find(c) == std::string::npos) {
      current += c;
    } else {
      return std::nullopt;
    }
  }
  for (char c : letters.substr(arrow + 2)) {
    if (std::isspace(static_cast<unsigned char>(c))) continue;
    if (!std::isalpha(static_cast<unsigned char>(c)) || spec.out.find(c) != std::string::npos)
      return std::nullopt;
    spec.out += c;
  }
  return spec;
}

const OpTraits& op_traits(OpKind kind) {
  static const std::array<OpTraits, kOpKindCount> traits = [] {
    std::array<OpTraits, kOpKindCount> t{};
    auto set = [&](OpKind k, OpTraits value) { t[static_cast<size_t>(k)] = value; };
    set(OpKind::Einsum, {2, true});
    set(OpKind::Embed, {2, true});
    set(OpKind::PositionAdd, {2, false});
    set(OpKind::RmsNorm, {2, false});
    set(OpKind::LayerNorm, {2, false, false, false, 1});
    set(OpKind::Rope, {1, false});
    set(OpKind::Attention, {3, false, false, false, 1});
    set(OpKind::SwiGlu, {2, false});
    set(OpKind::GeGlu, {2, false});
    set(OpKind::Gelu, {1, false});
    set(OpKind::SoftCap, {1, false});
    set(OpKind::Scale, {1, false});
    set(OpKind::Dropout, {1, false});
    set(OpKind::Add, {-1, false});
    set(OpKind::BiasAdd, {2, false});
    set(OpKind::SigmoidGate, {2, false});
    set(OpKind::Concat, {-1, false});
    set(OpKind::Contiguous, {1, false});
    set(OpKind::Cast, {1, false});
    set(OpKind::Take, {1, true});
    set(OpKind::CausalConv, {2, true, false, false, 1});
    set(OpKind::SelectiveScan, {7, true});
    set(OpKind::Ssd, {7, true});
    set(OpKind::GroupRmsNorm, {2, false});
    set(OpKind::ReduceMax, {1, true, true, true});
    set(OpKind::SumExp, {2, true, false, true});
    set(OpKind::Pick, {2, true, false, true});
    set(OpKind::Nll, {3, false, false, true});
    set(OpKind::Flatten, {1, false, false, false, 0, {Axis::Tokens}});
    set(OpKind::Unflatten, {1, false, false, false, 0, {Axis::Batch, Axis::Seq}});
    for (OpKind kind : {OpKind::SoftmaxTopK, OpKind::SigmoidTopK})
      set(kind, {1, false, false, false, 1, {Axis::Choices}});
    set(OpKind::Dispatch, {2, false, false, false, 0, {Axis::Experts, Axis::Slots}});
    set(OpKind::Combine, {2, false});
    set(OpKind::DispatchNodes, {2, false, false, false, 0, {Axis::Nodes, Axis::NodeSlots}});
    set(OpKind::LastToken, {1, true, false, false, 0, {Axis::Seq}});
    set(OpKind::CombineNodes, {1, false, false, false, 0, {Axis::Tokens}});
    return t;
  }();
  return traits[static_cast<size_t>(kind)];
}

std::string new_letters(const OpSpec& spec) {
  std::string out;
  for (char letter : spec.out)
    if (std::none_of(spec.in.begin(), spec.in.end(),
                     [&](const std::string& in) { return in.find(letter) != std::string::npos; }))
      out += letter;
  return out;
}

const std::string& attention_values(const OpSpec& spec) {
  return spec.in[spec.in.size() - (spec.in.back().size() == 1 ? 2 : 1)];
}

std::string whole_letters(OpKind kind, const OpSpec& spec) {
  // The last operand is the same in forward and backward specs: the norm's parameters, the attention's
  // values.
  switch (kind) {
    case OpKind::RmsNorm:
    case OpKind::LayerNorm: return spec.in.back();
    case OpKind::Rope: return spec.in[0].substr(spec.in[0].size() - 1);
    case OpKind::Attention: return attention_values(spec)[1] + last_letters(spec);
    case OpKind::Concat: return last_letters(spec);
    // The recurrence runs along the sequence, which has the same position in gradient and result.
    case OpKind::CausalConv:
    case OpKind::SelectiveScan:
    case OpKind::Ssd: return spec.in[0].substr(1, 1);
    // The first dimension of the weight counts the groups; each group is normalised on its own.
    case OpKind::GroupRmsNorm: return spec.in.back().substr(1);
    case OpKind::Take: {
      std::string cut;
      for (char letter : spec.in[0])
        if (spec.out.find(letter) == std::string::npos) cut += letter;
      return cut;
    }
    default: return "";
  }
}

}  // namespace shardscape
