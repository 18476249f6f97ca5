#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "launch/document/flat_values.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

std::string plain(const Json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void collect(const Json& value, const std::string& path, int depth, FlatValues& out) {
  FlatValues::check_depth(depth, 0);
  if (value.is_object()) {
    if (value.empty() && !path.empty()) out.add(path, "", 0);
    for (const auto& [key, entry] : value.items())
      collect(entry, FlatValues::join(path, key), depth + 1, out);
  } else if (value.is_array()) {
    std::vector<std::string> parts;
    for (const Json& entry : value)
      if (entry.is_primitive()) parts.push_back(plain(entry));
    if (parts.size() == value.size()) return out.add(path, FlatValues::spaced(parts), 0);
    for (size_t i = 0; i < value.size(); ++i)
      collect(value[i], FlatValues::join(path, std::to_string(i)), depth + 1, out);
  } else {
    out.add(path, plain(value), 0);
  }
}

}  // namespace

LaunchDocument read_json_values(const std::string& text) {
  Json root;
  // Python's reader accepts a key twice.
  if (const auto mistake = parse_json(text, root, {.repeated = RepeatedKeys::LastCounts})) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(mistake->byte);
    throw DocumentError("the text is not JSON: " + mistake->what,
                        1 + static_cast<int>(std::count(text.begin(), end, '\n')));
  }
  if (!root.is_object()) throw DocumentError("the document is no object", 0);
  FlatValues out;
  collect(root, "", 0, out);
  return out.take();
}

}  // namespace shardscape
