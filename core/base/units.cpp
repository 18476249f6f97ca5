#include "base/units.h"

#include <cmath>
#include <span>

#include "base/real_text.h"

namespace shardscape {
namespace {

// Separators into the digits before the point.
std::string with_separators(std::string digits) {
  const size_t begin = !digits.empty() && digits[0] == '-' ? 1 : 0;
  size_t end = digits.find('.');
  if (end == std::string::npos) end = digits.size();
  while (end > begin + 3) digits.insert(end -= 3, 1, ',');
  return digits;
}

// Decimals that show the wanted number of significant digits of value after rounding.
int decimals_for(double value, int digits) {
  if (!std::isfinite(value)) return 0;
  const std::string text = scientific_text(std::fabs(value), digits - 1);
  const int exponent = std::stoi(text.substr(text.find('e') + 1));
  return digits - 1 - exponent;
}

// The unit is chosen after rounding, so that 999,999 reads 1.00 M and not 1,000 K.
std::string scaled(double value, double base, std::span<const char* const> units, int least_decimals) {
  for (size_t unit = 0;; ++unit) {
    const int decimals = value == 0 ? 0 : std::max(least_decimals, decimals_for(value, 3));
    const std::string text = fixed_text(value, unit == 0 ? 0 : std::max(0, decimals));
    if (std::fabs(parse_real(text).value_or(0)) < base || unit + 1 == units.size()) {
      const std::string suffix = units[unit];
      return with_separators(text) + (suffix.empty() ? "" : " " + suffix);
    }
    value /= base;
  }
}

}  // namespace

std::string grouped(Wide value) { return with_separators(to_string(value)); }

std::string format_bytes(Wide bytes, UnitSystem system) {
  static constexpr const char* binary[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
  static constexpr const char* decimal[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
  return system == UnitSystem::Binary ? scaled(to_double(bytes), 1024, binary, 0)
                                      : scaled(to_double(bytes), 1000, decimal, 0);
}

std::string format_count(Wide value) {
  // Parameters are quoted with a decimal even in the hundreds: 405.9 B.
  static constexpr const char* units[] = {"", "K", "M", "B", "T"};
  return scaled(to_double(value), 1000, units, 1);
}

std::string format_flops(Wide flops) {
  static constexpr const char* units[] = {"FLOP",  "kFLOP", "MFLOP", "GFLOP", "TFLOP",
                                          "PFLOP", "EFLOP", "ZFLOP", "YFLOP"};
  return scaled(to_double(flops), 1000, units, 0);
}

std::string format_seconds(double seconds) {
  struct Unit {
    double size, limit;  // in seconds; used below the limit
    const char* name;
  };
  static constexpr Unit units[] = {{1e-9, 1e-6, "ns"}, {1e-6, 1e-3, "µs"}, {1e-3, 1, "ms"},
                                   {1, 120, "s"},      {60, 7200, "min"},  {3600, 172800, "h"}};
  if (seconds == 0) return "0 s";
  if (!std::isfinite(seconds)) return significant(seconds) + " s";
  for (const Unit& unit : units) {
    // Half a unit of the third digit below the limit would print as the limit itself.
    if (std::fabs(seconds) < unit.limit * 0.9995) return significant(seconds / unit.size) + " " + unit.name;
  }
  return significant(seconds / 86400) + " days";
}

std::string significant(double value, int digits) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (value == 0) return "0";
  if (std::fabs(value) < 1e-6) return scientific_text(value, digits - 1);
  return with_separators(fixed_text(value, std::max(0, decimals_for(value, digits))));
}

std::string format_percent(double share) { return significant(100 * share) + " %"; }

}  // namespace shardscape
