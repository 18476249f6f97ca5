#include "symbolic/exact.h"

#include <cstdlib>
#include <numeric>
#include <vector>

#include "symbolic/magnitude.h"

namespace shardscape {
namespace {

constexpr Magnitude kLimit = Magnitude{1} << 127;

struct Base {
  uint64_t value;
  int64_t exponent;  // > 0
};

bool product(const std::vector<Base>& bases, Magnitude& result) {
  result = 1;
  for (const Base& base : bases) {
    if (base.value == 1) continue;
    if (base.exponent >= 128) return false;
    for (int64_t i = 0; i < base.exponent; ++i) {
      if (__builtin_mul_overflow(result, Magnitude{base.value}, &result)) return false;
    }
  }
  return true;
}

// Cancels common factors before the multiplication. Only a result that is too large in lowest terms
// overflows.
EvalFault cancelled_term(int64_t num, int64_t den, std::span<const ValuePower> factors, Fraction& result) {
  std::vector<Base> top, bottom;
  bool negative = num < 0;
  top.push_back({static_cast<uint64_t>(magnitude(num)), 1});
  bottom.push_back({static_cast<uint64_t>(den), 1});
  for (const ValuePower& factor : factors) {
    if (factor.value < 0 && factor.exponent % 2 != 0) negative = !negative;
    const Base base{static_cast<uint64_t>(magnitude(factor.value)),
                    std::abs(static_cast<int64_t>(factor.exponent))};
    (factor.exponent > 0 ? top : bottom).push_back(base);
  }
  for (size_t i = 0; i < top.size(); ++i) {
    for (size_t j = 0; j < bottom.size(); ++j) {
      const uint64_t common = std::gcd(top[i].value, bottom[j].value);
      if (common == 1) continue;
      top[i].value /= common;
      bottom[j].value /= common;
      const int64_t left = top[i].exponent - bottom[j].exponent;
      if (left > 0) top.push_back({common, left});
      if (left < 0) bottom.push_back({common, -left});
      j = static_cast<size_t>(-1);  // start the row again: `bottom` may have grown
    }
  }
  Magnitude n, d;
  if (!product(top, n) || !product(bottom, d)) return EvalFault::Overflow;
  if (n > kLimit - (negative ? 0 : 1) || d >= kLimit) return EvalFault::Overflow;
  result = {static_cast<Wide>(negative ? Magnitude{0} - n : n), static_cast<Wide>(d)};
  return EvalFault::None;
}

bool multiply_power(Wide& product, int64_t value, int64_t exponent) {
  for (int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(product, Wide{value}, &product)) return false;
  }
  return true;
}

}  // namespace

EvalFault exact_term(int64_t num, int64_t den, std::span<const ValuePower> factors, Fraction& result) {
  bool zero = num == 0, fits = true;
  Wide n = num, d = den;
  for (const ValuePower& factor : factors) {
    if (factor.value == 0) {
      if (factor.exponent < 0) return EvalFault::DivisionByZero;
      zero = true;
    }
    const int64_t exponent = std::abs(static_cast<int64_t>(factor.exponent));
    fits = fits && exponent <= 128 && multiply_power(factor.exponent > 0 ? n : d, factor.value, exponent);
  }
  if (zero) {
    result = {};
    return EvalFault::None;
  }
  if (fits && d < 0) {
    fits = !__builtin_sub_overflow(Wide{0}, n, &n) && !__builtin_sub_overflow(Wide{0}, d, &d);
  }
  if (!fits) return cancelled_term(num, den, factors, result);
  if (d != 1) {
    const Wide common = static_cast<Wide>(gcd(magnitude(n), magnitude(d)));
    n /= common;
    d /= common;
  }
  result = {n, d};
  return EvalFault::None;
}

void ExactSum::add(Wide whole) {
  if (__builtin_add_overflow(whole_, whole, &whole_)) carry_ += whole < 0 ? -1 : 1;
}

void ExactSum::add(const Fraction& term) {
  if (term.den == 1) return add(term.num);
  Wide quotient = term.num / term.den, rest = term.num % term.den;
  if (rest < 0) rest += term.den, --quotient;
  add(quotient);
  const Magnitude scale = static_cast<Magnitude>(term.den) /
                          gcd(static_cast<Magnitude>(den_), static_cast<Magnitude>(term.den));
  Magnitude common;
  if (__builtin_mul_overflow(static_cast<Magnitude>(den_), scale, &common) || common >= kLimit) {
    overflow_ = true;
    return;
  }
  // Both parts are below common < 2^127, so their sum fits in the unsigned type.
  Magnitude sum = static_cast<Magnitude>(num_) * scale +
                  static_cast<Magnitude>(rest) * (common / static_cast<Magnitude>(term.den));
  if (sum >= common) {
    sum -= common;
    add(Wide{1});
  }
  const Magnitude shared = gcd(sum, common);
  num_ = static_cast<Wide>(sum / shared);
  den_ = static_cast<Wide>(common / shared);
}

EvalFault ExactSum::total(Wide& result) const {
  if (overflow_ || carry_ != 0) return EvalFault::Overflow;
  if (num_ != 0) return EvalFault::NotDivisible;
  result = whole_;
  return EvalFault::None;
}

}  // namespace shardscape
