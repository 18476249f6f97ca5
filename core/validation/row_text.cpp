#include "validation/row_text.h"

namespace shardscape {
namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

}  // namespace

size_t text_width(const std::string& text) {
  size_t width = 0;
  for (const char c : text) width += begins_character(c);
  return width;
}

std::string cut_text(const std::string& text, size_t width) {
  if (text_width(text) <= width) return text;
  size_t end = 0;
  for (size_t seen = 0; end < text.size(); ++end)
    if (begins_character(text[end]) && ++seen == width) break;
  return text.substr(0, end) + "…";
}

}  // namespace shardscape
