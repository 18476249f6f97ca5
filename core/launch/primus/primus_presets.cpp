#include "launch/primus/primus_presets.h"

#include <nlohmann/json.hpp>

#include "base/data_dir.h"
#include "base/json_text.h"

namespace shardscape {
namespace {

using Json = nlohmann::json;

PrimusValues values_of(const Json& file, const char* name) {
  PrimusValues out;
  if (!file.contains(name) || !file[name].is_object()) return out;
  for (const auto& [key, value] : file[name].items())
    if (value.is_string()) out[key] = value.get<std::string>();
  return out;
}

PrimusPresets read_presets() {
  PrimusPresets out;
  const auto text = read_text(data_dir() / "resources" / "launch" / "primus_presets.json");
  if (!std::holds_alternative<std::string>(text)) return out;
  Json file;
  if (parse_json(std::get<std::string>(text), file) || !file.is_object()) return out;
  out.trainer = values_of(file, "trainer");
  out.language_model = values_of(file, "language_model");
  if (file.contains("models") && file["models"].is_object())
    for (const auto& [name, model] : file["models"].items())
      out.models[name] = values_of(file["models"], name.c_str());
  return out;
}

}  // namespace

const PrimusPresets& primus_presets() {
  static const PrimusPresets kPresets = read_presets();
  return kPresets;
}

}  // namespace shardscape
