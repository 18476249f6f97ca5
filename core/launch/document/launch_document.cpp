#include "launch/document/launch_document.h"

#include <algorithm>
#include <cctype>

#include "launch/document/flat_values.h"

namespace shardscape {

void FlatValues::check_depth(int depth, int line) {
  if (depth > kDeepestLaunchValue)
    throw DocumentError("values are nested deeper than " + std::to_string(kDeepestLaunchValue) + " levels",
                        line);
}

void FlatValues::visit(int line) {
  constexpr size_t kMostVisits = 1'000'000;
  if (++visits_ > kMostVisits)
    throw DocumentError(
        "references make more than " + std::to_string(kMostVisits) + " values of the document", line);
}

void FlatValues::add(const std::string& path, const std::string& text, int line) {
  if (out_.arguments.size() >= kMostLaunchValues)
    throw DocumentError("there are more than " + std::to_string(kMostLaunchValues) + " values", line);
  spend(path.size() + text.size(), line);
  out_.arguments[path] = text;
  if (line > 0) out_.lines[path] = line;
}

void FlatValues::spend(size_t bytes, int line) {
  bytes_ += bytes;
  if (bytes_ > kMostLaunchBytes)
    throw DocumentError("names and values have more than " + std::to_string(kMostLaunchBytes >> 20) + " MiB",
                        line);
}

std::string FlatValues::spaced(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : " ") + part;
  return out;
}

bool begins_as_toml(std::string_view text) {
  size_t at = text.find_first_not_of(" \t\r\n");
  while (at != std::string_view::npos && text[at] == '#')
    at = text.find_first_not_of(" \t\r\n", text.find('\n', at));
  if (at == std::string_view::npos || text[at] != '[') return false;
  std::string_view line = text.substr(at, text.find('\n', at) - at);
  line.remove_prefix(std::min(line.find_first_not_of('['), line.size()));
  const auto in_name = [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '_' || c == '-'; };
  const auto end = static_cast<size_t>(std::find_if_not(line.begin(), line.end(), in_name) - line.begin());
  // Only a comment follows; the text may end inside the brackets.
  const size_t behind = line.find_first_not_of("] \t\r", end);
  const bool whole = behind == std::string_view::npos || line[behind] == '#';
  return end > 0 && std::isalpha(static_cast<unsigned char>(line[0])) &&
         (end == line.size() || (line[end] == ']' && whole));
}

std::variant<LaunchDocument, Problem> read_launch_document(DocumentLanguage language, const std::string& text,
                                                           const std::string& where) {
  struct Reader {
    const char* name;
    LaunchDocument (*read)(const std::string& text);
  };
  const auto reader = [&]() -> Reader {
    switch (language) {
      case DocumentLanguage::Yaml: return {"YAML", read_yaml_values};
      case DocumentLanguage::Toml: return {"TOML", read_toml_values};
      case DocumentLanguage::Json: return {"JSON", read_json_values};
      case DocumentLanguage::Python: return {"Python", read_python_settings};
    }
    return {"YAML", read_yaml_values};
  }();
  try {
    return reader.read(text);
  } catch (const DocumentError& error) {
    return Problem{ProblemCode::LaunchSyntax,
                   where + (error.line > 0 ? ", line " + std::to_string(error.line) : ""), error.what(),
                   std::string("a ") + reader.name + " mapping of names and values"};
  }
}

}  // namespace shardscape
