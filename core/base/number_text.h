// Parses and prints whole numbers and lists of them, as people type and read them. Private to core/design.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardscape {

enum class NumberFault { None, Empty, NotWhole, Suffix, TooLarge };
struct NumberText {
  NumberFault fault = NumberFault::None;
  int64_t value = 0;
};
// Accepts digits, an optional minus sign, and optional thousands separators (, _ ' or a space) before every
// three digits. With kibi, a trailing k multiplies by 1,024.
NumberText parse_number(std::string_view text, bool kibi);

// "15T", "1.4T", "366B" and "500M" are 15·10^12, 1.4·10^12, 366·10^9 and 500·10^6; without a suffix as
// parse_number.
NumberText parse_count(std::string_view text);

// "1.25" yields 1250. Accepts digits with at most three decimals. Negative numbers yield nullopt.
std::optional<int64_t> parse_thousandths(std::string_view text);
std::string thousandths_text(int64_t value);  // 1250 -> "1.25"

std::string_view trimmed(std::string_view text);
std::string lower_case(std::string_view text);                // of ASCII letters
std::string list_text(const std::vector<int64_t>& values);    // "9,8,8,7"
std::string or_list(const std::vector<std::string>& values);  // "a, b or c"
std::string or_list(
    const std::vector<int64_t>& values);  // "1, 2, 4 or 8"; "..." replaces the middle of more than 12 values

}  // namespace shardscape
