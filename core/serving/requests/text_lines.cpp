#include "serving/requests/text_lines.h"

#include <charconv>
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

}  // namespace shardscape
