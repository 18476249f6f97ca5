#include "serving/service_limits.h"

#include <cmath>
#include <utility>

#include "base/number_text.h"
#include "base/real_text.h"

namespace shardscape {
namespace {

constexpr std::pair<std::string_view, double> kUnits[] = {
    {"min", 60}, {"ms", 1e-3}, {"us", 1e-6}, {"\u00b5s", 1e-6}, {"s", 1}};  // "s" last: others end with it

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// The number of the text; nothing if it is no positive number.
std::optional<double> positive(std::string_view text) {
  const std::string whole(trimmed(text));
  if (whole.empty() || whole.find_first_not_of("0123456789.") != std::string::npos) return std::nullopt;
  const std::optional<double> value = parse_real(whole);
  return value && *value > 0 ? value : std::nullopt;
}

}  // namespace

Result<std::optional<double>> limit_seconds(std::string_view text, const std::string& where) {
  const std::string all = lower_case(trimmed(text));
  if (all.empty()) return std::optional<double>();
  for (const auto& [unit, seconds] : kUnits) {
    if (!ends_with(all, unit)) continue;
    if (const auto value = positive(std::string_view(all).substr(0, all.size() - unit.size())))
      return std::optional(*value * seconds);
    break;
  }
  const std::string accepted = "a time above 0 with its unit, such as 50 ms or 1.5 s";
  if (positive(all))
    return Problem{ProblemCode::NotANumber, where, "\"" + all + "\" has no unit of time", accepted};
  return Problem{ProblemCode::NotANumber, where, "\"" + all + "\" is not a time", accepted};
}

std::string limit_text(double seconds) {
  const auto& [unit, size] = seconds >= 1      ? std::pair<const char*, double>("s", 1)
                             : seconds >= 1e-3 ? std::pair<const char*, double>("ms", 1e-3)
                                               : std::pair<const char*, double>("us", 1e-6);
  return real_text(seconds / size, 6) + " " + unit;
}

std::string limits_text(const ServiceLimits& limits) {
  std::string out;
  if (limits.ttft) out += "TTFT <= " + limit_text(*limits.ttft);
  if (limits.tpot) out += (out.empty() ? "TPOT <= " : " and TPOT <= ") + limit_text(*limits.tpot);
  return out;
}

}  // namespace shardscape
