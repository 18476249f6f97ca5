// Values that Python prints of itself: a dict, or the arguments of a call.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardscape {

// "{'a': 8, 'b': {'c': True}}" is "a" -> "8" and "b.c" -> "true"; "(a=8, b=None)" is "a" -> "8" and "b" ->
// "null". Elements of lists are joined by spaces; other objects keep their text. The text starts with the
// bracket and may go on behind its end. nullopt: the bracket does not end, or dicts are deeper than 16
// levels.
std::optional<std::vector<std::pair<std::string, std::string>>> read_python_values(std::string_view text);

}  // namespace shardscape
