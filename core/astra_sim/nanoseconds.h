// Times of a simulation that cannot overflow, whatever numbers a file has.
#pragma once

#include <algorithm>
#include <cstdint>

namespace shardscape {

inline constexpr int64_t kForever = int64_t{1} << 60;  // ns; 36 years. Longer times are cut to this.

// Drops fractions. Not a number and negative values become 0.
inline int64_t whole_ns(double ns) {
  if (ns >= static_cast<double>(kForever)) return kForever;
  return ns > 0 ? static_cast<int64_t>(ns) : 0;
}
// Both from 0 to kForever.
inline int64_t add_ns(int64_t a, int64_t b) { return std::min(a + b, kForever); }

}  // namespace shardscape
