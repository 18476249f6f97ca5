// Exact arithmetic of evaluate() and ExprProgram: terms are reduced fractions, and sums keep their carry.
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

// Computes coefficient · product of value^exponent, where the coefficient is num / den. Returns None,
// DivisionByZero, or Overflow if the reduced fraction does not fit in 128 bits.
EvalFault exact_term(int64_t num, int64_t den, std::span<const ValuePower> factors, Fraction& result);

// A sum as a whole part with a carry beyond 128 bits, plus a proper fraction. Only the total must fit and be
// a whole number; partial sums need not.
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
