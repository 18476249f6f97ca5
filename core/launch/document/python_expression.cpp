#include "launch/document/python_expression.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "launch/document/flat_values.h"

namespace shardscape {
namespace {

using Kind = PythonValue::Kind;
using Parsed = std::optional<PythonValue>;
constexpr size_t kMostCost = 1'000'000;  // values that names stand for, in all
constexpr size_t kLongestText = 100'000;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_quote(char c) { return c == '"' || c == '\''; }
bool is_number(const PythonValue& value) { return value.kind == Kind::Number || value.kind == Kind::Bool; }

PythonValue number_value(double number, bool whole) {
  PythonValue out;
  out.kind = Kind::Number;
  out.number = number;
  out.whole = whole;
  return out;
}

void add_item(PythonValue& to, PythonValue item) {
  to.depth = std::max(to.depth, item.depth + 1);
  to.size += item.size;
  FlatValues::check_depth(to.depth, item.line);
  to.items.push_back(std::move(item));
}

// A dictionary while its items are read: the last value of a name counts.
struct GrowingDict {
  PythonValue value = {};
  std::unordered_map<std::string, size_t> places = {};  // of names

  GrowingDict() { value.kind = Kind::Dict; }
  void add(const std::string& name, PythonValue item) {
    add_item(value, std::move(item));
    const auto [at, is_new] = places.try_emplace(name, value.names.size());
    if (is_new) return value.names.push_back(name);
    value.items[at->second] = std::move(value.items.back());
    value.items.pop_back();
  }
};

Parsed arithmetic(const PythonValue& a, std::string_view sign, const PythonValue& b) {
  if (sign == "+" && a.kind == Kind::Text && b.kind == Kind::Text) {
    if (a.text.size() + b.text.size() > kLongestText) return std::nullopt;
    PythonValue out = a;
    out.text += b.text;
    out.size = 1 + out.text.size() / 16;
    return out;
  }
  if (!is_number(a) || !is_number(b)) return std::nullopt;
  const bool whole = (a.whole || a.kind == Kind::Bool) && (b.whole || b.kind == Kind::Bool);
  double out = 0;
  if (sign == "+") out = a.number + b.number;
  if (sign == "-") out = a.number - b.number;
  if (sign == "*") out = a.number * b.number;
  if (sign == "**") out = std::pow(a.number, b.number);
  if (sign == "/") out = a.number / b.number;
  if (sign == "//") out = std::floor(a.number / b.number);
  if (!std::isfinite(out)) return std::nullopt;
  return number_value(out, whole && sign != "/" && (sign != "**" || b.number >= 0));
}

}  // namespace

// One expression. nullopt: it is not followed.
struct PythonSource::Expression {
  PythonSource& in;
  const std::map<std::string, PythonValue>& variables;
  bool in_brackets;

  void blanks() { in.skip_blanks(in_brackets); }

  Parsed sum(int depth) {
    Parsed out = product(depth);
    for (blanks(); out && (in.sign() == '+' || in.sign() == '-'); blanks()) {
      const std::string sign(1, in.sign());
      in.take(sign);
      const Parsed other = product(depth);
      out = other ? arithmetic(*out, sign, *other) : std::nullopt;
    }
    return out;
  }

  Parsed product(int depth) {
    Parsed out = power(depth);
    for (blanks(); out && (in.sign() == '*' || in.sign() == '/'); blanks()) {
      const std::string sign = in.take("//") ? "//" : in.take("/") ? "/" : in.take("*") ? "*" : "";
      const Parsed other = power(depth);
      out = other ? arithmetic(*out, sign, *other) : std::nullopt;
    }
    return out;
  }

  Parsed power(int depth) {
    FlatValues::check_depth(depth, in.line());
    blanks();
    for (const char* sign : {"-", "+"})
      if (in.take(sign)) {
        const Parsed value = power(depth + 1);
        return value ? arithmetic(number_value(0, true), sign, *value) : std::nullopt;
      }
    Parsed base = item(depth);
    blanks();
    if (!base || !in.take("**")) return base;
    const Parsed exponent = power(depth + 1);
    return exponent ? arithmetic(*base, "**", *exponent) : std::nullopt;
  }

  // A value, and indices behind it: data["seq_len"].
  Parsed item(int depth) {
    Parsed out = atom(depth);
    for (blanks(); out && in.sign() == '['; blanks()) {
      in.take("[");
      const PythonValue index = in.value(variables, true, depth + 1);
      in.skip_blanks(true);
      if (!in.take("]")) return std::nullopt;
      out = entry(*out, index);
    }
    return out && (in.sign() == '(' || in.sign() == '.') ? std::nullopt : out;
  }

  static Parsed entry(const PythonValue& of, const PythonValue& index) {
    for (size_t i = 0; i < of.items.size(); ++i) {
      const bool here = of.kind == Kind::Dict ? index.kind == Kind::Text && of.names[i] == index.text
                                              : index.whole && index.number == static_cast<double>(i);
      if (here) return PythonValue(of.items[i]);
    }
    return std::nullopt;
  }

  Parsed atom(int depth) {
    FlatValues::check_depth(depth, in.line());
    const char c = in.sign();
    if (is_digit(c) || (c == '.' && is_digit(in.sign(1)))) return number();
    if (is_quote(c)) return text();
    if (c == '[' || c == '(') return list(c == '[' ? "]" : ")", c == '(', depth);
    if (c == '{') return mapping(depth);
    const std::string name = in.take_name();
    if (name.empty()) return std::nullopt;
    if (is_quote(in.sign())) return name == "r" || name == "u" || name == "b" ? text() : std::nullopt;
    if (in.sign() == '(') return call(name, depth);
    if (name == "None") return PythonValue{};
    if (name == "True" || name == "False") {
      PythonValue out = number_value(name == "True" ? 1 : 0, false);
      out.kind = Kind::Bool;
      return out;
    }
    const auto variable = variables.find(name);
    if (variable == variables.end() || variable->second.kind == Kind::Computed) return std::nullopt;
    in.cost_ += variable->second.size;
    if (in.cost_ > kMostCost) throw DocumentError("names stand for too many values", in.line());
    return variable->second;
  }

  Parsed number() {
    std::string digits;
    bool whole = true;
    while (is_digit(in.sign()) || is_letter(in.sign()) || in.sign() == '.' ||
           ((in.sign() == '-' || in.sign() == '+') && (digits.ends_with('e') || digits.ends_with('E')))) {
      if (in.sign() != '_') digits += in.sign();
      whole = whole && (is_digit(in.sign()) || in.sign() == '_');
      ++in.at_;
    }
    double out = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return number_value(out, whole);
  }

  // Texts next to each other are one.
  Parsed text() {
    PythonValue out;
    out.kind = Kind::Text;
    for (; is_quote(in.sign()); blanks()) {
      const size_t begin = in.position(), quotes = in.sign(1) == in.sign() && in.sign(2) == in.sign() ? 3 : 1;
      in.skip_text();
      if (in.position() < begin + 2 * quotes) return std::nullopt;
      out.text += in.between(begin + quotes, in.position() - quotes);
      if (out.text.size() > kLongestText) return std::nullopt;
    }
    out.size = 1 + out.text.size() / 16;
    return out;
  }

  // Elements up to the closing bracket. A single value in parentheses is that value.
  Parsed list(const char* close, bool tuple, int depth) {
    ++in.at_;
    PythonValue out;
    out.kind = Kind::List;
    bool comma = false;
    for (in.skip_blanks(true); !in.take(close); in.skip_blanks(true)) {
      if (in.at_end()) return std::nullopt;
      add_item(out, in.value(variables, true, depth + 1));
      in.skip_blanks(true);
      const bool more = in.take(",");
      comma = comma || more;
      if (!more && in.sign() != *close) return std::nullopt;
    }
    if (!tuple || comma || out.items.size() != 1) return out;
    const PythonValue inside = out.items.front();
    return inside.kind == Kind::Computed ? std::nullopt : Parsed(inside);
  }

  Parsed mapping(int depth) {
    ++in.at_;
    GrowingDict out;
    for (in.skip_blanks(true); !in.take("}"); in.skip_blanks(true)) {
      if (in.at_end()) return std::nullopt;
      const PythonValue name = in.value(variables, true, depth + 1);
      in.skip_blanks(true);
      if (name.kind != Kind::Text || !in.take(":")) return std::nullopt;
      out.add(name.text, in.value(variables, true, depth + 1));
      in.skip_blanks(true);
      if (!in.take(",") && in.sign() != '}') return std::nullopt;
    }
    return std::move(out.value);
  }

  Parsed call(const std::string& name, int depth) {
    if (name == "list" || name == "tuple") {
      const Parsed inside = list(")", true, depth);
      return inside && inside->kind == Kind::List ? inside : std::nullopt;
    }
    if (name == "int") {
      const Parsed inside = list(")", true, depth);
      if (!inside || !is_number(*inside)) return std::nullopt;
      return number_value(std::trunc(inside->number), true);
    }
    return name == "dict" ? named_values(depth) : std::nullopt;
  }

  Parsed named_values(int depth) {
    ++in.at_;
    GrowingDict out;
    for (in.skip_blanks(true); !in.take(")"); in.skip_blanks(true)) {
      const std::string name = in.take_name();
      in.skip_blanks(true);
      if (name.empty() || in.sign(1) == '=' || !in.take("=")) return std::nullopt;
      out.add(name, in.value(variables, true, depth + 1));
      in.skip_blanks(true);
      if (!in.take(",") && in.sign() != ')') return std::nullopt;
    }
    return std::move(out.value);
  }
};

int PythonSource::line() {
  const auto place = [&](size_t at) { return text_.begin() + static_cast<std::ptrdiff_t>(at); };
  const size_t first = std::min(at_, counted_), last = std::max(at_, counted_);
  const int between = static_cast<int>(std::count(place(first), place(last), '\n'));
  lines_ += at_ < counted_ ? -between : between;
  counted_ = at_;
  return lines_;
}

void PythonSource::skip_blanks(bool in_brackets) {
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      --at_;
    } else if (c == '\\' && sign(1) == '\n') {
      ++at_;
    } else if (c != ' ' && c != '\t' && c != '\r' && (c != '\n' || !in_brackets)) {
      return;
    }
  }
}

void PythonSource::skip_text() {
  const std::string quote(sign(1) == sign() && sign(2) == sign() ? 3 : 1, sign());
  for (at_ += quote.size(); at_ < text_.size(); ++at_) {
    if (text_[at_] == '\\') {
      ++at_;
    } else if (take(quote)) {
      return;
    } else if (quote.size() == 1 && text_[at_] == '\n') {
      return;
    }
  }
  at_ = std::min(at_, text_.size());
}

// To a comma or a bracket that closes; outside brackets, to a semicolon or the end of the line.
void PythonSource::skip_until_end_of_value(bool in_brackets) {
  int open = 0;
  while (at_ < text_.size()) {
    skip_blanks(in_brackets || open > 0);
    const char c = sign();
    if (at_end() || (open == 0 && (c == '\n' || c == (in_brackets ? ',' : ';')))) return;
    if (c == '(' || c == '[' || c == '{') ++open;
    if ((c == ')' || c == ']' || c == '}') && --open < 0) return;
    if (is_quote(c))
      skip_text();
    else
      ++at_;
  }
}

std::string PythonSource::skip_statement() {
  const size_t begin = at_;
  skip_until_end_of_value(false);
  while (sign() == ')' || sign() == ']' || sign() == '}') {
    ++at_;
    skip_until_end_of_value(false);
  }
  return std::string(between(begin, at_));
}

std::string PythonSource::take_name() {
  const size_t begin = at_;
  if (is_letter(sign()))
    while (is_letter(sign()) || is_digit(sign())) ++at_;
  return std::string(between(begin, at_));
}

bool PythonSource::take(std::string_view word) {
  if (text_.substr(std::min(at_, text_.size()), word.size()) != word) return false;
  at_ += word.size();
  return true;
}

PythonValue PythonSource::value(const std::map<std::string, PythonValue>& variables, bool in_brackets,
                                int depth) {
  skip_blanks(in_brackets);
  const int from_line = line();
  const size_t begin = at_;
  Parsed out = Expression{*this, variables, in_brackets}.sum(depth);
  skip_blanks(in_brackets);
  const char c = sign();
  const bool ends = at_end() || (in_brackets ? std::string_view(",)]}:").find(c) != std::string_view::npos
                                             : c == '\n' || c == ';');
  if (!out || !ends) {
    at_ = begin;
    skip_until_end_of_value(in_brackets);
    out = PythonValue{};
    out->kind = Kind::Computed;
    out->text = between(begin, at_);
    while (!out->text.empty() && std::isspace(static_cast<unsigned char>(out->text.back())))
      out->text.pop_back();
  }
  out->line = from_line;
  return std::move(*out);
}

}  // namespace shardscape
