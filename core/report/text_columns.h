// Columns of texts for a terminal.
#pragma once

#include <string>

namespace shardscape {

// The text with spaces up to the width in characters, in front of it or behind it.
std::string pad(std::string text, size_t width, bool right = true);

}  // namespace shardscape
