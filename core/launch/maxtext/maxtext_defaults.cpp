#include "launch/maxtext/maxtext_defaults.h"

#include <nlohmann/json.hpp>

#include "base/data_dir.h"
#include "base/json_text.h"
#include "launch/document/document_launch.h"

namespace shardscape {

MaxTextDefaults::MaxTextDefaults() {
  const auto text = read_text(data_dir() / "resources" / "launch" / "maxtext_defaults.json");
  if (!std::holds_alternative<std::string>(text)) return;
  nlohmann::ordered_json file;
  if (parse_json(std::get<std::string>(text), file) || !file.is_object() || !file.contains("defaults"))
    return;
  // Words of nested lists in the order of the file.
  for (const auto& [name, value] : file["defaults"].items()) {
    if (!value.is_string()) continue;
    const std::string text = value.get<std::string>();
    defaults_[name] = text;
    const size_t dot = name.find('.');
    if (dot == std::string::npos || text.empty()) continue;
    std::string& words = words_[name.substr(0, dot)];
    words += (words.empty() ? "" : " ") + text;
  }
}

bool MaxTextDefaults::knows(const std::string& argument) const {
  const std::string name = argument.substr(0, argument.find('.'));
  return defaults_.empty() || defaults_.contains(name) || words_.contains(name);
}

bool MaxTextDefaults::is_default(const std::string& argument, const std::string& value) const {
  if (const auto words = words_.find(argument); words != words_.end()) return words->second == value;
  const auto otherwise = defaults_.find(argument);
  if (otherwise == defaults_.end()) return false;
  if (otherwise->second == value) return true;
  const auto given = real_number(value), usual = real_number(otherwise->second);
  return given && usual && *given == *usual;
}

}  // namespace shardscape
