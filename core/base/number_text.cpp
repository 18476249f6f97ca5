#include "base/number_text.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/units.h"

namespace shardscape {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Bytes of the thousands separator at the start of the text; 0 if there is none.
size_t separator(std::string_view text) {
  static constexpr std::array<std::string_view, 7> kSeparators{",",      "_",      "'",     " ",
                                                               "\u00a0", "\u2009", "\u202f"};
  for (std::string_view candidate : kSeparators) {
    if (text.starts_with(candidate)) return candidate.size();
  }
  return 0;
}

}  // namespace

NumberText parse_number(std::string_view text, bool kibi) {
  text = trimmed(text);
  if (text.empty()) return {NumberFault::Empty};
  const bool negative = text.front() == '-';
  if (negative) text.remove_prefix(1);
  int64_t scale = 1;
  if (!text.empty() && (text.back() == 'k' || text.back() == 'K' || text.back() == 'M') &&
      is_digit(text.front())) {
    if (!kibi || text.back() == 'M') return {NumberFault::Suffix};
    scale = 1024;
    text.remove_suffix(1);
    text = trimmed(text);
  }
  int64_t value = 0;
  bool large = false, separated = false;
  size_t run = 0;  // digits since the start or the last separator
  while (!text.empty()) {
    if (is_digit(text.front())) {
      large |= __builtin_mul_overflow(value, 10, &value) ||
               __builtin_add_overflow(value, text.front() - '0', &value);
      ++run;
      text.remove_prefix(1);
      continue;
    }
    const size_t length = separator(text);
    const bool grouped_so_far = separated ? run == 3 : run >= 1 && run <= 3;
    if (length == 0 || !grouped_so_far) return {NumberFault::NotWhole};
    separated = true;
    run = 0;
    text.remove_prefix(length);
  }
  if (run == 0 || (separated && run != 3)) return {NumberFault::NotWhole};
  large |= __builtin_mul_overflow(value, scale, &value);
  if (large) return {NumberFault::TooLarge};
  return {NumberFault::None, negative ? -value : value};
}

NumberText parse_count(std::string_view text) {
  text = trimmed(text);
  int64_t scale = 0;
  if (!text.empty()) {
    switch (text.back()) {
      case 'T': scale = 1000000000; break;
      case 'B': scale = 1000000; break;
      case 'M': scale = 1000; break;
      default: return parse_number(text, false);
    }
  }
  if (scale == 0) return {NumberFault::Empty};
  text.remove_suffix(1);
  const std::optional<int64_t> thousandths = parse_thousandths(text);
  if (!thousandths) return {NumberFault::NotWhole};
  int64_t value = 0;
  if (__builtin_mul_overflow(*thousandths, scale, &value)) return {NumberFault::TooLarge};
  return {NumberFault::None, value};
}

std::optional<int64_t> parse_thousandths(std::string_view text) {
  text = trimmed(text);
  const size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point),
                         part = point < text.size() ? text.substr(point + 1) : std::string_view{};
  if (part.size() > 3 || (whole.empty() && part.empty()) || !std::all_of(part.begin(), part.end(), is_digit))
    return std::nullopt;
  int64_t value = 0;
  if (!whole.empty()) {
    const NumberText read = parse_number(whole, false);
    if (read.fault != NumberFault::None || read.value < 0) return std::nullopt;
    value = read.value;
  }
  for (size_t i = 0; i < 3; ++i)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, i < part.size() ? part[i] - '0' : 0, &value))
      return std::nullopt;
  return value;
}

std::string thousandths_text(int64_t value) {
  std::string part = std::to_string(1000 + value % 1000).substr(1);
  while (!part.empty() && part.back() == '0') part.pop_back();
  return std::to_string(value / 1000) + (part.empty() ? "" : "." + part);
}

std::string_view trimmed(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string list_text(const std::vector<int64_t>& values) {
  std::string text;
  for (int64_t value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

std::string or_list(const std::vector<std::string>& values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += i + 1 == values.size() ? " or " : ", ";
    text += values[i];
  }
  return text;
}

std::string or_list(const std::vector<int64_t>& values) {
  constexpr size_t kShown = 12;
  std::vector<std::string> texts;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values.size() > kShown && i == kShown - 2) texts.push_back("...");
    if (values.size() <= kShown || i < kShown - 2 || i + 1 == values.size())
      texts.push_back(grouped(values[i]));
  }
  return or_list(texts);
}

}  // namespace shardscape
