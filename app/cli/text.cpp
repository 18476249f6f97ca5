#include "app/cli/text.h"

#include <algorithm>
#include <cctype>

namespace shardscape {

size_t text_width(std::string_view utf8) {
  return static_cast<size_t>(std::count_if(
      utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(std::string text, size_t width, Align align) {
  const size_t shown = text_width(text);
  if (shown >= width) return text;
  return align == Align::Left ? text.append(width - shown, ' ') : text.insert(0, width - shown, ' ');
}

std::string wrapped(std::string_view text, size_t indent, size_t width) {
  std::string out;
  size_t column = indent;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t shown = text_width(word);
    if (column > indent && column + 1 + shown > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += shown;
  }
  return out;
}

std::string text_table(const std::vector<std::vector<std::string>>& rows, const std::vector<Align>& aligns) {
  std::vector<size_t> widths(aligns.size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], text_width(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const bool ends = i + 1 == row.size() && aligns[i] == Align::Left;
      line += (i ? "  " : "") + (ends ? row[i] : padded(row[i], widths[i], aligns[i]));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : separator) + word;
  return out;
}

std::string csv_cell(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace shardscape
