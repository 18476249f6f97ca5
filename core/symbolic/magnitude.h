// Absolute values of wide integers, and their greatest common divisor.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>

#include "base/wide.h"

namespace shardscape {

using Magnitude = unsigned __int128;

inline Magnitude magnitude(Wide value) {
  return value < 0 ? Magnitude{0} - static_cast<Magnitude>(value) : static_cast<Magnitude>(value);
}

inline Magnitude gcd(Magnitude a, Magnitude b) {
  while (b != 0) {
    if ((a >> 64) == 0 && (b >> 64) == 0) return std::gcd(static_cast<uint64_t>(a), static_cast<uint64_t>(b));
    a %= b;
    std::swap(a, b);
  }
  return a;
}

}  // namespace shardscape
