// 128-bit signed integers. Every evaluated count has this type, because the FLOPs of a cluster exceed 64
// bits.
#pragma once

#include <cstdint>
#include <string>

namespace shardscape {

using Wide = __int128;

// Decimal digits with a minus sign for negative values; no separators.
std::string to_string(Wide value);

// The nearest double; exact below 2^53.
inline double to_double(Wide value) { return static_cast<double>(value); }

}  // namespace shardscape
