// Row labels of text tables: UTF-8, cut to a width in characters.
#pragma once

#include <string>

namespace shardscape {

size_t text_width(const std::string& text);  // characters
// replaces the end of a longer text by an ellipsis
std::string cut_text(const std::string& text, size_t width);

}  // namespace shardscape
