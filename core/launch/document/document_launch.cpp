#include "launch/document/document_launch.h"

#include <charconv>
#include <cmath>

#include "launch/launch_parts.h"
#include "model/preset_names.h"

namespace shardscape {

std::optional<LaunchDocument> read_request(DocumentLanguage language, const std::string& text,
                                           const LaunchRequest& request, LaunchImport& out) {
  auto read = read_launch_document(language, text, request.where);
  if (auto* document = std::get_if<LaunchDocument>(&read)) return std::move(*document);
  out.problems.push_back(std::get<Problem>(read));
  return std::nullopt;
}

bool set_preset(LaunchFields& fields, const std::string& preset, const std::string& argument) {
  if (!apply_preset(fields.design(), preset)) return false;
  fields.set_architecture(fields.design().model.architecture, argument);
  return true;
}

bool set_requested_model(LaunchFields& fields, const LaunchRequest& request, const std::string& found,
                         LaunchImport& out) {
  if (!request.model.empty() && set_preset(fields, preset_id_of_name(request.model), "--model")) return true;
  out.problems.emplace_back(
      ProblemCode::LaunchFormat, request.where,
      request.model.empty() ? found : "\"" + request.model + "\" is no preset of a model",
      "--model NAME with a name from `shardscape-cli presets`; a config.json of another model can be "
      "imported on its own");
  return false;
}

std::optional<double> real_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string joined_numbers(const std::vector<int64_t>& numbers) {
  std::string out;
  for (const int64_t one : numbers) out += (out.empty() ? "" : ",") + std::to_string(one);
  return out;
}

}  // namespace shardscape
