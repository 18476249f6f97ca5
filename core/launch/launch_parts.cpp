#include "launch/launch_parts.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>

#include "base/data_dir.h"
#include "base/units.h"
#include "model/huggingface/hf_import.h"
#include "model/preset_names.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kMostGpus = 100'000'000;
// The folder of a config.json names its model.
NamedModel of_config(ModelSpec model, const std::string& file) {
  const std::string folder = fs::path(file).parent_path().filename().string();
  return {std::move(model), folder.empty() ? fs::path(file).stem().string() : folder, "sizes of " + file, 0};
}

NamedModel of_preset(const Preset& preset) {
  NamedModel out{preset.model, preset.name, "sizes of the preset " + preset.id, preset.default_seq};
  out.model.preset = preset.id;
  return out;
}

}  // namespace

std::optional<ShellScript> read_script(const LaunchRequest& request, LaunchImport& out) {
  auto script = read_shell_script(request.text, request.shell);
  if (const auto* problem = std::get_if<Problem>(&script)) {
    out.problems.emplace_back(problem->code, request.where + ", " + problem->where, problem->what,
                              problem->accepted);
    return std::nullopt;
  }
  ShellScript& read = std::get<ShellScript>(script);
  out.notes = std::move(read.notes);
  return std::move(read);
}

std::optional<std::string> file_beside(const LaunchRequest& request, const std::string& path) {
  if (!request.shell.source) return std::nullopt;
  if (auto text = request.shell.source(path)) return text;
  return request.shell.source(path.substr(path.find_last_of('/') + 1));
}

Problem missing_file(const LaunchRequest& request, const std::string& path, const std::string& also) {
  return {ProblemCode::LaunchFormat, request.where,
          "the command reads its settings from " + path + ", which is not in the folder of the script",
          "the script with this file beside it" + (also.empty() ? "" : ", or " + also)};
}

std::optional<int64_t> positive_number(const std::string& text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 1) return std::nullopt;
  return out;
}

int64_t capped_product(std::initializer_list<int64_t> factors) {
  int64_t out = 1;
  for (const int64_t factor : factors)
    if (__builtin_mul_overflow(out, factor, &out)) return std::numeric_limits<int64_t>::max();
  return out;
}

bool set_launch_gpus(const LaunchRequest& request, std::optional<int64_t> stated, const std::string& from,
                     LaunchImport& out) {
  out.gpus = request.gpus ? request.gpus : stated.value_or(0) == 0 ? std::nullopt : stated;
  out.gpus_from = request.gpus ? "given" : from;
  if (out.gpus && *out.gpus >= 1 && *out.gpus <= kMostGpus) return true;
  out.problems.emplace_back(ProblemCode::LaunchGpus, request.where,
                            out.gpus ? std::to_string(*out.gpus) + " is no number of GPUs"
                                     : "the file does not say on how many GPUs it runs",
                            "a number of GPUs from 1 to " + grouped(kMostGpus));
  out.gpus.reset();
  return false;
}

std::variant<NamedModel, Problem> find_model(const LaunchRequest& request, const std::string& named,
                                             const std::string& argument) {
  const bool given = !request.model.empty();
  const std::string& name = given ? request.model : named;
  const std::string where = given ? "--model" : request.where + (argument.empty() ? "" : ", " + argument);
  if (const Preset* preset = name.empty() ? nullptr : preset_of_name(name)) return of_preset(*preset);
  std::error_code ignored;
  if (given && (fs::is_regular_file(name, ignored) || fs::is_directory(name, ignored))) {
    const fs::path file = fs::is_directory(name, ignored) ? fs::path(name) / "config.json" : fs::path(name);
    auto text = read_text(file);
    if (auto* problem = std::get_if<Problem>(&text)) return *problem;
    const ImportResult read = import_hf_config(std::get<std::string>(text), file.string());
    if (!read.ok()) return read.problems.front();
    return of_config(read.model, file.string());
  }
  const std::string file = name + "/config.json";
  if (!given && !name.empty() && request.shell.source)
    if (const auto text = request.shell.source(file))
      if (const ImportResult read = import_hf_config(*text, file); read.ok())
        return of_config(read.model, file);
  if (!given && request.checkpoint) return NamedModel{*request.checkpoint, name, "sizes of " + file, 0};
  return Problem{ProblemCode::LaunchFormat, where,
                 name.empty() ? "the file names no model" : "the library has no model \"" + name + "\"",
                 "--model with a preset, a name of the Hugging Face hub, or the path of a config.json"};
}

void take_model(LaunchFields& fields, const LaunchRequest& request, const NamedModel& model,
                const std::string& named, const std::string& argument) {
  const bool given = !request.model.empty();
  fields.set_model(model.model, model.name, given || argument.empty() ? "--model" : argument,
                   given ? request.model : named, model.origin);
  if (given && !named.empty()) fields.ignore(argument, "--model replaces it");
}

void sort_by_line(std::vector<LaunchField>& fields) {
  const auto place = [](const LaunchField& field) { return static_cast<unsigned>(field.line - 1); };
  std::stable_sort(fields.begin(), fields.end(),
                   [&](const LaunchField& a, const LaunchField& b) { return place(a) < place(b); });
}

void finish_launch(LaunchDesign read, const std::map<std::string, int>& lines, LaunchImport& out) {
  out.design = std::move(read.design);
  out.fields = std::move(read.fields);
  for (LaunchField& field : out.fields)
    if (const auto line = lines.find(field.name); line != lines.end()) field.line = line->second;
  sort_by_line(out.fields);
}

}  // namespace shardscape
