// Text syntax for the values of a dimension.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "design/knobs/knobs.h"

namespace shardscape {

// Syntax: "8", "1,2,4", "1..64*2" (1, 2, 4 ... 64), "1..9+2" (1, 3 ... 9), "1..4" (every integer), or several
// of these separated by commas. For knobs that are lists, bars separate the alternatives: "7,8,8,9|8,8,8,8".
// Returns every value once in the format of knob_text: numbers ascending, choices in the order of the knob
// table. A Problem names the knob.
Result<std::vector<std::string>> parse_values(const Knob& knob, const std::string& text);
std::string values_help(const Knob& knob);  // the accepted syntax: "a value, a list such as 1,2,4, ..."
// Whether the text is "all".
bool is_all(const std::string& text);
// Whether a text in the syntax of parse_values() denotes more than one value.
bool is_range(const Knob& knob, const std::string& text);

// The values of "all": every choice, both Boolean values, and the numbers that can be valid. Those are
// divisors of the divided size, and 0 where 0 lets the program choose. Degrees of parallelism have no "all":
// they follow from the number of ranks.
Result<std::vector<std::string>> all_values(const Knob& knob, const Design& base);

// Values of a sweep in the syntax of parse_values, ascending. Empty if the text is empty or "usual": then
// usual_batches and usual_contexts of serving/inference.h choose.
Result<std::vector<int64_t>> sweep_values(const Knob& knob, const std::string& text);

inline constexpr size_t kMaxValues = 100'000;  // of one dimension
inline constexpr size_t kMaxSwept = 64;        // of one dimension of a sweep

}  // namespace shardscape
