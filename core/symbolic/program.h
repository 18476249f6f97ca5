// Compiles many expressions to one flat program. Monomials that expressions share are evaluated once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "symbolic/binding.h"

namespace shardscape {

class ExprProgram {
 public:
  static ExprProgram compile(std::span<const Expr> expressions);
  size_t size() const { return sums_.size(); }                  // number of expressions
  std::span<const Symbol> symbols() const { return symbols_; }  // all symbols, in canonical order
  // The values of all expressions, equal to those of evaluate() in binding.h. An expression with a fault has
  // the value 0; an unbound symbol yields EvalFault::Unbound.
  std::vector<Wide> evaluate(const Binding& binding, std::vector<EvalFault>* faults = nullptr) const;

 private:
  struct Factor {
    uint32_t symbol;  // index into symbols_
    int32_t exponent;
  };
  // Range of factors_.
  struct Monomial {
    uint32_t first, last;
  };
  struct Summand {
    uint32_t monomial;
    int64_t num, den;
  };
  // Range of summands_.
  struct Sum {
    uint32_t first, last;
  };
  // The values of the symbols (some may be unbound) and of the monomials.
  struct Values;
  bool product(const Monomial& of, std::span<const int64_t> row, Wide& out) const;
  bool wide_product(const Monomial& of, std::span<const int64_t> row, Wide& out) const;
  bool sum(const Sum& of, const Values& values, Wide& out) const;
  EvalFault exact_sum(const Sum& of, const Values& values, Wide& out) const;
  bool bound(const Sum& of, const Values& values) const;

  std::vector<Symbol> symbols_;
  std::vector<Factor> factors_;
  std::vector<Monomial> monomials_;  // shared by all expressions
  std::vector<Summand> summands_;
  std::vector<Sum> sums_;
};

}  // namespace shardscape
