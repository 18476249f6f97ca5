// Arithmetic of shell scripts: precedence of C, whole numbers (POSIX.1-2017, section 2.6.4).
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>

#include "launch/shell/shell_words.h"

namespace shardscape {
namespace {

constexpr int kDeepest = 50;  // nested brackets

int64_t wrapped(unsigned long long value) { return static_cast<int64_t>(value); }
unsigned long long bits(int64_t value) { return static_cast<unsigned long long>(value); }

class Evaluator {
 public:
  Evaluator(const ShellState& state, std::string_view text) : state_(state), text_(text) {}

  int64_t run() { return choice(); }

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

  int64_t choice() {
    const int64_t condition = binary(0);
    if (!take("?")) return condition;
    const int64_t yes = choice();
    (void)take(":");
    const int64_t no = choice();
    return condition ? yes : no;
  }

  // Levels from weak to strong; of signs of one level, the longer first.
  int64_t binary(int level) {
    static const std::vector<std::vector<std::string_view>> kLevels{
        {"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"**", "*", "/", "%"}};
    if (level == static_cast<int>(kLevels.size())) return unary();
    int64_t left = binary(level + 1);
    for (bool more = true; more;) {
      more = false;
      for (const std::string_view sign : kLevels[static_cast<size_t>(level)])
        if (take(sign)) {
          left = apply(sign, left, binary(level + 1));
          more = true;
          break;
        }
    }
    return left;
  }

  static int64_t apply(std::string_view sign, int64_t a, int64_t b) {
    if (sign == "||") return a || b;
    if (sign == "&&") return a && b;
    if (sign == "==") return a == b;
    if (sign == "!=") return a != b;
    if (sign == "<=") return a <= b;
    if (sign == ">=") return a >= b;
    if (sign == "<") return a < b;
    if (sign == ">") return a > b;
    if (sign == "+") return wrapped(bits(a) + bits(b));
    if (sign == "-") return wrapped(bits(a) - bits(b));
    if (sign == "*") return wrapped(bits(a) * bits(b));
    if (sign == "**") {
      unsigned long long out = 1;
      for (int64_t i = 0; i < b && i < 64; ++i) out *= bits(a);
      return wrapped(out);
    }
    if (b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1)) return 0;
    return sign == "/" ? a / b : a % b;
  }

  int64_t unary() {
    if (++depth_ > kDeepest) return 0;
    int64_t out = 0;
    if (take("!"))
      out = !unary();
    else if (take("-"))
      out = wrapped(0 - bits(unary()));
    else if (take("+"))
      out = unary();
    else if (take("(")) {
      out = choice();
      (void)take(")");
    } else {
      out = operand();
    }
    --depth_;
    return out;
  }

  int64_t operand() {
    skip();
    (void)take("$");
    (void)take("{");
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    (void)take("}");
    if (name.empty()) {
      if (at_ < text_.size()) ++at_;  // something that is no number: skipped
      return 0;
    }
    if (const auto number = whole(name)) return *number;
    const std::string* found = find_shell_value(state_, name);
    return found ? whole(*found).value_or(0) : 0;
  }

  static std::optional<int64_t> whole(std::string_view text) {
    int64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return out;
  }

  const ShellState& state_;
  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

int64_t shell_arithmetic(const ShellState& state, std::string_view expression) {
  return Evaluator(state, expression).run();
}

}  // namespace shardscape
