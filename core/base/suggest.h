// Suggestions for misspelled words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardscape {

// Edit distance with insertions, deletions, replacements and swaps of neighbouring letters.
int edit_distance(std::string_view a, std::string_view b);

// The nearest known word, ignoring case; empty if none is near enough.
std::optional<std::string> closest(std::string_view word, const std::vector<std::string>& known);

// "; did you mean \"near\"?", or nothing if no known word is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace shardscape
