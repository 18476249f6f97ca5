// Prints numbers for people: thousands separators, three significant figures, binary or decimal prefixes.
#pragma once

#include <string>

#include "base/wide.h"

namespace shardscape {

enum class UnitSystem { Binary, Decimal };

std::string grouped(Wide value);                                               // 131,072
std::string format_bytes(Wide bytes, UnitSystem system = UnitSystem::Binary);  // 61.3 GiB or 65.8 GB
std::string format_count(Wide value);                                          // 405.9 B, 1.03 M, 812
std::string format_flops(Wide flops);                                          // 5.50 PFLOP
std::string format_seconds(double seconds);                                    // 9.84 s, 1.14 ms
std::string significant(double value, int digits = 3);                         // 61.3, 9.84, 0.00123
std::string format_percent(double share);                                      // 0.4217: 42.2 %

}  // namespace shardscape
