#include <limits>
#include <optional>

#include "symbolic/expr.h"

namespace shardscape {
namespace {

// Recursive descent parser. The parser stores the first error and unwinds with nullopt.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::variant<Expr, ParseError> run() {
    try {
      std::optional<Expr> result = sum();
      if (result && at_ < text_.size()) fail("expected '+', '-', '·', '/' or the end");
      if (!error_) return std::move(*result);
    } catch (const ArithmeticOverflow&) {
      fail("the numbers up to here do not fit in 64 bits");
    }
    return *error_;
  }

 private:
  static constexpr int kDepth = 200;
  // Terms that the products and powers of one formula may make in a few milliseconds. Formulas of models make
  // dozens.
  static constexpr size_t kTerms = 2000;

  std::nullopt_t fail(std::string message) { return fail(at_, std::move(message)); }
  std::nullopt_t fail(size_t position, std::string message) {
    if (!error_) error_ = ParseError{position, std::move(message)};
    return std::nullopt;
  }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }
  bool take_raw(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  bool take(std::string_view token) {
    if (!take_raw(token)) return false;
    skip_space();
    return true;
  }
  bool take_minus() { return take("-") || take("−"); }
  bool take_times() { return take("*") || take("·") || take("⋅") || take("×"); }

  std::optional<Expr> sum() {
    skip_space();
    bool negative = take_minus();
    if (!negative) take("+");
    std::optional<Expr> total = product(negative);
    while (total) {
      negative = take_minus();
      if (!negative && !take("+")) break;
      const std::optional<Expr> next = product(negative);
      if (!next) return std::nullopt;
      *total += *next;
    }
    return total;
  }

  std::optional<Expr> product(bool negative) {
    std::optional<Expr> total = power(&negative);
    while (total) {
      if (take_times()) {
        const size_t position = at_;
        const std::optional<Expr> next = power(nullptr);
        if (!next) return std::nullopt;
        if (too_large(*total, *next)) return fail(position, "this product has too many terms");
        total = *total * *next;
      } else if (take("/")) {
        const size_t position = at_;
        const std::optional<Expr> next = power(nullptr);
        if (!next) return std::nullopt;
        if (next->is_zero()) return fail(position, "division by zero");
        if (!next->is_monomial()) return fail(position, "expected a single term to divide by");
        total = *total / *next;
      } else {
        break;
      }
    }
    if (total && negative) total = -*total;
    return total;
  }

  // A pending minus is applied to a plain number at once: -2^63 fits in 64 bits, 2^63 does not.
  std::optional<Expr> power(bool* negative) {
    const size_t position = at_;
    std::optional<Expr> base = atom(negative);
    if (!base) return std::nullopt;
    const std::optional<int> exponent = this->exponent();
    if (error_) return std::nullopt;
    skip_space();
    if (!exponent) return base;
    if (base->is_monomial() || *exponent == 0) return base->pow(*exponent);
    if (*exponent < 0)
      return fail(position,
                  base->is_zero() ? "division by zero" : "expected a single term under a negative power");
    if (base->is_zero()) return base;
    Expr result = *base;
    for (int i = 1; i < *exponent; ++i) {
      if (too_large(result, *base)) return fail(position, "this power has too many terms");
      result = result * *base;
    }
    return result;
  }

  std::optional<Expr> atom(bool* negative) {
    if (at_ < text_.size() && is_digit(text_[at_])) return number(negative);
    if (at_ < text_.size() && is_letter(text_[at_])) {
      size_t end = at_;
      while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '_'))
        ++end;
      const Symbol symbol = Symbol::intern(text_.substr(at_, end - at_));
      at_ = end;
      return Expr(symbol);
    }
    if (take("(")) {
      if (++depth_ > kDepth) return fail("too many parentheses inside each other");
      std::optional<Expr> inner = sum();
      if (!inner) return std::nullopt;
      if (!take_raw(")")) return fail("expected ')'");
      --depth_;
      return inner;
    }
    return fail("expected a number, a symbol or '('");
  }

  std::optional<Expr> number(bool* negative) {
    const size_t position = at_;
    uint64_t value = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      if (__builtin_mul_overflow(value, uint64_t{10}, &value) ||
          __builtin_add_overflow(value, static_cast<uint64_t>(text_[at_] - '0'), &value)) {
        return fail(position, "this number does not fit in 64 bits");
      }
    }
    if (at_ < text_.size() && is_letter(text_[at_]))
      return fail("expected '·' between a number and a symbol");
    const uint64_t limit = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (value == limit + 1 && negative && *negative) {
      *negative = false;
      return Expr(std::numeric_limits<int64_t>::min());
    }
    if (value > limit) return fail(position, "this number does not fit in 64 bits");
    return Expr(static_cast<int64_t>(value));
  }

  // Reads '^' integer or superscript digits; nullopt if neither follows.
  std::optional<int> exponent() {
    const size_t before = at_;
    skip_space();
    const bool caret = take("^");
    if (!caret) at_ = before;  // a superscript follows its base directly
    const size_t position = at_;
    const bool negative = caret ? take_minus() : take_raw("⁻");
    int64_t value = 0;
    int count = 0;
    for (int digit; (digit = caret ? plain_digit() : superscript_digit()) >= 0; ++count) {
      value = value * 10 + digit;
      if (value > std::numeric_limits<int>::max())
        return fail(position, "this exponent does not fit in 32 bits");
    }
    if (count == 0) {
      if (caret || negative) return fail("expected an integer exponent");
      return std::nullopt;
    }
    return static_cast<int>(negative ? -value : value);
  }

  int plain_digit() { return at_ < text_.size() && is_digit(text_[at_]) ? text_[at_++] - '0' : -1; }
  int superscript_digit() {
    static constexpr std::string_view digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    for (int digit = 0; digit < 10; ++digit) {
      if (take_raw(digits[digit])) return digit;
    }
    return -1;
  }

  bool too_large(const Expr& a, const Expr& b) {
    const size_t terms = a.terms().size() * b.terms().size();
    if (terms > 1) made_ += terms;
    return made_ > kTerms;
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  size_t made_ = 0;  // terms
  std::optional<ParseError> error_;
};

}  // namespace

std::variant<Expr, ParseError> Expr::parse(std::string_view text) { return Parser(text).run(); }

}  // namespace shardscape
