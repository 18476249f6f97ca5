// Real numbers as text. The decimal point is a point whatever the locale of the process: a window, or a
// program that loads the Python module, may have set another one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shardscape {

std::string fixed_text(double value, int decimals);       // 61.30
std::string scientific_text(double value, int decimals);  // 6.13e+01
std::string real_text(double value, int digits);          // the shorter of both, as printf's %g: 61.3, 1e-07
std::string signed_text(double value, int decimals);      // +61.30, -0.50

// The finite number that the text starts with, and its characters. Nothing without a number, or if its size
// is out of the range of a double.
struct LeadingReal {
  double value = 0;
  size_t length = 0;
};
std::optional<LeadingReal> leading_real(std::string_view text);
// The number that is the whole text.
std::optional<double> parse_real(std::string_view text);

}  // namespace shardscape
