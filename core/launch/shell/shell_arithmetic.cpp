// Arithmetic of shell scripts: operators and precedence of C and "**", whole numbers, assignments
// (POSIX.1-2017, section 2.6.4; GNU Bash Reference Manual, section 6.5).
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>

#include "launch/shell/shell_words.h"

namespace shardscape {
namespace {

constexpr int kDeepest = 50;           // nested brackets, choices and signs
constexpr size_t kOperandSteps = 100;  // of the budget

int64_t wrapped(unsigned long long value) { return static_cast<int64_t>(value); }
unsigned long long bits(int64_t value) { return static_cast<unsigned long long>(value); }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// "12", "-3", "0x1f", "017" and "2#101".
std::optional<int64_t> whole(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (const size_t sign = text.find('#'); sign != std::string_view::npos) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + sign, base);
    if (error != std::errc() || end != text.data() + sign || base < 2 || base > 36) return std::nullopt;
    text.remove_prefix(sign + 1);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
  }
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return negative ? wrapped(0 - bits(out)) : out;
}

int64_t power(int64_t base, int64_t exponent) {
  unsigned long long out = 1, factor = bits(base);
  for (; exponent > 0; exponent /= 2, factor *= factor)
    if (exponent % 2 == 1) out *= factor;
  return wrapped(out);
}

int64_t apply(std::string_view sign, int64_t a, int64_t b) {
  if (sign == "||") return a || b;
  if (sign == "&&") return a && b;
  if (sign == "|") return a | b;
  if (sign == "^") return a ^ b;
  if (sign == "&") return a & b;
  if (sign == "==") return a == b;
  if (sign == "!=") return a != b;
  if (sign == "<=") return a <= b;
  if (sign == ">=") return a >= b;
  if (sign == "<") return a < b;
  if (sign == ">") return a > b;
  if (sign == "<<") return wrapped(bits(a) << (bits(b) % 64));
  if (sign == ">>") return a >> (bits(b) % 64);
  if (sign == "+") return wrapped(bits(a) + bits(b));
  if (sign == "-") return wrapped(bits(a) - bits(b));
  if (sign == "*") return wrapped(bits(a) * bits(b));
  if (b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1)) return 0;
  return sign == "/" ? a / b : a % b;
}

class Evaluator {
 public:
  Evaluator(ShellState& state, std::string_view text) : state_(state), text_(text) {}

  int64_t run() {
    int64_t out = assignment();
    while (take(",")) out = assignment();
    return out;
  }

 private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view sign) {
    skip();
    if (text_.substr(at_, sign.size()) != sign) return false;
    at_ += sign.size();
    return true;
  }
  void enter() {
    if (++depth_ > kDeepest) throw ShellTooLong{};
  }

  // A variable or an item of an array; nullopt: something else stands here.
  struct Place {
    std::string name, index = "0";
  };
  std::optional<Place> place() {
    skip();
    if (at_ >= text_.size() || !is_letter(text_[at_])) return std::nullopt;
    const size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    Place out{std::string(text_.substr(begin, at_ - begin))};
    if (at_ < text_.size() && text_[at_] == '[') {
      enter();
      ++at_;
      out.index = std::to_string(run());
      (void)take("]");
      --depth_;
    }
    return out;
  }
  int64_t value(const Place& place) const {
    const auto found = state_.variables.find(place.name);
    if (found == state_.variables.end()) return 0;
    const auto item = found->second.items.find(place.index);
    if (item == found->second.items.end()) return 0;
    state_.budget.spend(item->second.size());
    return whole(item->second).value_or(0);
  }
  int64_t store(const Place& place, int64_t value) {
    if (unused_ == 0) state_.variables[place.name].items[place.index] = std::to_string(value);
    return value;
  }

  int64_t assignment() {
    const size_t begin = at_;
    if (const auto target = place()) {
      for (const std::string_view sign :
           {"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="}) {
        skip();
        if (text_.substr(at_, 2) == "==" || !take(sign)) continue;
        enter();
        const int64_t right = assignment();
        --depth_;
        return store(*target,
                     sign == "=" ? right : apply(sign.substr(0, sign.size() - 1), value(*target), right));
      }
    }
    at_ = begin;
    return choice();
  }

  int64_t choice() {
    const int64_t condition = binary(0);
    if (!take("?")) return condition;
    enter();
    const int64_t yes = unless(condition == 0, [&] { return assignment(); });
    (void)take(":");
    const int64_t no = unless(condition != 0, [&] { return assignment(); });
    --depth_;
    return condition ? yes : no;
  }

  // Reads a part whose assignments have no effect if it is not used.
  template <typename Part>
  int64_t unless(bool unused, const Part& part) {
    unused_ += unused;
    const int64_t out = part();
    unused_ -= unused;
    return out;
  }

  // Levels from weak to strong; of signs of one level, the longer first.
  int64_t binary(size_t level) {
    static const std::vector<std::vector<std::string_view>> kLevels{
        {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"},
        {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
    if (level == kLevels.size()) return powers();
    int64_t left = binary(level + 1);
    for (bool more = true; more;) {
      more = false;
      for (const std::string_view sign : kLevels[level]) {
        skip();
        const std::string_view rest = text_.substr(at_);
        const bool doubled = (sign == "|" && rest.starts_with("||")) ||
                             (sign == "&" && rest.starts_with("&&"));
        if (doubled || !take(sign)) continue;
        const bool unused = (sign == "||" && left != 0) || (sign == "&&" && left == 0);
        left = apply(sign, left, unless(unused, [&] { return binary(level + 1); }));
        more = true;
        break;
      }
    }
    return left;
  }

  int64_t powers() {
    const int64_t base = unary();
    if (!take("**")) return base;
    enter();
    const int64_t exponent = powers();
    --depth_;
    return power(base, exponent);
  }

  int64_t unary() {
    enter();
    int64_t out = 0;
    if (take("++") || take("--")) {
      const int64_t step = text_[at_ - 1] == '+' ? 1 : -1;
      const auto target = place();
      out = target ? store(*target, wrapped(bits(value(*target)) + bits(step))) : unary();
    } else if (take("!")) {
      out = !unary();
    } else if (take("~")) {
      out = ~unary();
    } else if (take("-")) {
      out = wrapped(0 - bits(unary()));
    } else if (take("+")) {
      out = unary();
    } else if (take("(")) {
      out = run();
      (void)take(")");
    } else {
      out = operand();
    }
    --depth_;
    return out;
  }

  int64_t operand() {
    state_.budget.spend(kOperandSteps);
    if (const auto found = place()) {
      const int64_t now = value(*found);
      if (take("++")) store(*found, wrapped(bits(now) + 1));
      if (take("--")) store(*found, wrapped(bits(now) - 1));
      return now;
    }
    const size_t begin = at_;
    while (at_ < text_.size() && (is_name(text_[at_]) || text_[at_] == '#')) ++at_;
    if (at_ == begin && at_ < text_.size()) ++at_;  // something that is no number: skipped
    return whole(text_.substr(begin, at_ - begin)).value_or(0);
  }

  ShellState& state_;
  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0, unused_ = 0;
};

}  // namespace

int64_t shell_arithmetic(ShellState& state, std::string_view expression) {
  state.budget.spend(expression.size());
  return Evaluator(state, expression).run();
}

}  // namespace shardscape
