#include "app/cli/launch_preview.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/text.h"
#include "base/data_dir.h"
#include "base/json_text.h"
#include "base/shown_text.h"
#include "base/units.h"
#include "design/document.h"
#include "launch/launch_files.h"
#include "launch/launch_import.h"
#include "launch/launch_prediction.h"
#include "memory/estimate.h"
#include "serving/service/service_spec.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongestCell = 200;   // of a table, in bytes
constexpr size_t kLongestNote = 1000;  // in bytes

// The step of a valid design, where the launch has measured values to set beside it.
std::shared_ptr<const Simulation> prediction(const LaunchImport& import, const Report* report) {
  return import.measured.empty() || !report || !report->valid() ? nullptr : simulate(*report);
}

std::optional<double> predicted(const LaunchMeasurement& one, const Report* report,
                                const Simulation* simulation) {
  return simulation ? predicted_value(one, *report, *simulation) : std::nullopt;
}

std::string preview_text(const LaunchImport& import, const Report& report, bool all_fields) {
  const auto framework = std::find_if(launch_frameworks().begin(), launch_frameworks().end(),
                                      [&](const LaunchFramework& one) { return one.id == import.framework; });
  std::string out = std::string(framework->label) + " on " + grouped(*import.gpus) + " GPUs (" +
                    import.gpus_from + ")\n";
  for (const LaunchUseText& section : launch_uses()) {
    std::vector<std::vector<std::string>> rows;
    for (const LaunchField& field : import.fields)
      if (field.use == section.use)
        rows.push_back({field.line > 0 ? "  line " + std::to_string(field.line) : "  ",
                        shortened(field.name, kLongestCell), shortened(field.value, kLongestCell),
                        shortened(launch_field_note(field), kLongestNote)});
    if (rows.empty()) continue;
    if (section.use == LaunchUse::NoEffect && !all_fields) {
      out += "\n" + std::to_string(rows.size()) + (rows.size() == 1 ? " field has" : " fields have") +
             " no effect on memory and time (--all-fields lists them).\n";
      continue;
    }
    out += "\n" + std::string(section.heading) + ":\n" +
           text_table(rows, {Align::Left, Align::Left, Align::Left, Align::Left});
  }
  const auto simulation = prediction(import, &report);
  if (!import.measured.empty())
    out += "\nThe log beside the prediction for " + report.design.cluster.accelerator + ":\n";
  for (const LaunchMeasurement& one : import.measured)
    out += "  line " + std::to_string(one.line) + ": " + one.what + " " +
           measured_text(one, predicted(one, &report, simulation.get())) + "\n";
  if (!import.notes.empty()) out += "\nNot followed in the script:\n";
  for (const ShellNote& note : import.notes)
    out += "  line " + std::to_string(note.line) + ": " + note.text + "\n";
  return out;
}

// The command that simulates requests to the engine of the launch.
std::string serve_command(const LaunchImport& import, const std::string& design) {
  std::string out = "shardscape-cli serve --design " + design;
  for (const LaunchSetting& setting : import.service) {
    const ServiceSetting* found = find_setting(setting.id);
    if (!found) continue;
    out += " " + found->flag();
    const bool plain = setting.value.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "0123456789._-,/") == std::string::npos;
    out += " " + (plain && !setting.value.empty() ? setting.value : "'" + setting.value + "'");
  }
  return out;
}

Json preview_json(const LaunchImport& import, const Report* report) {
  Json out{{"valid", import.ok() && report && report->valid()}, {"framework", import.framework}};
  if (import.gpus) out["gpus"] = {{"value", *import.gpus}, {"from", import.gpus_from}};
  if (import.ok()) out["design"] = Json::parse(to_json(import.design));
  for (const LaunchSetting& setting : import.service) out["service"][setting.id] = setting.value;
  for (const LaunchUseText& section : launch_uses()) {
    Json& list = out[section.key] = Json::array();
    for (const LaunchField& field : import.fields)
      if (field.use == section.use)
        list.push_back({{"name", field.name},
                        {"value", field.value},
                        {"knobs", field.knobs},
                        {"note", field.note},
                        {"source", field.source},
                        {"line", field.line}});
  }
  Json& measured = out["measured"] = Json::array();
  const auto simulation = prediction(import, report);
  for (const LaunchMeasurement& one : import.measured) {
    measured.push_back({{"what", one.what}, {"value", one.value}, {"unit", one.unit}, {"line", one.line}});
    if (const auto value = predicted(one, report, simulation.get())) measured.back()["predicted"] = *value;
  }
  Json& notes = out["notes"] = Json::array();
  for (const ShellNote& note : import.notes) notes.push_back({{"line", note.line}, {"text", note.text}});
  Json& problems = out["problems"] = Json::array();
  for (const Problem& p : import.ok() && report ? report->problems : import.problems)
    problems.push_back(
        {{"code", code_text(p.code)}, {"where", p.where}, {"what", p.what}, {"accepted", p.accepted}});
  return out;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::optional<Problem> read_flags(const Arguments& arguments, LaunchRequest& request) {
  if (const std::string* as = arguments.value("--as")) request.framework = *as;
  if (const std::string* model = arguments.value("--model")) request.model = *model;
  if (const std::string* gpus = arguments.value("--gpus")) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(gpus->data(), gpus->data() + gpus->size(), value);
    if (error != std::errc() || end != gpus->data() + gpus->size() || value < 1)
      return Problem{ProblemCode::FlagValueInvalid, "--gpus", "\"" + *gpus + "\" is no number of GPUs",
                     "a whole number from 1"};
    request.gpus = value;
  }
  if (const std::string* model = arguments.value("--model")) request.model = *model;
  if (const std::string* line = arguments.value("--line")) {
    const auto [end, error] = std::from_chars(line->data(), line->data() + line->size(), request.line);
    if (error != std::errc() || end != line->data() + line->size() || request.line < 1)
      return Problem{ProblemCode::FlagValueInvalid, "--line", "\"" + *line + "\" is no line of the file",
                     "a whole number from 1"};
  }
  if (const std::string* words = arguments.value("--script-arguments"))
    request.shell.arguments = words_of(*words);
  for (const std::string& variable : arguments.values("--variable")) {
    const size_t sign = variable.find('=');
    if (sign == std::string::npos || sign == 0)
      return Problem{ProblemCode::FlagValueInvalid, "--variable", "\"" + variable + "\" has no \"=\"",
                     "NAME=VALUE"};
    request.shell.environment[variable.substr(0, sign)] = variable.substr(sign + 1);
  }
  return std::nullopt;
}

// Problems with the number of GPUs name the flag that sets it.
void name_gpus_flag(std::vector<Problem>& problems) {
  for (Problem& problem : problems)
    if (problem.code == ProblemCode::LaunchGpus) problem.accepted += " (--gpus N)";
}

}  // namespace

std::string launch_framework_ids() {
  std::string out;
  for (const LaunchFramework& one : launch_frameworks())
    out += (out.empty() ? "" : ", ") + std::string(one.id);
  return out;
}

bool is_launch_framework(const std::string& id) {
  return std::any_of(launch_frameworks().begin(), launch_frameworks().end(),
                     [&](const LaunchFramework& one) { return one.id == id; });
}

std::vector<Flag> launch_flags() {
  return {{"--gpus", 0, FlagKind::Value, "N",
           "For a launch file: number of all GPUs. Needed where the file does not say it.", ""},
          {"--model", 0, FlagKind::Value, "NAME",
           "For a launch file that does not name its model: a preset, a name of the Hugging Face hub, or the "
           "path of a config.json.",
           ""},
          {"--line", 0, FlagKind::Value, "N",
           "For a launch file with several commands: the line of the one to read. Default: the first.", ""},
          {"--script-arguments", 0, FlagKind::Value, "TEXT",
           "For a launch script: the values of $1, $2 and so on, separated by spaces.", ""},
          {"--variable", 0, FlagKind::Value, "NAME=VALUE",
           "For a launch script: a variable of the environment. The flag can be repeated.", ""}};
}

int import_launch_file(const Arguments& arguments, const std::string& path, std::string text) {
  LaunchRequest request;
  request.text = std::move(text);
  request.where = path;
  request.shell.source = files_below(std::filesystem::path(path).parent_path());
  if (const auto problem = read_flags(arguments, request)) {
    print_problem(*problem);
    return kWrongUsage;
  }
  LaunchImport import = import_launch(request);
  name_gpus_flag(import.problems);
  const auto report = import.ok() ? estimate(import.design) : nullptr;
  const bool json = arguments.has("--json");
  if (json) std::cout << json_document(preview_json(import, report.get()));
  if (import.ok())
    print_problems_of_file(report->problems, path);
  else
    print_problems(import.problems);
  if (!import.ok()) return kNegativeAnswer;
  if (!json) std::cout << preview_text(import, *report, arguments.has("--all-fields"));
  const std::string* output = arguments.value("--output");
  if (!json && !import.service.empty())
    std::cout << "\nRequests to this engine:\n  " << serve_command(import, output ? *output : "DESIGN")
              << "\n";
  if (output) {
    if (const auto problem = save_design(import.design, *output)) {
      print_problem(*problem);
      return kFileError;
    }
    std::cerr << "wrote the design to " << *output << "\n";
  }
  return report->valid() ? kDone : kNegativeAnswer;
}

}  // namespace shardscape
