// Random numbers that are the same on every machine: no distribution and no logarithm of a library.
#pragma once

#include <cstdint>

namespace shardscape {

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014, figure 17): a bijection of 64-bit numbers that mixes all bits.
constexpr uint64_t mixed_bits(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// A stream of random numbers. Streams of one seed are independent, so more draws of one never change another.
class Random {
 public:
  explicit Random(uint64_t seed, uint64_t stream = 0);
  uint64_t next();
  double uniform();             // in [0, 1), 53 bits
  double exponential();         // mean 1
  double normal();              // mean 0, variance 1; polar method (Marsaglia and Bray 1964)
  double gamma(double shape);   // scale 1; shape > 0 (Marsaglia and Tsang 2000)
  int64_t below(int64_t most);  // 0 .. most - 1; most > 0

 private:
  uint64_t state_;
};

// Natural logarithm of a positive number, and the exponential function, to about 1e-15 (relative). They use
// only the operations that IEEE 754 rounds exactly. The library is compiled without fused multiply-add.
double portable_log(double x);
double portable_exp(double x);

}  // namespace shardscape
