// Laurent polynomials over symbols: exact, canonical, printable. Every size, FLOP count and byte count is one.
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
  Rational coefficient;        // never 0
  std::vector<Power> powers;   // ascending in canonical symbol order
  friend bool operator==(const Term&, const Term&) = default;
};

struct ParseError {
  size_t position = 0;  // byte offset into the text
  std::string message;  // what was expected there
};

class Expr {
 public:
  Expr() = default;  // zero
  Expr(int64_t value);
  Expr(Rational value);
  Expr(Symbol symbol, int exponent = 1);
  // Grammar: sums and products of integers, symbols, parentheses; '*' or '·'; '/' by a single term; '^' integer or superscript.
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
  friend Expr operator/(const Expr& a, const Expr& monomial);  // std::domain_error unless one term
  Expr operator-() const;
  Expr pow(int exponent) const;  // negative exponents want a monomial
  // Replaces a symbol; a negative power of it wants a monomial replacement (std::domain_error otherwise).
  Expr substitute(Symbol symbol, const Expr& replacement) const;

  std::string text() const;   // 2·b·S·D·F/(cp·tp)
  std::string latex() const;  // \frac{2 b S D F}{cp\,tp}
  friend bool operator==(const Expr&, const Expr&) = default;

 private:
  std::vector<Term> terms_;  // canonical: descending degree, then by powers
  friend class ExprBuilder;
};

}  // namespace shardscape
