// shardscape-cli import
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/launch_preview.h"
#include "app/cli/messages.h"
#include "app/cli/text.h"
#include "base/data_dir.h"
#include "base/json_text.h"
#include "base/units.h"
#include "design/document.h"
#include "launch/launch_import.h"
#include "model/huggingface/hf_files.h"
#include "symbolic/json_value.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

struct Section {
  const char *key, *heading;
  const std::vector<ImportField>* fields;
};

std::vector<Section> sections(const ImportResult& import) {
  return {{"differences", "Different (the model is without these)", &import.differences},
          {"recognised", "Recognised", &import.recognised},
          {"assumed", "Assumed", &import.assumed},
          {"unknown", "Unknown (check whether these change the model)", &import.unknown},
          {"ignored", "Ignored (these do not change the architecture)", &import.ignored}};
}

std::string preview_text(const ImportResult& import, const Report& report, bool all_fields) {
  const ModelCounts counts = model_counts(report);
  const Wide further = counts.parts[static_cast<size_t>(ModelPart::Mtp)];
  std::string out = import.name + ": " + import.model_type + ", " + grouped(counts.parameters.value) +
                    " parameters" +
                    (counts.active.value == counts.parameters.value
                         ? ""
                         : ", " + grouped(counts.active.value) + " of them active") +
                    (further == 0 ? "" : ", " + grouped(further) + " more for multi-token prediction") +
                    (import.model.preset.empty() ? "" : ", the same as preset " + import.model.preset) + "\n";
  if (!import.as.empty())
    out += "Imported as " + import.as + ": an approximation. Check the differences and the unknown fields.\n";
  for (const Section& section : sections(import)) {
    if (section.fields->empty()) continue;
    if (section.fields == &import.ignored && !all_fields) {
      const size_t fields = section.fields->size();
      out += "\n" + std::to_string(fields) + (fields == 1 ? " field does" : " fields do") +
             " not change the architecture (--all-fields lists them).\n";
      continue;
    }
    out += "\n" + std::string(section.heading) + ":\n";
    std::vector<std::vector<std::string>> rows;
    for (const ImportField& field : *section.fields)
      rows.push_back({"  " + field.key, field.value, field.note});
    out += text_table(rows, {Align::Left, Align::Left, Align::Left});
  }
  return out;
}

Json preview_json(const ImportResult& import, const Report* report, const Design& design) {
  Json out{{"valid", import.ok() && report && report->valid()},
           {"name", import.name},
           {"model_type", import.model_type},
           {"imported_as", import.as},
           {"nearest", import.nearest}};
  if (report && report->valid()) {
    out["model"] = Json::parse(to_json(design))["model"];
    const ModelCounts counts = model_counts(*report);
    out["parameters"] = json_quantity(counts.parameters.value, *counts.parameters.formula);
    out["active_parameters"] = json_quantity(counts.active.value, *counts.active.formula);
    out["parameters_with_mtp"] = json_quantity(report->model_parameters.value,
                                               *report->model_parameters.formula);
    for (int i = 0; i < kModelPartCount; ++i)
      out["parts"][model_part_name(static_cast<ModelPart>(i))] = json_number(
          counts.parts[static_cast<size_t>(i)]);
    out["context"] = import.context;
  }
  for (const Section& section : sections(import)) {
    Json& list = out[section.key] = Json::array();
    for (const ImportField& field : *section.fields)
      list.push_back({{"key", field.key}, {"value", field.value}, {"note", field.note}});
  }
  Json& problems = out["problems"] = Json::array();
  const auto& all = report && import.ok() ? report->problems : import.problems;
  for (const Problem& p : all)
    problems.push_back(
        {{"code", code_text(p.code)}, {"where", p.where}, {"what", p.what}, {"accepted", p.accepted}});
  return out;
}

int save(const Design& design, const std::string& path) {
  if (const auto problem = save_design(design, path)) {
    print_problem(*problem);
    return kFileError;
  }
  std::cerr << "wrote the design to " << path << "\n";
  return kDone;
}

// A launch, or a text that is not the JSON of a model either.
bool is_launch_text(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return looks_like_launch(text) || (first != std::string::npos && text[first] != '{' && text[first] != '[');
}

int run_import(const Arguments& arguments) {
  if (!models_found()) return kFileError;
  if (arguments.operands().empty()) {
    print_problem({ProblemCode::OperandMissing, "FILE", "the file to import is missing",
                   "shardscape-cli import config.json"});
    return kWrongUsage;
  }
  const std::string& path = arguments.operands().front();
  const std::string* as = arguments.value("--as");
  auto text = read_text(path);
  if (const auto* problem = std::get_if<Problem>(&text)) return print_refusal(*problem);
  if (as ? is_launch_framework(launch_framework_id(*as)) : is_launch_text(std::get<std::string>(text)))
    return import_launch_file(arguments, path, std::move(std::get<std::string>(text)));
  for (const Flag& flag : launch_flags())
    if (arguments.has(flag.name))
      return wrong_usage({ProblemCode::ConflictingFlags, flag.name,
                          "only a launch file is read with this flag",
                          "a launch file, or " + path + " without the flag"});
  const auto files = read_hf_files(path);
  if (const auto* problem = std::get_if<Problem>(&files)) return print_refusal(*problem);
  const bool json = arguments.has("--json");
  const ImportResult import = import_hf_files(std::get<HfFiles>(files), as ? *as : "");
  const Design design = import.ok() ? imported_design(import) : Design{};
  const auto report = import.ok() ? make_report(design) : nullptr;
  if (json) std::cout << json_document(preview_json(import, report.get(), design));
  if (import.ok())
    print_problems_of_file(report->problems, path);
  else
    print_problems(import.problems);
  if (!import.nearest.empty()) std::cerr << "  fix: --as " << import.nearest << "\n";
  if (!report || !report->valid()) return kNegativeAnswer;
  if (!json) std::cout << preview_text(import, *report, arguments.has("--all-fields"));
  const std::string* output = arguments.value("--output");
  return output ? save(design, *output) : static_cast<int>(kDone);
}

}  // namespace

Command import_command() {
  std::string types;
  for (const std::string& type : hf_model_types()) types += (types.empty() ? "" : ", ") + type;
  Command out{
      "import",
      "show how a config.json or a launch file becomes a design",
      "FILE [--as TYPE] [--gpus N] [--all-fields] [-o DESIGN] [--json]",
      "A Hugging Face config.json gives a model: lists the fields that define the model, the assumed values "
      "that the file does not have, and the "
      "unknown fields, which may change the model. Counts the fields that do not change the architecture. "
      "Known model types: " +
          types +
          ". Every command with the flag --model also has --hf-config FILE. A launch file gives a whole "
          "design (" +
          launch_framework_ids() +
          "): lists every field as taken, derived, assumed, without effect, without a setting or not "
          "understood. Scripts are read, not run.",
      {"shardscape-cli import config.json", "shardscape-cli import config.json -o my.shardscape.json",
       "shardscape-cli import new.json --as llama",
       "shardscape-cli import pretrain.sh --gpus 64 -o my.shardscape.json",
       "shardscape-cli report --hf-config config.json --tp 2"},
      {{"--as", 0, FlagKind::Value, "TYPE",
        "Read the file as this known model type, whatever type the file has. Settings without blocks are "
        "listed as differences, and the model is without them. For a launch file: its framework.",
        ""},
       {"--all-fields", 0, FlagKind::Switch, "",
        "Also list the fields that do not change the architecture, each with the reason.", ""},
       {"--output", 'o', FlagKind::Value, "DESIGN",
        "Write the design to this file. A config.json gives a design with its model on one rank.", "",
        Output::File},
       json_flag()},
      1,
      run_import};
  const std::vector<Flag> launch = launch_flags();
  out.flags.insert(out.flags.end() - 1, launch.begin(), launch.end());
  return out;
}

}  // namespace shardscape
