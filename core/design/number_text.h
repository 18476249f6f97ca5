// Whole numbers as people type and list them. Private to core/design.
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
// Digits with an optional minus sign and optional separators (, _ ' or a space) before every three digits; with
// kibi, a k at the end stands for 1,024.
NumberText parse_number(std::string_view text, bool kibi);

// "1.25" is 1250: digits with at most three decimals, not negative.
std::optional<int64_t> parse_thousandths(std::string_view text);
std::string thousandths_text(int64_t value);  // "1.25"

std::string_view trimmed(std::string_view text);
std::string list_text(const std::vector<int64_t>& values);     // "9,8,8,7"
std::string or_list(const std::vector<std::string>& values);   // "a, b or c"
std::string or_list(const std::vector<int64_t>& values);       // "1, 2, 4 or 8"; the middle of long lists is left out

}  // namespace shardscape
