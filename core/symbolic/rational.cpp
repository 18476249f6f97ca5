#include "symbolic/rational.h"

#include <limits>

#include "base/wide.h"
#include "symbolic/magnitude.h"

namespace shardscape {
namespace {

int64_t narrow(Wide value) {
  if (value < std::numeric_limits<int64_t>::min() || value > std::numeric_limits<int64_t>::max()) {
    throw ArithmeticOverflow("a coefficient does not fit in 64 bits");
  }
  return static_cast<int64_t>(value);
}

// Sums and products of 64-bit parts stay below 2^127, so no step overflows.
Rational reduced(Wide num, Wide den) {
  if (den < 0) num = -num, den = -den;
  const Wide common = static_cast<Wide>(gcd(magnitude(num), magnitude(den)));
  return Rational(narrow(num / common), narrow(den / common));
}

}  // namespace

Rational::Rational(int64_t num, int64_t den) {
  if (den == 0) throw std::domain_error("a fraction with denominator 0");
  Wide n = num, d = den;
  if (d < 0) n = -n, d = -d;
  const Wide common = static_cast<Wide>(gcd(magnitude(n), magnitude(d)));
  num_ = narrow(n / common);
  den_ = narrow(d / common);
}

Rational operator+(Rational a, Rational b) {
  if (a.den_ == 1 && b.den_ == 1) return Rational(narrow(Wide{a.num_} + b.num_));
  return reduced(Wide{a.num_} * b.den_ + Wide{b.num_} * a.den_, Wide{a.den_} * b.den_);
}

Rational operator-(Rational a, Rational b) {
  if (a.den_ == 1 && b.den_ == 1) return Rational(narrow(Wide{a.num_} - b.num_));
  return reduced(Wide{a.num_} * b.den_ - Wide{b.num_} * a.den_, Wide{a.den_} * b.den_);
}

Rational operator*(Rational a, Rational b) {
  if (a.den_ == 1 && b.den_ == 1) return Rational(narrow(Wide{a.num_} * b.num_));
  return reduced(Wide{a.num_} * b.num_, Wide{a.den_} * b.den_);
}

Rational operator/(Rational a, Rational b) {
  if (b.num_ == 0) throw std::domain_error("division by zero");
  return reduced(Wide{a.num_} * b.den_, Wide{a.den_} * b.num_);
}

Rational Rational::operator-() const {
  Rational result = *this;
  result.num_ = narrow(-Wide{num_});
  return result;
}

std::strong_ordering operator<=>(Rational a, Rational b) {
  const Wide left = Wide{a.num_} * b.den_, right = Wide{b.num_} * a.den_;
  return left < right   ? std::strong_ordering::less
         : left > right ? std::strong_ordering::greater
                        : std::strong_ordering::equal;
}

}  // namespace shardscape
