// Exact evaluation shared by evaluate() and ExprProgram: terms as reduced fractions, sums without lost carries.
#pragma once

#include <span>

#include "base/wide.h"
#include "symbolic/binding.h"

namespace shardscape {

struct ValuePower {
  int64_t value;
  int exponent;
};

struct Fraction {
  Wide num = 0;
  Wide den = 1;  // > 0, coprime to num
};

// coefficient · product of value^exponent. None, DivisionByZero, or Overflow where the reduced fraction does not fit.
EvalFault exact_term(int64_t num, int64_t den, std::span<const ValuePower> factors, Fraction& result);

// Whole part with a carry beyond 128 bits, and a proper fraction: only the total has to fit and be whole.
class ExactSum {
 public:
  void add(const Fraction& term);
  void add(Wide whole);
  EvalFault total(Wide& result) const;

 private:
  Wide whole_ = 0;
  int64_t carry_ = 0;
  Wide num_ = 0, den_ = 1;  // 0 <= num < den
  bool overflow_ = false;
};

}  // namespace shardscape
