// Many expressions compiled to one flat program, evaluated over arrays of bindings in one pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "symbolic/binding.h"

namespace shardscape {

class ExprProgram {
 public:
  static ExprProgram compile(std::span<const Expr> expressions);
  size_t size() const { return sums_.size(); }                   // expressions
  std::span<const Symbol> symbols() const { return symbols_; }   // the columns wanted, in order
  // columns[s][d]: value of symbols()[s] in design d. Results are at [expression * designs + design].
  // A fault leaves 0 in values; faults may be empty when nobody asks.
  void evaluate(std::span<const int64_t* const> columns, size_t designs, std::span<Wide> values,
                std::span<EvalFault> faults) const;
  // One design.
  std::vector<Wide> evaluate(const Binding& binding, std::vector<EvalFault>* faults = nullptr) const;

 private:
  struct Factor { uint32_t column; int32_t exponent; };
  struct Monomial { uint32_t first, last; };           // range of factors
  struct Summand { uint32_t monomial; int64_t num, den; };
  struct Sum { uint32_t first, last; };                // range of summands
  std::vector<Symbol> symbols_;
  std::vector<Factor> factors_;
  std::vector<Monomial> monomials_;  // shared by all expressions
  std::vector<Summand> summands_;
  std::vector<Sum> sums_;
};

}  // namespace shardscape
