// Row labels of text tables: UTF-8, cut to a width in characters.
#pragma once

#include <string>

namespace shardscape {

size_t text_width(const std::string& text);  // characters
// The text, shortened to the width; an ellipsis replaces the omitted end.
std::string cut_text(const std::string& text, size_t width);

}  // namespace shardscape
