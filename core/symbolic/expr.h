// Laurent polynomials over symbols: exact, canonical and printable. Every size, FLOP count and byte count is
// an Expr.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "symbolic/rational.h"
#include "symbolic/symbol.h"

namespace shardscape {

struct Power {
  Symbol symbol;
  int exponent;  // never 0
  friend bool operator==(const Power&, const Power&) = default;
};

struct Term {
  Rational coefficient;       // never 0
  std::vector<Power> powers;  // ascending in canonical symbol order
  friend bool operator==(const Term&, const Term&) = default;
};

struct ParseError {
  size_t position = 0;  // byte offset into the text
  std::string message;  // the expected token
};

class Expr {
 public:
  Expr() = default;  // zero
  Expr(int64_t value);
  Expr(Rational value);
  Expr(Symbol symbol, int exponent = 1);
  // Grammar: sums and products of integers, symbols and parentheses. '*' or '·' multiplies, '/' divides by a
  // single term, and '^' integer or superscript digits form a power.
  static std::variant<Expr, ParseError> parse(std::string_view text);

  bool is_zero() const { return terms_.empty(); }
  bool is_constant() const;
  bool is_monomial() const { return terms_.size() == 1; }
  std::span<const Term> terms() const { return terms_; }
  std::vector<Symbol> symbols() const;  // ascending, unique

  Expr& operator+=(const Expr& other);
  friend Expr operator+(const Expr& a, const Expr& b);
  friend Expr operator-(const Expr& a, const Expr& b);
  friend Expr operator*(const Expr& a, const Expr& b);
  // std::domain_error unless the divisor is one term
  friend Expr operator/(const Expr& a, const Expr& monomial);
  Expr operator-() const;
  Expr pow(int exponent) const;  // a negative exponent requires a monomial (std::domain_error otherwise)
  // Replaces a symbol. If the symbol has a negative exponent, the replacement must be a monomial
  // (std::domain_error otherwise).
  Expr substitute(Symbol symbol, const Expr& replacement) const;

  std::string text() const;   // 2·b·S·D·F/(cp·tp)
  std::string latex() const;  // \frac{2 b S D F}{cp\,tp}
  friend bool operator==(const Expr&, const Expr&) = default;

 private:
  std::vector<Term> terms_;  // canonical order: descending degree, then powers
  friend class ExprBuilder;
};

}  // namespace shardscape
