#include "launch/document/document_launch.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "launch/launch_parts.h"
#include "model/library.h"

namespace shardscape {

std::optional<LaunchDocument> read_request(DocumentLanguage language, const std::string& text,
                                           const LaunchRequest& request, LaunchImport& out) {
  auto read = read_launch_document(language, text, request.where);
  if (auto* document = std::get_if<LaunchDocument>(&read)) return std::move(*document);
  out.problems.push_back(std::get<Problem>(read));
  return std::nullopt;
}

bool set_gpus(const LaunchRequest& request, int64_t in_file, const std::string& from, LaunchImport& out) {
  if (request.gpus || in_file > 0) {
    out.gpus = request.gpus.value_or(in_file);
    out.gpus_from = request.gpus ? "given" : from;
    return true;
  }
  out.problems.emplace_back(ProblemCode::LaunchGpus, request.where,
                            "the file does not say on how many GPUs it runs", "--gpus N");
  return false;
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

std::string plain_model_name(const std::string& name) {
  std::string out;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
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

void finish_document(LaunchDesign read, const std::map<std::string, int>& lines, LaunchImport& out) {
  out.design = std::move(read.design);
  out.fields = std::move(read.fields);
  for (LaunchField& field : out.fields)
    if (const auto line = lines.find(field.name); line != lines.end()) field.line = line->second;
  std::stable_sort(out.fields.begin(), out.fields.end(), [](const LaunchField& a, const LaunchField& b) {
    return (a.line > 0 ? a.line : 1 << 30) < (b.line > 0 ? b.line : 1 << 30);
  });
}

}  // namespace shardscape
