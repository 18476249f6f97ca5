// Text of files and flags as it is shown to people: without control characters, and not too long.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shardscape {

// The text on one line. Control characters (line breaks too), marks that change the direction of a text, and
// bytes that are no UTF-8 become "\n", "\x1b", "\u202e".
std::string printable(std::string text);
// A name as it reads in a line of Markdown: "\<b>" for "<b>", and printable().
std::string markdown_text(const std::string& text);
// The first character of a text that is not empty; a byte that is no UTF-8 alone.
std::string_view first_character(std::string_view text);
// The first bytes of a text that is longer than `most` bytes, with "..." at the end. No character is divided.
std::string shortened(std::string_view text, size_t most = 60);
// The same, with "..." in the middle: three quarters of the bytes are from the beginning.
std::string shortened_inside(std::string text, size_t most);

}  // namespace shardscape
