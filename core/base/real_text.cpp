#include "base/real_text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace shardscape {
namespace {

std::string printed(double value, std::chars_format format, int precision) {
  std::array<char, 400> text{};  // the longest double has 309 digits before the point
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, precision);
  return {text.data(), end.ptr};
}

}  // namespace

std::string fixed_text(double value, int decimals) {
  return printed(value, std::chars_format::fixed, decimals);
}
std::string scientific_text(double value, int decimals) {
  return printed(value, std::chars_format::scientific, decimals);
}
std::string real_text(double value, int digits) { return printed(value, std::chars_format::general, digits); }
std::string signed_text(double value, int decimals) {
  return (std::signbit(value) ? "" : "+") + fixed_text(value, decimals);
}

std::optional<LeadingReal> leading_real(std::string_view text) {
  LeadingReal out;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), out.value);
  if (end.ec != std::errc() || !std::isfinite(out.value)) return std::nullopt;  // "inf" and "nan" are words
  out.length = static_cast<size_t>(end.ptr - text.data());
  return out;
}

std::optional<double> parse_real(std::string_view text) {
  const auto read = leading_real(text);
  return read && read->length == text.size() ? std::optional(read->value) : std::nullopt;
}

}  // namespace shardscape
