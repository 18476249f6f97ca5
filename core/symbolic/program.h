// Compiles many expressions to one flat program, which evaluates arrays of designs in one pass.
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
  std::span<const Symbol> symbols() const { return symbols_; }  // the required columns, in order
  // columns[s][d] is the value of symbols()[s] in design d. The value of expression e in design d goes to
  // values[e * designs + d], its fault to the same index of faults. A fault leaves 0 in values. faults may be
  // empty. Throws std::invalid_argument if the spans are too short.
  void evaluate(std::span<const int64_t* const> columns, size_t designs, std::span<Wide> values,
                std::span<EvalFault> faults) const;
  // Evaluates one design. An unbound symbol yields EvalFault::Unbound and the value 0.
  std::vector<Wide> evaluate(const Binding& binding, std::vector<EvalFault>* faults = nullptr) const;

 private:
  struct Factor {
    uint32_t column;
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
  std::vector<Symbol> symbols_;
  std::vector<Factor> factors_;
  std::vector<Monomial> monomials_;  // shared by all expressions
  std::vector<Summand> summands_;
  std::vector<Sum> sums_;
};

}  // namespace shardscape
