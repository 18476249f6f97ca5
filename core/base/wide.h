// 128-bit signed integers: the type of every evaluated count (FLOPs of a cluster overflow 64 bits).
#pragma once

#include <cstdint>
#include <string>

namespace shardscape {

using Wide = __int128;

// Decimal digits, with a minus sign where negative. No separators.
std::string to_string(Wide value);

// Nearest double; exact below 2^53.
inline double to_double(Wide value) { return static_cast<double>(value); }

}  // namespace shardscape
