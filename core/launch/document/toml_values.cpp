#include <toml++/toml.h>
#include <algorithm>
#include <sstream>
#include <string_view>

#include "launch/document/flat_values.h"

namespace shardscape {
namespace {

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

std::string plain(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  std::ostringstream out;
  node.visit([&](const auto& value) {
    if constexpr (toml::is_value<decltype(value)>) out << value.get();
  });
  return out.str();
}

void collect(const toml::node& node, const std::string& path, int depth, FlatValues& out) {
  FlatValues::check_depth(depth, line_of(node));
  if (const toml::table* table = node.as_table()) {
    if (table->empty() && !path.empty()) out.add(path, "", line_of(node));
    for (const auto& [key, value] : *table)
      collect(value, FlatValues::join(path, std::string(key.str())), depth + 1, out);
  } else if (const toml::array* list = node.as_array()) {
    std::vector<std::string> parts;
    for (const toml::node& entry : *list)
      if (entry.is_value()) parts.push_back(plain(entry));
    if (parts.size() == list->size()) return out.add(path, FlatValues::spaced(parts), line_of(node));
    for (size_t i = 0; i < list->size(); ++i)
      collect((*list)[i], FlatValues::join(path, std::to_string(i)), depth + 1, out);
  } else {
    out.add(path, plain(node), line_of(node));
  }
}

// Position behind the quoted text that begins at `at`. A text of one line ends with its line.
size_t end_of_text(std::string_view text, size_t at) {
  const std::string quote(text.substr(at, 3) == std::string(3, text[at]) ? 3 : 1, text[at]);
  const bool one_line = quote.size() == 1;
  for (size_t i = at + quote.size(); i < text.size(); ++i) {
    if (one_line && text[i] == '\n') return i;
    if (text[i] == '\\' && quote[0] == '"')
      ++i;
    else if (text.substr(i, quote.size()) == quote) {
      i += quote.size();
      // Two more quotes may stand in front of the closing ones.
      for (int more = 0; !one_line && more < 2 && i < text.size() && text[i] == quote[0]; ++more) ++i;
      return i;
    }
  }
  return text.size();
}

// A key with many parts, "a.a.a", is a table inside a table. The library limits the levels of values but not
// those of keys, and recurses over both.
void check_keys(const std::string& text) {
  int parts = 0, line = 1;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const size_t end = c == '"' || c == '\'' ? end_of_text(text, at)
                       : c == '#'            ? std::min(text.find('\n', at), text.size())
                                             : at + 1;
    if (c == '.') FlatValues::check_depth(++parts, line);
    if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) parts = 0;
    line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                        text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at = end;
  }
}

}  // namespace

LaunchDocument read_toml_values(const std::string& text) {
  check_keys(text);
  try {
    const toml::table root = toml::parse(text);
    FlatValues out;
    collect(root, "", 0, out);
    return out.take();
  } catch (const toml::parse_error& error) {
    throw DocumentError("the text is not TOML: " + std::string(error.description()),
                        static_cast<int>(error.source().begin.line));
  }
}

}  // namespace shardscape
