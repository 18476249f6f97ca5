#include "serving/requests/random.h"

#include <cmath>

namespace shardscape {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;
constexpr double kLn2 = 0.693147180559945309417232121458;
// ln 2 in two parts; the first has few bits, so its multiples are exact.
constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;

}  // namespace

double portable_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // [0.5, 1)
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  // ln m = 2 artanh((m - 1) / (m + 1)), as a power series.
  const double s = (mantissa - 1) / (mantissa + 1), square = s * s;
  double sum = 0;
  for (int k = 25; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return exponent * kLn2High + (2 * s * sum + exponent * kLn2Low);
}

double portable_exp(double x) {
  if (x < -745) return 0;
  const double count = std::floor(x / kLn2 + 0.5);
  const double rest = (x - count * kLn2High) - count * kLn2Low;
  double sum = 1;
  for (int k = 18; k >= 1; --k) sum = 1 + sum * rest / k;
  return std::ldexp(sum, static_cast<int>(count));
}

Random::Random(uint64_t seed, uint64_t stream)
    : state_(mixed_bits(seed + kGolden) ^ mixed_bits(mixed_bits(stream + 1))) {}

uint64_t Random::next() { return mixed_bits(state_ += kGolden); }

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

double Random::exponential() { return -portable_log(1 - uniform()); }

double Random::normal() {
  while (true) {
    const double u = 2 * uniform() - 1, v = 2 * uniform() - 1, square = u * u + v * v;
    if (square > 0 && square < 1) return u * std::sqrt(-2 * portable_log(square) / square);
  }
}

double Random::gamma(double shape) {
  // Shapes below 1: a variable of shape + 1 times U^(1 / shape).
  if (shape < 1) {
    const double power = portable_exp(-exponential() / shape);
    return gamma(shape + 1) * power;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (-exponential() < 0.5 * x * x + d - d * v + d * portable_log(v)) return d * v;
  }
}

int64_t Random::below(int64_t most) {
  // The bias of the product is below most / 2^53.
  return static_cast<int64_t>(uniform() * static_cast<double>(most));
}

}  // namespace shardscape
