#include "base/wide.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shardscape {

std::string to_string(Wide value) {
  // The magnitude is unsigned, because the lowest value has no positive counterpart.
  using Magnitude = unsigned __int128;
  Magnitude rest = value < 0 ? Magnitude{0} - static_cast<Magnitude>(value) : static_cast<Magnitude>(value);
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (value < 0) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

Wide whole_part(double value) {
  constexpr double kMost = 0x1p126;
  return std::isnan(value) ? 0 : static_cast<Wide>(std::clamp(value, -kMost, kMost));
}
int64_t whole_int64(double value) {
  using Limits = std::numeric_limits<int64_t>;
  return static_cast<int64_t>(std::clamp<Wide>(whole_part(value), Limits::min(), Limits::max()));
}
Wide nearest_whole(double value) { return whole_part(std::round(value)); }

}  // namespace shardscape
