#include "base/wide.h"

#include <algorithm>

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

}  // namespace shardscape
