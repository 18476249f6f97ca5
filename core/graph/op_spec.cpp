#include "graph/op_spec.h"

#include <algorithm>
#include <cctype>

#include "graph/op_traits.h"

namespace shardscape {
namespace {

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
      if (!set_attribute(spec.attributes, word))
        if (spec.axis = axis_from_name(word); !spec.axis) return std::nullopt;
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

std::string new_letters(const OpSpec& spec) {
  std::string out;
  for (char letter : spec.out)
    if (std::none_of(spec.in.begin(), spec.in.end(),
                     [&](const std::string& in) { return in.find(letter) != std::string::npos; }))
      out += letter;
  return out;
}

namespace {

// Whether letters of an attention are those of keys or values. Picked keys have the letter of the queries in
// the place of the keys; sinks have one letter.
bool has_keys(const OpSpec& spec, const std::string& letters) {
  return letters.size() > 2 && letters[1] != spec.in.front()[1];
}

// Letters that count keys: of tokens, and of compressed keys.
std::string key_letters(const OpSpec& spec) {
  std::string out(1, attention_values(spec)[1]);
  for (const std::string& letters : spec.in)
    if (has_keys(spec, letters) && out.find(letters[1]) == std::string::npos) out += letters[1];
  return out;
}

}  // namespace

const std::string& attention_values(const OpSpec& spec) {
  // Compressed keys, which follow the values, have a letter of their own.
  const auto first = std::find_if(spec.in.begin(), spec.in.end(),
                                  [&](const std::string& letters) { return has_keys(spec, letters); });
  for (size_t i = spec.in.size(); first != spec.in.end() && i-- > 0;)
    if (has_keys(spec, spec.in[i]) && spec.in[i][1] == (*first)[1]) return spec.in[i];
  return spec.in[spec.in.size() - (spec.in.back().size() == 1 ? 2 : 1)];
}

std::string whole_letters(OpKind kind, const OpSpec& spec) {
  // The last operand is the same in forward and backward specs: the norm's parameters, the attention's
  // values. The sequence has the same position in gradient and result.
  switch (op_traits(kind).whole) {
    case WholeLetters::None: return "";
    case WholeLetters::LastOperand: return spec.in.back();
    case WholeLetters::InsideGroups: return spec.in.back().substr(1);
    case WholeLetters::LastOfFirst: return spec.in[0].substr(spec.in[0].size() - 1);
    case WholeLetters::LastOfEach: return last_letters(spec);
    case WholeLetters::KeysAndHeadSizes: return key_letters(spec) + last_letters(spec);
    case WholeLetters::KeysAndSums: {
      std::string whole = spec.in[1].substr(1);
      for (char letter : spec.in[0])
        if (spec.out.find(letter) == std::string::npos && whole.find(letter) == std::string::npos)
          whole += letter;
      return whole;
    }
    case WholeLetters::Sequence: return spec.in[0].substr(1, 1);
    case WholeLetters::Cut: {
      std::string cut;
      for (char letter : spec.in[0])
        if (spec.out.find(letter) == std::string::npos) cut += letter;
      return cut;
    }
  }
  return "";
}

}  // namespace shardscape
