#include <toml++/toml.h>
#include <cctype>
#include <sstream>

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

// A key with many parts, "a.a.a", is a table inside a table. The library limits the levels of values but not
// those of keys, and recurses over both.
void check_keys(const std::string& text) {
  int parts = 0, line = 1;
  char before = 0;
  for (const char c : text) {
    const bool of_key = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '"' ||
                        c == '\'' || c == ' ' || c == '\t';
    if (c == '.' && before != '.')
      FlatValues::check_depth(++parts, line);
    else if (!of_key)
      parts = 0;
    line += c == '\n';
    before = c;
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
