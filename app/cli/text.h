// Plain text for a terminal: wrapping, padding, tables. Widths count characters, not bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shardscape {

std::string lower_case(std::string_view text);
size_t text_width(std::string_view utf8);

// Filled to the width on one side.
enum class Align { Left, Right };
std::string padded(std::string text, size_t width, Align align = Align::Left);

// Paragraph broken at spaces, every line but the first indented.
std::string wrapped(std::string_view text, size_t indent, size_t width = 100);

// Columns as wide as their widest cell, two spaces apart; the first row is the heading.
std::string text_table(const std::vector<std::vector<std::string>>& rows, const std::vector<Align>& aligns);

// The words with the separator between them.
std::string joined(const std::vector<std::string>& words, const std::string& separator);

}  // namespace shardscape
