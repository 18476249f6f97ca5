// Reads the lines of a CSV or JSON Lines file, and the numbers in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"

namespace shardscape {

// Walks over the lines that are not empty. The text outlives the walk.
class TextLines {
 public:
  TextLines(std::string_view text, std::string name) : rest_(text), name_(std::move(name)) {}
  bool next();  // false at the end of the text
  std::string_view line() const { return line_; }
  int64_t number() const { return number_; }  // of the line, from 1
  // The parts between commas, without spaces at their ends. Valid until next().
  const std::vector<std::string_view>& cells();
  // A problem of the current line.
  Problem problem(std::string what, std::string accepted) const;

 private:
  std::string_view rest_, line_;
  std::string name_;
  int64_t number_ = 0;
  std::vector<std::string_view> cells_;
};

inline constexpr char kTokenCounts[] = "whole numbers from 1 to 1,073,741,824";
std::optional<int32_t> token_count(std::string_view text);  // of 1 to kMostTokens
std::optional<int64_t> whole_number(std::string_view text);
std::optional<double> seconds_number(std::string_view text);  // finite, at least 0

// "2023-11-16 18:15:46.6805900", "2024-05-10 00:00:00.009930+00:00": a day since 1970-01-01 and its seconds.
// A T may stand for the space; the only zone is +00:00 or Z. Nothing: no such time.
struct DayTime {
  int64_t day = 0;
  double seconds = 0;
};
std::optional<DayTime> day_time(std::string_view text);

}  // namespace shardscape
