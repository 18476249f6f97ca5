// The values that a dimension runs over, as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "design/knobs/knobs.h"

namespace shardscape {

// "8", "1,2,4", "1..64*2" (1, 2, 4 ... 64), "1..9+2" (1, 3 ... 9), "1..4" (every whole number), and any of
// these between commas. Of knobs that are lists themselves the alternatives stand between bars:
// "7,8,8,9|8,8,8,8". Every value as knob_text gives it, once, numbers ascending and choices in the order of
// the table. A Problem names the knob.
std::variant<std::vector<std::string>, Problem> parse_values(const Knob& knob, const std::string& text);
std::string values_help(const Knob& knob);  // what parse_values takes: "a value, a list such as 1,2,4, ..."
// Whether the text is "all".
bool is_all(const std::string& text);
// Whether a text that is no problem stands for more than one value.
bool is_range(const Knob& knob, const std::string& text);

// What "all" stands for: every choice, off and on, and of numbers those that can work out: divisors of what
// they split, 0 where that lets the program choose. Degrees of parallelism are not among them: they follow
// from the number of ranks.
std::variant<std::vector<std::string>, Problem> all_values(const Knob& knob, const Design& base);

// What a sweep runs over, in the words of parse_values, ascending; empty where the text is, or says "usual":
// the program chooses (usual_batches and usual_contexts in serving/inference.h).
std::variant<std::vector<int64_t>, Problem> sweep_values(const Knob& knob, const std::string& text);

inline constexpr size_t kMaxValues = 100'000;  // of one dimension
inline constexpr size_t kMaxSwept = 64;        // of one side of a sweep

}  // namespace shardscape
