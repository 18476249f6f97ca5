// What a person most likely meant by a word that is not known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardscape {

// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
int edit_distance(std::string_view a, std::string_view b);

// The nearest known word, whatever its case; nothing where all are too far to be meant.
std::optional<std::string> closest(std::string_view word, const std::vector<std::string>& known);

}  // namespace shardscape
