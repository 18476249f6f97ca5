// 128-bit signed integers. Every evaluated count has this type, because the FLOPs of a cluster exceed 64
// bits.
#pragma once

#include <cstdint>
#include <string>

namespace shardscape {

using Wide = __int128;

// Decimal digits with a minus sign for negative values; no separators.
std::string to_string(Wide value);

// A double as an integer: without its fraction, or the nearest one (halves away from zero). Values beyond
// ±2^126 become ±2^126; NaN becomes 0.
Wide whole_part(double value);
Wide nearest_whole(double value);
// The same as whole_part, with the limits of int64_t.
int64_t whole_int64(double value);

// The nearest double; exact below 2^53.
inline double to_double(Wide value) { return static_cast<double>(value); }

}  // namespace shardscape
