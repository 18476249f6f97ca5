#include "bundle/export_settings.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/version.h"
#include "design/document.h"

namespace shardscape {

std::string export_settings(const Report& report, const ExportOptions& options) {
  nlohmann::ordered_json j;
  j["program_version"] = program_version();
  j["name"] = options.name;
  j["tensors"] = options.tensors;
  j["durations"] = options.durations;
  j["launches"] = options.launches;
  j["json"] = options.json;
  j["granularity"] = granularity_name(options.granularity);
  j["steps"] = options.steps;
  j["ranks"] = to_string(options.part.ranks);
  j["stage"] = to_string(options.part.stages);
  j["flat_network"] = options.flat_network;
  j["networks"] = nlohmann::ordered_json::array();
  for (const PacketBackend backend : options.networks) j["networks"].push_back(backend_name(backend));
  j["compact"] = options.compact;
  j["design"] = nlohmann::ordered_json::parse(to_json(report.design));
  return json_document(j);
}

std::string settings_difference(const std::string& before, const std::string& now) {
  nlohmann::json old, fresh;
  if (parse_json(before, old) || parse_json(now, fresh) || !old.is_object()) return "they cannot be read";
  const nlohmann::json changes = nlohmann::json::diff(old, fresh);
  if (changes.empty()) return "";
  const std::string pointer = changes[0].at("path").get<std::string>();
  const auto value = [&](const nlohmann::json& of) {
    const nlohmann::json::json_pointer at(pointer);
    return of.contains(at) ? of.at(at).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                           : std::string("not given");
  };
  std::string place = pointer.substr(1);
  for (char& c : place)
    if (c == '/') c = '.';
  return place + " was " + value(old) + " and is " + value(fresh);
}

}  // namespace shardscape
