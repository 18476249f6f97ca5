// shardscape-cli architecture
#include <filesystem>
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/text.h"
#include "base/data_dir.h"
#include "base/json_text.h"
#include "base/suggest.h"
#include "base/units.h"
#include "design/layer_edits.h"
#include "model/layer_parts.h"
#include "model/own_files.h"
#include "plan/architecture_check.h"
#include "symbolic/json_value.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

Json problem_json(const Problem& problem) {
  Json out{{"code", code_text(problem.code)}, {"where", problem.where}};
  if (const auto place = parse_place(problem.where)) {
    out["file"] = place->file;
    out["line"] = place->line;
    if (place->column > 0) out["column"] = place->column;
  }
  out["what"] = problem.what;
  out["accepted"] = problem.accepted;
  return out;
}

Json problems_json(const std::vector<Problem>& problems) {
  Json out = Json::array();
  for (const Problem& problem : problems) out.push_back(problem_json(problem));
  return out;
}

// Layers, parameters and FLOPs of each kind, and of the model.
void add_numbers(Json& out, const Report& report, const std::vector<KindNumbers>& kinds) {
  out["parameters"] = json_quantity(report.model_parameters.value, *report.model_parameters.formula);
  out["active_parameters"] = json_quantity(report.active_parameters.value, *report.active_parameters.formula);
  out["flops_per_token"] = flops_per_token(report);
  out["kinds"] = Json::array();
  for (const KindNumbers& kind : kinds)
    out["kinds"].push_back({{"name", kind.name},
                            {"kind", kind.kind},
                            {"mixer", kind.mixer},
                            {"feed_forward", kind.feed_forward},
                            {"layers", kind.layers},
                            {"parameters", static_cast<int64_t>(kind.parameters)},
                            {"flops_per_token", kind.flops_per_token}});
}

std::string kinds_table(const Report& report, const std::vector<KindNumbers>& kinds) {
  const auto flops = [](double value) { return format_flops(static_cast<Wide>(value)); };
  std::vector<std::vector<std::string>> rows{
      {"layers", "kind", "mixer", "feed-forward part", "parameters", "FLOPs per token"}};
  for (const KindNumbers& kind : kinds)
    rows.push_back({grouped(kind.layers), kind.name, kind.mixer, kind.feed_forward, grouped(kind.parameters),
                    flops(kind.flops_per_token)});
  rows.push_back({grouped(report.design.model.layers), "whole model", "", "",
                  grouped(report.model_parameters.value), flops(flops_per_token(report))});
  constexpr Align l = Align::Left, r = Align::Right;
  return text_table(rows, {r, l, l, l, r, r});
}

std::string completed_text(const std::vector<std::string>& ids) {
  return ids.empty() ? "" : "\nThe design lacks sizes; a preset supplied " + joined(ids, ", ") + ".\n";
}

// The design of the flags. Sizes that a made kind of layers needs and the model lacks come from a preset.
std::variant<Design, int> complete_design(const Arguments& arguments) {
  auto design = design_of(arguments);
  if (Design* made = std::get_if<Design>(&design)) {
    const ModelLibrary& library = ModelLibrary::instance();
    if (const Architecture* architecture = library.architecture(made->model.architecture))
      std::cerr << completed_text(complete_sizes(made->model, *architecture, library));
  }
  return design;
}

std::variant<std::shared_ptr<const ArchitectureCheck>, int> checked(const Arguments& arguments,
                                                                    const std::string& file,
                                                                    std::string& text) {
  auto read = read_text(file);
  if (const auto* problem = std::get_if<Problem>(&read)) return failed(*problem, kFileError);
  text = std::get<std::string>(std::move(read));
  auto design = design_of(arguments);
  if (const int* exit_code = std::get_if<int>(&design)) return *exit_code;
  return check_architecture_text(text, file, std::get<Design>(design));
}

int check(const Arguments& arguments, const std::string& file) {
  std::string text;
  const auto made = checked(arguments, file, text);
  if (const int* exit_code = std::get_if<int>(&made)) return *exit_code;
  const ArchitectureCheck& result = *std::get<0>(made);
  const int exit_code = result.ok() && result.size_problems.empty() ? kDone : kNegativeAnswer;
  if (arguments.has("--json")) {
    Json out{{"file", file},
             {"kind", result.kind.folder == "blocks" ? "block" : "architecture"},
             {"id", result.kind.id},
             {"valid", result.ok()},
             {"problems", problems_json(result.mistakes)},
             {"problems_of_sizes", problems_json(result.size_problems)}};
    if (result.counted()) add_numbers(out, *result.report, result.kinds);
    std::cout << json_document(out);
    return exit_code;
  }
  print_problems(result.mistakes);
  print_problems(result.size_problems);
  if (result.ok())
    std::cout << (result.kind.folder == "blocks" ? "block \"" : "architecture \"") + result.kind.id +
                     "\" can be read.\n";
  if (result.counted())
    std::cout << kinds_table(*result.report, result.kinds) << completed_text(result.completed);
  return exit_code;
}

Json choices_json(BlockUse use, const ModelLibrary& library) {
  Json out = Json::array();
  for (const PartChoice& choice : part_choices(use, library))
    out.push_back({{"call", choice.call}, {"label", choice.label}, {"help", choice.help}});
  return out;
}

std::string place_word(const SourcePlace& place) { return is_own(place) ? place.file : "program"; }

int list(const Arguments& arguments) {
  if (!models_found()) return kFileError;
  const ModelLibrary& library = ModelLibrary::instance();
  const auto stated = [](const std::string& id) { return id.find(';') == std::string::npos; };
  if (arguments.has("--json")) {
    Json out{{"architectures", Json::array()}, {"blocks", Json::array()}};
    for (const Architecture& a : library.architectures())
      if (stated(a.id)) out["architectures"].push_back({{"id", a.id}, {"from", place_word(a.place)}});
    for (const BlockTemplate& b : library.blocks())
      if (stated(b.id))
        out["blocks"].push_back(
            {{"id", b.id}, {"label", b.label}, {"help", b.help}, {"from", place_word(b.place)}});
    out["mixers"] = choices_json(BlockUse::Mixer, library);
    out["feed_forward"] = choices_json(BlockUse::FeedForward, library);
    std::cout << json_document(out);
    return kDone;
  }
  constexpr Align l = Align::Left;
  std::vector<std::vector<std::string>> rows{{"architecture", "kinds of layers", "from"}};
  for (const Architecture& a : library.architectures()) {
    if (!stated(a.id)) continue;
    std::string kinds;
    for (const SectionTemplate& kind : a.kinds) kinds += (kinds.empty() ? "" : ", ") + kind.name;
    rows.push_back({a.id, kinds, place_word(a.place)});
  }
  std::cout << text_table(rows, {l, l, l});
  for (const auto& [title, use] :
       {std::pair{"mixer", BlockUse::Mixer}, std::pair{"feed-forward part", BlockUse::FeedForward}}) {
    rows = {{title, "name"}};
    for (const PartChoice& choice : part_choices(use, library)) rows.push_back({choice.call, choice.label});
    std::cout << "\n" << text_table(rows, {l, l});
  }
  return kDone;
}

// The mixer and the feed-forward part of each kind of layers of a design.
int layers(const Arguments& arguments) {
  if (!models_found()) return kFileError;
  auto made = complete_design(arguments);
  if (const int* exit_code = std::get_if<int>(&made)) return *exit_code;
  const auto report = make_report(std::get<Design>(made));
  if (!report->valid()) {
    print_problems(report->problems);
    return kNegativeAnswer;
  }
  const std::string pattern = pattern_of(report->design.model, ModelLibrary::instance());
  if (arguments.has("--json")) {
    Json out{{"architecture", report->design.model.architecture}, {"pattern", pattern}};
    add_numbers(out, *report, kind_numbers(*report));
    std::cout << json_document(out);
    return kDone;
  }
  std::cout << "architecture: " << report->design.model.architecture << "\npattern: " << pattern << "\n\n"
            << kinds_table(*report, kind_numbers(*report));
  return kDone;
}

int show(const std::string& id) {
  const ModelLibrary& library = ModelLibrary::instance();
  const auto text = library.architecture(id) ? architecture_text(id, library)
                    : library.block(id)      ? block_text(id, library)
                                             : architecture_text(id, library);
  if (const auto* problem = std::get_if<Problem>(&text)) return failed(*problem, kNegativeAnswer);
  std::cout << std::get<std::string>(text);
  return kDone;
}

int saved(const Result<std::filesystem::path>& path) {
  if (const auto* problem = std::get_if<Problem>(&path))
    return failed(*problem, problem->code == ProblemCode::DataValue ? kNegativeAnswer : kFileError);
  std::cout << "saved as " << std::get<std::filesystem::path>(path).string() << "\n";
  return kDone;
}

int save(const Arguments& arguments, const std::string& file) {
  std::string text;
  const auto made = checked(arguments, file, text);
  if (const int* exit_code = std::get_if<int>(&made)) return *exit_code;
  const ArchitectureCheck& result = *std::get<0>(made);
  print_problems(result.mistakes);
  if (!result.ok()) return kNegativeAnswer;
  return saved(save_own(result.kind.folder, result.kind.id, text));
}

int save_model(const Arguments& arguments, const std::string& id) {
  if (!models_found()) return kFileError;
  auto made = complete_design(arguments);
  if (const int* exit_code = std::get_if<int>(&made)) return *exit_code;
  const Design& design = std::get<Design>(made);
  const auto report = make_report(design);
  print_problems(report->problems);
  if (!report->valid()) return kNegativeAnswer;
  return saved(save_own("presets", id, preset_text(id, id, design.model, design.workload.seq)));
}

int run_architecture(const Arguments& arguments) {
  const auto& words = arguments.operands();
  const std::string action = words.empty() ? "list" : words[0];
  if (action == "list" && words.size() < 2) return list(arguments);
  if (action == "layers" && words.size() == 1) return layers(arguments);
  if (words.size() == 2) {
    if (action == "check") return check(arguments, words[1]);
    if (action == "show") return show(words[1]);
    if (action == "save") return save(arguments, words[1]);
    if (action == "save-model") return save_model(arguments, words[1]);
  }
  return failed({ProblemCode::FlagValueInvalid, "architecture",
                 "\"" + action + "\" with " + std::to_string(words.empty() ? 0 : words.size() - 1) +
                     " operands is not an action" +
                     did_you_mean(action, {"list", "layers", "check", "show", "save", "save-model"}),
                 "list, layers, check FILE, show ID, save FILE or save-model ID"},
                kWrongUsage);
}

}  // namespace

Command architecture_command() {
  std::vector<Flag> flags{json_flag()};
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {"architecture",
          "list, check and save architectures and blocks",
          "list | layers | check FILE | show ID | save FILE | save-model ID  [FLAGS]",
          std::string(
              "list: lists the architectures, and the mixers and feed-forward parts that layers can have. "
              "layers: lists the kinds of layers of a design with their mixer, feed-forward part, parameters "
              "and FLOPs of a training step. check: reads the JSON of an architecture or a block, reports "
              "mistakes with line and column, and counts the model that the text defines with the sizes of "
              "the design. show: prints a text to start from. save: checks a text and stores it with your "
              "own models, in models/ below ~/.local/share/shardscape. save-model: stores the model of the "
              "design there as a preset. The flag --architecture also makes new kinds of layers: \"llama; "
              "linear = layer(mixer = gated_delta_net)\" adds layers \"linear\" with another mixer, "
              "\"feed_forward = moe + shared_mlp\" replaces the feed-forward part. ") +
              kDesignFlagsHelp,
          {"shardscape-cli architecture show llama > mine.json",
           "shardscape-cli architecture check mine.json --model llama3-8b",
           "shardscape-cli architecture layers --model qwen3-next-80b-a3b",
           "shardscape-cli architecture save-model mine --architecture \"llama; layer = layer(feed_forward = "
           "relu2_mlp)\""},
          std::move(flags),
          2,
          run_architecture};
}

}  // namespace shardscape
