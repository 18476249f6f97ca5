// Numbers that kernels of several kinds share.
#pragma once

#include <cstdint>

namespace shardscape::test {

inline constexpr double kCap = 1.5;  // of scores and logits; small, so that tiny numbers feel it

// Dropout keeps this share of the elements.
inline constexpr double kKeep = 0.75;

// Whether dropout keeps an element. The same elements fall however the tensor is spread: the choice depends
// on the place in the whole tensor.
inline bool kept(int64_t a, int64_t b, int64_t c, int64_t d) {
  const uint64_t hash = static_cast<uint64_t>(((a * 131 + b) * 137 + c) * 139 + d + 1) *
                        0x9E3779B97F4A7C15ULL;
  return (hash >> 40) % 4 != 0;
}

}  // namespace shardscape::test
