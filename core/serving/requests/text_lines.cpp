#include "serving/requests/text_lines.h"

#include <charconv>
#include <chrono>
#include <cmath>

#include "base/number_text.h"
#include "serving/requests/request.h"

namespace shardscape {
namespace {

template <class Number>
std::optional<Number> parsed(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

bool TextLines::next() {
  while (!rest_.empty()) {
    const size_t end = rest_.find('\n');
    line_ = trimmed(rest_.substr(0, end));
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    ++number_;
    if (!line_.empty()) return true;
  }
  return false;
}

const std::vector<std::string_view>& TextLines::cells() {
  cells_.clear();
  for (std::string_view rest = line_;;) {
    const size_t end = rest.find(',');
    cells_.push_back(trimmed(rest.substr(0, end)));
    if (end == std::string_view::npos) return cells_;
    rest = rest.substr(end + 1);
  }
}

Problem TextLines::problem(std::string what, std::string accepted) const {
  return Problem(ProblemCode::TraceLineInvalid, name_ + ":" + std::to_string(number_), std::move(what),
                 std::move(accepted));
}

std::optional<int64_t> whole_number(std::string_view text) { return parsed<int64_t>(text); }

std::optional<int32_t> token_count(std::string_view text) {
  const auto value = whole_number(text);
  if (!value || *value < 1 || *value > kMostTokens) return std::nullopt;
  return static_cast<int32_t>(*value);
}

std::optional<double> seconds_number(std::string_view text) {
  const auto value = parsed<double>(text);
  if (!value || !std::isfinite(*value) || *value < 0) return std::nullopt;
  return value;
}

std::optional<DayTime> day_time(std::string_view text) {
  for (const std::string_view zone : {"+00:00", "Z"})
    if (text.ends_with(zone)) text.remove_suffix(zone.size());
  constexpr std::string_view kShape = "dddd-dd-dd dd:dd:dd";
  if (text.size() < kShape.size()) return std::nullopt;
  for (size_t i = 0; i < kShape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    const bool space = kShape[i] == ' ' && (text[i] == ' ' || text[i] == 'T');
    if (kShape[i] == 'd' ? !digit : !space && text[i] != kShape[i]) return std::nullopt;
  }
  const auto number = [&](size_t begin, size_t size) { return *whole_number(text.substr(begin, size)); };
  const auto seconds = seconds_number(text.substr(17));
  const int64_t month = number(5, 2), day = number(8, 2), hour = number(11, 2), minute = number(14, 2);
  if (!seconds || *seconds >= 61 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 ||
      minute > 59)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(number(0, 4))),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return DayTime{std::chrono::sys_days(date).time_since_epoch().count(),
                 static_cast<double>(hour * 3600 + minute * 60) + *seconds};
}

}  // namespace shardscape
