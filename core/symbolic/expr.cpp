#include "symbolic/expr.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <stdexcept>

namespace shardscape {
namespace {

int checked_add(int a, int b) {
  int sum;
  if (__builtin_add_overflow(a, b, &sum)) throw ArithmeticOverflow("an exponent does not fit in 32 bits");
  return sum;
}

int checked_multiply(int a, int b) {
  int product;
  if (__builtin_mul_overflow(a, b, &product)) throw ArithmeticOverflow("an exponent does not fit in 32 bits");
  return product;
}

// Graded lexicographic order, higher powers first. Multiplication by a monomial preserves this order.
std::strong_ordering compare(const std::vector<Power>& a, const std::vector<Power>& b) {
  int64_t degree_a = 0, degree_b = 0;
  for (const Power& power : a) degree_a += power.exponent;
  for (const Power& power : b) degree_b += power.exponent;
  if (degree_a != degree_b) return degree_b <=> degree_a;
  for (size_t i = 0;; ++i) {
    if (i == a.size() && i == b.size()) return std::strong_ordering::equal;
    if (i == a.size()) return b[i].exponent <=> 0;
    if (i == b.size()) return 0 <=> a[i].exponent;
    const auto symbols = a[i].symbol <=> b[i].symbol;
    if (symbols < 0) return 0 <=> a[i].exponent;
    if (symbols > 0) return b[i].exponent <=> 0;
    if (a[i].exponent != b[i].exponent) return b[i].exponent <=> a[i].exponent;
  }
}

std::vector<Power> multiply(const std::vector<Power>& a, const std::vector<Power>& b) {
  std::vector<Power> product;
  product.reserve(a.size() + b.size());
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const auto order = a[i].symbol <=> b[j].symbol;
    if (order < 0) {
      product.push_back(a[i++]);
    } else if (order > 0) {
      product.push_back(b[j++]);
    } else {
      const int exponent = checked_add(a[i].exponent, b[j].exponent);
      if (exponent != 0) product.push_back({a[i].symbol, exponent});
      ++i, ++j;
    }
  }
  product.insert(product.end(), a.begin() + static_cast<std::ptrdiff_t>(i), a.end());
  product.insert(product.end(), b.begin() + static_cast<std::ptrdiff_t>(j), b.end());
  return product;
}

Term multiply(const Term& a, const Term& b) {
  return {a.coefficient * b.coefficient, multiply(a.powers, b.powers)};
}

Rational power_of(Rational base, unsigned exponent) {
  Rational result = 1;
  for (;;) {
    if (exponent & 1) result = result * base;
    exponent >>= 1;
    if (exponent == 0) return result;
    base = base * base;
  }
}

Term power_of(const Term& term, int exponent) {
  const unsigned count = exponent < 0 ? 0u - static_cast<unsigned>(exponent)
                                      : static_cast<unsigned>(exponent);
  const Rational base = exponent < 0 ? Rational(1) / term.coefficient : term.coefficient;
  Term result{power_of(base, count), term.powers};
  for (Power& power : result.powers) power.exponent = checked_multiply(power.exponent, exponent);
  return result;
}

}  // namespace

class ExprBuilder {
 public:
  static Expr from_monomial(Term term) {
    Expr result;
    result.terms_.push_back(std::move(term));
    return result;
  }
  // Sorts the terms and adds up terms with equal powers.
  static Expr from_terms(std::vector<Term> terms) {
    std::sort(terms.begin(), terms.end(),
              [](const Term& a, const Term& b) { return compare(a.powers, b.powers) < 0; });
    size_t kept = 0;
    for (size_t i = 0; i < terms.size();) {
      size_t next = i + 1;
      for (; next < terms.size() && terms[next].powers == terms[i].powers; ++next) {
        terms[i].coefficient = terms[i].coefficient + terms[next].coefficient;
      }
      if (!terms[i].coefficient.is_zero()) {
        if (kept != i) terms[kept] = std::move(terms[i]);
        ++kept;
      }
      i = next;
    }
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(kept), terms.end());
    Expr result;
    result.terms_ = std::move(terms);
    return result;
  }
};

Expr::Expr(int64_t value) : Expr(Rational(value)) {}

Expr::Expr(Rational value) {
  if (!value.is_zero()) terms_.push_back({value, {}});
}

Expr::Expr(Symbol symbol, int exponent) {
  terms_.push_back({1, {}});
  if (exponent != 0) terms_[0].powers.push_back({symbol, exponent});
}

bool Expr::is_constant() const { return terms_.empty() || (terms_.size() == 1 && terms_[0].powers.empty()); }

std::vector<Symbol> Expr::symbols() const {
  std::vector<Symbol> symbols;
  for (const Term& term : terms_) {
    for (const Power& power : term.powers) symbols.push_back(power.symbol);
  }
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  return symbols;
}

Expr& Expr::operator+=(const Expr& other) {
  if (other.terms_.empty()) return *this;
  if (terms_.empty()) return *this = other;
  if (other.terms_.size() == 1) {
    // The common case of a running sum is one term: a binary search replaces a merge.
    const Term& added = other.terms_[0];
    const auto it = std::lower_bound(terms_.begin(), terms_.end(), added, [](const Term& a, const Term& b) {
      return compare(a.powers, b.powers) < 0;
    });
    if (it == terms_.end() || it->powers != added.powers) {
      terms_.insert(it, Term(added));
    } else if (const Rational sum = it->coefficient + added.coefficient; sum.is_zero()) {
      terms_.erase(it);
    } else {
      it->coefficient = sum;
    }
    return *this;
  }
  if (&other == this) return *this = *this * Expr(2);
  std::vector<Term> sum;
  sum.reserve(terms_.size() + other.terms_.size());
  size_t i = 0, j = 0;
  while (i < terms_.size() && j < other.terms_.size()) {
    const auto order = compare(terms_[i].powers, other.terms_[j].powers);
    if (order < 0) {
      sum.push_back(std::move(terms_[i++]));
    } else if (order > 0) {
      sum.push_back(other.terms_[j++]);
    } else {
      const Rational coefficient = terms_[i].coefficient + other.terms_[j].coefficient;
      if (!coefficient.is_zero()) sum.push_back({coefficient, std::move(terms_[i].powers)});
      ++i, ++j;
    }
  }
  std::move(terms_.begin() + static_cast<std::ptrdiff_t>(i), terms_.end(), std::back_inserter(sum));
  sum.insert(sum.end(), other.terms_.begin() + static_cast<std::ptrdiff_t>(j), other.terms_.end());
  terms_ = std::move(sum);
  return *this;
}

Expr operator+(const Expr& a, const Expr& b) {
  Expr sum = a;
  sum += b;
  return sum;
}

Expr operator-(const Expr& a, const Expr& b) { return a + -b; }

Expr operator*(const Expr& a, const Expr& b) {
  if (b.terms_.size() > 1 && a.terms_.size() == 1) return b * a;
  std::vector<Term> terms;
  terms.reserve(a.terms_.size() * b.terms_.size());
  for (const Term& left : a.terms_) {
    for (const Term& right : b.terms_) terms.push_back(multiply(left, right));
  }
  if (b.terms_.size() > 1) return ExprBuilder::from_terms(std::move(terms));
  Expr product;
  product.terms_ = std::move(terms);
  return product;
}

Expr operator/(const Expr& a, const Expr& monomial) {
  if (monomial.is_zero()) throw std::domain_error("division by zero");
  if (!monomial.is_monomial()) throw std::domain_error("division by a sum: " + monomial.text());
  return a * ExprBuilder::from_monomial(power_of(monomial.terms_[0], -1));
}

Expr Expr::operator-() const {
  Expr result = *this;
  for (Term& term : result.terms_) term.coefficient = -term.coefficient;
  return result;
}

Expr Expr::pow(int exponent) const {
  if (exponent == 0) return Expr(int64_t{1});
  if (is_monomial()) return ExprBuilder::from_monomial(power_of(terms_[0], exponent));
  if (exponent < 0)
    throw std::domain_error(is_zero() ? "division by zero" : "negative power of a sum: " + text());
  if (is_zero()) return *this;
  Expr result = *this;
  for (int i = 1; i < exponent; ++i) result = result * *this;
  return result;
}

Expr Expr::substitute(Symbol symbol, const Expr& replacement) const {
  std::vector<Term> terms;
  terms.reserve(terms_.size());
  // Terms are few and exponents are small, so a short list caches the powers of the replacement.
  std::vector<std::pair<int, Expr>> powers;
  for (const Term& term : terms_) {
    const auto it = std::find_if(term.powers.begin(), term.powers.end(),
                                 [&](const Power& power) { return power.symbol == symbol; });
    if (it == term.powers.end()) {
      terms.push_back(term);
      continue;
    }
    auto known = std::find_if(powers.begin(), powers.end(),
                              [&](const auto& p) { return p.first == it->exponent; });
    if (known == powers.end()) {
      powers.emplace_back(it->exponent, replacement.pow(it->exponent));
      known = powers.end() - 1;
    }
    Term rest = term;
    rest.powers.erase(rest.powers.begin() + (it - term.powers.begin()));
    for (const Term& factor : known->second.terms_) terms.push_back(multiply(rest, factor));
  }
  return ExprBuilder::from_terms(std::move(terms));
}

}  // namespace shardscape
