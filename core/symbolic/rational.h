// Exact rational coefficients of checked 64-bit integers.
#pragma once

#include <compare>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace shardscape {

// A coefficient or exponent exceeds its range. This is an exception, because the program cannot continue with
// a wrong number.
struct ArithmeticOverflow : std::overflow_error {
  using std::overflow_error::overflow_error;
};

class Rational {
 public:
  Rational(int64_t value = 0) : num_(value) {}
  Rational(int64_t num, int64_t den);  // stored in lowest terms with den > 0; std::domain_error if den = 0
  int64_t num() const { return num_; }
  int64_t den() const { return den_; }
  bool is_zero() const { return num_ == 0; }
  bool is_one() const { return num_ == 1 && den_ == 1; }
  friend Rational operator+(Rational a, Rational b);
  friend Rational operator-(Rational a, Rational b);
  friend Rational operator*(Rational a, Rational b);
  friend Rational operator/(Rational a, Rational b);
  Rational operator-() const;
  friend bool operator==(Rational a, Rational b) = default;
  friend std::strong_ordering operator<=>(Rational a, Rational b);

 private:
  int64_t num_ = 0;
  int64_t den_ = 1;
};

}  // namespace shardscape
