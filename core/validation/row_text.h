// Names of rows in tables: UTF-8, cut to a width in characters.
#pragma once

#include <string>

namespace shardscape {

size_t text_width(const std::string& text);                   // characters
std::string cut_text(const std::string& text, size_t width);  // the end of a longer one becomes an ellipsis

}  // namespace shardscape
