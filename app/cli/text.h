// Plain text for a terminal: wrapping, padding, tables. Widths are characters, not bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shardscape {

size_t text_width(std::string_view utf8);

// The side on which the text touches the edge of its column.
enum class Align { Left, Right };
std::string padded(std::string text, size_t width, Align align = Align::Left);

// A paragraph broken at spaces; all lines but the first are indented.
std::string wrapped(std::string_view text, size_t indent, size_t width = 100);

// Columns have the width of their widest cell and are two spaces apart. The first row is the heading.
std::string text_table(const std::vector<std::vector<std::string>>& rows, const std::vector<Align>& aligns);

// Joins the words with the separator.
std::string joined(const std::vector<std::string>& words, const std::string& separator);

// A cell of CSV, quoted (RFC 4180).
std::string csv_cell(const std::string& text);

}  // namespace shardscape
