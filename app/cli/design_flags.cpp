#include "app/cli/design_flags.h"

#include <algorithm>

#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/text.h"
#include "base/data_dir.h"
#include "base/number_text.h"
#include "base/suggest.h"
#include "design/cluster.h"
#include "design/design_name.h"
#include "design/document.h"
#include "design/embedded_document.h"
#include "design/examples.h"
#include "design/knobs/knobs.h"
#include "design/knobs/published_layout.h"
#include "design/knobs/step_tokens.h"
#include "hardware/network_catalogue.h"
#include "memory/estimate.h"
#include "model/huggingface/hf_files.h"
#include "performance/collective_table.h"

namespace shardscape {

const char* const kDesignFlagsHelp =
    "Without any of the flags below, the design is the initial design of the window: Llama 3 8B on 8 GPUs. "
    "With flags, the design starts from --design FILE or --example ID. Without either, it starts on a single "
    "rank from the model of --model or --hf-config (default: llama3-8b). Then the given settings replace its "
    "values. Without --design, --example and --batch, the batch is 4 microbatches per stage and replica.";

namespace {

std::string operand_name(const Knob& knob) {
  switch (knob.type) {
    case KnobType::Integer: return "N";
    case KnobType::Decimal: return "X";
    case KnobType::IntegerList: return "N,N,...";
    case KnobType::Boolean: return "[true|false]";
    case KnobType::Choice: return "NAME";
    case KnobType::ChoiceList: return "NAME,NAME,...";
    case KnobType::Text: return "TEXT";
  }
  return "";
}

std::string default_text(const Knob& knob, const Design& design) {
  if (knob.group == KnobGroup::Model || knob.id == "seq") return "the value of the model";
  if (knob.id == "batch") return std::to_string(kMicrobatchesPerStage) + " x microbatch x pp x dp";
  const std::string text = knob_text(design, knob);
  return text.empty() ? "empty" : text;
}

std::string knob_help(const Knob& knob, const Design& design) {
  const std::string symbol = knob.symbol.empty() ? "" : " (" + knob.symbol + ")";
  return knob.label + symbol + ". " + knob.help + " Accepts " + accepted_values(knob) +
         "; default: " + default_text(knob, design) + ".";
}

std::vector<std::string> preset_ids() {
  std::vector<std::string> ids;
  for (const Preset& preset : ModelLibrary::instance().presets()) ids.push_back(preset.id);
  return ids;
}

// Ignores case, like names of other choices.
const Preset* find_preset(const std::string& name) {
  const auto& presets = ModelLibrary::instance().presets();
  const auto it = std::find_if(presets.begin(), presets.end(),
                               [&](const Preset& p) { return lower_case(p.id) == lower_case(name); });
  return it == presets.end() ? nullptr : &*it;
}

Problem unknown_preset(const std::string& name) {
  const auto near = closest(name, preset_ids());
  return {ProblemCode::UnknownPreset, "model",
          "there is no preset \"" + name + "\"" + (near ? "; did you mean " + *near + "?" : ""),
          "one of " + joined(preset_ids(), ", ")};
}

std::variant<ImportResult, int> import_of(const std::string& path) {
  const auto files = read_hf_files(path);
  if (const auto* problem = std::get_if<Problem>(&files)) return print_refusal(*problem);
  ImportResult result = import_hf_files(std::get<HfFiles>(files));
  print_problems(result.problems);
  if (!result.ok()) return kNegativeAnswer;
  return result;
}

// The file that --design or --example names; empty without both; or an exit code.
std::variant<std::string, int> file_of(const Arguments& arguments) {
  const std::string *file = arguments.value("--design"), *id = arguments.value("--example");
  if (file && id)
    return failed({ProblemCode::ConflictingFlags, "--example", "the design is given twice",
                   "either --design or --example"},
                  kWrongUsage);
  if (!id) return file ? *file : std::string();
  const auto example = find_example(*id);
  if (const auto* problem = std::get_if<Problem>(&example))
    return failed(*problem, problem->code == ProblemCode::FlagValueInvalid ? kWrongUsage : kFileError);
  return std::get<Example>(example).path.string();
}

// The design before the knob flags are applied.
struct Start {
  Design design;
  std::optional<std::string> model;  // names the design; nullopt: the design keeps its name and batch
};

std::variant<Start, int> starting_point(const Arguments& arguments, bool several_models) {
  if (!describes_design(arguments)) return Start{default_design(), std::nullopt};
  const std::string *model = arguments.value("--model"), *config = arguments.value("--hf-config");
  if (model && config)
    return failed({ProblemCode::ConflictingFlags, "--hf-config", "the model is given twice",
                   "either --model or --hf-config"},
                  kWrongUsage);
  const std::string first = model && several_models ? model->substr(0, model->find(',')) : "";
  const std::string name = several_models ? (find_preset(first) ? first : kUsualModel)
                           : model        ? *model
                                          : kUsualModel;
  const Preset* preset = find_preset(name);
  if (!preset && !config) return failed(unknown_preset(name), kWrongUsage);
  std::optional<ImportResult> import;
  if (config) {
    auto read = import_of(*config);
    if (const int* exit_code = std::get_if<int>(&read)) return *exit_code;
    import = std::get<ImportResult>(std::move(read));
  }
  const auto given = file_of(arguments);
  if (const int* exit_code = std::get_if<int>(&given)) return *exit_code;
  if (const std::string& file = std::get<std::string>(given); !file.empty()) {
    auto text = read_text(file);
    if (auto* problem = std::get_if<Problem>(&text)) return print_refusal(*problem);
    text = design_json_of(std::get<std::string>(std::move(text)), file);
    if (auto* problem = std::get_if<Problem>(&text)) return print_refusal(*problem);
    auto design = design_from_json(std::get<std::string>(text), file);
    if (auto* problem = std::get_if<Problem>(&design)) return print_refusal(*problem);
    if (model) apply_preset(std::get<Design>(design), preset->id);
    if (import) apply_model(std::get<Design>(design), import->model, import->name);
    return Start{std::get<Design>(std::move(design)), std::nullopt};
  }
  if (import) return Start{imported_design(*import), import->name};
  Design design = single_rank_design(*preset);
  if (!arguments.has("--published-layout")) return Start{std::move(design), preset->name};
  if (const auto problem = apply_published_layout(design, *preset)) return failed(*problem, kFileError);
  return Start{std::move(design), preset->name};
}

// Whether the published layout that the flags ask for states the batch.
bool states_batch(const Arguments& arguments) {
  const std::string* model = arguments.value("--model");
  const Preset* preset = arguments.has("--published-layout") ? find_preset(model ? *model : kUsualModel)
                                                             : nullptr;
  return preset && std::any_of(preset->layout.knobs.begin(), preset->layout.knobs.end(),
                               [](const auto& knob) { return knob.first == "batch"; });
}

}  // namespace

bool describes_design(const Arguments& arguments) {
  const auto flags = design_flags();
  return std::any_of(flags.begin(), flags.end(), [&](const Flag& flag) { return arguments.has(flag.name); });
}

std::vector<Flag> design_flags() {
  const Preset* usual = ModelLibrary::instance().preset(kUsualModel);
  const Design design = usual ? single_rank_design(*usual) : Design{};
  std::vector<Flag> flags{
      {"--model", 0, FlagKind::Value, "PRESET",
       "Architecture and sizes of a preset: " + joined(preset_ids(), ", ") +
           ". \"shardscape-cli presets\" lists them.",
       "Design"},
      {"--published-layout", 0, FlagKind::Switch, "",
       "Starts from the layout that is published for the preset: parallelism, batch and cluster. Other flags "
       "change it. No effect for a preset without a published layout.",
       "Design"},
      {"--hf-config", 0, FlagKind::Value, "FILE",
       "The model of a Hugging Face config.json. \"shardscape-cli import FILE\" lists the fields that are "
       "used.",
       "Design"},
      {"--design", 0, FlagKind::Value, "FILE", "A saved design (*.shardscape.json) to start from.", "Design"},
      {"--example", 0, FlagKind::Value, "ID",
       "A design that comes with the program, to start from. \"shardscape-cli examples\" lists them.",
       "Design"},
      {"--architecture", 0, FlagKind::Value, "ID",
       "The architecture, which lists the blocks of the model: a file of models/architectures. Default: the "
       "architecture of the model.",
       "Design"}};
  for (const Knob& knob : knobs()) {
    flags.push_back({knob.flag(), 0, knob.type == KnobType::Boolean ? FlagKind::Boolean : FlagKind::Value,
                     operand_name(knob), knob_help(knob, design), std::string(group_label(knob.group))});
  }
  return flags;
}

bool models_found() {
  print_problems(ModelLibrary::instance().problems());
  if (!ModelLibrary::instance().presets().empty()) return true;
  print_problem({ProblemCode::FileUnreadable, (data_dir() / "models" / "presets").string(),
                 "no preset could be read",
                 "the folder with models/ and resources/ of this program, named by SHARDSCAPE_DATA"});
  return false;
}

std::variant<Design, int> design_of(const Arguments& arguments, const std::set<std::string>& left_out) {
  auto start = starting_point(arguments, left_out.count("model") > 0);
  if (const int* exit_code = std::get_if<int>(&start)) return *exit_code;
  auto& [design, model] = std::get<Start>(start);
  if (const std::string* architecture = arguments.value("--architecture"))
    design.model.architecture = *architecture;
  bool good = true;
  const ClusterSpec before = design.cluster;
  for (const Knob& knob : knobs()) {
    const std::string* text = arguments.value(knob.flag());
    if (!text || left_out.count(knob.id)) continue;
    if (const auto problem = set_knob(design, knob, *text)) {
      print_problem(*problem);
      good = false;
    } else if (const auto note = rounding_note(design, knob, *text)) {
      print_problem(*note);
    }
  }
  if (!good) return kWrongUsage;
  if (!arguments.has("--gpus-per-node")) follow_node_size(design.cluster, before);
  if (model) {
    const bool batch = arguments.has("--batch") || states_batch(arguments);
    if (!batch) design.workload.batch = usual_batch(design);
    design.name = usual_name(*model, design.world());
  } else {
    correct_machine_name(design);
  }
  return std::move(design);
}

void print_design_problems(const std::vector<Problem>& problems, const Arguments& arguments) {
  const std::string* file = arguments.value("--design");
  if (!file) file = arguments.value("--hf-config");
  for (Problem problem : problems) {
    const Knob* knob = find_knob(problem.where);
    if (file && knob && !arguments.has(knob->flag())) problem.where = *file + ": " + problem.where;
    print_problem(problem);
  }
}

std::variant<std::shared_ptr<const Report>, int> report_of(const Arguments& arguments,
                                                           void (*invalid)(const Report&)) {
  if (!models_found()) return kFileError;
  print_problems(accelerator_problems());
  print_problems(network_problems());
  print_problems(collective_table_problems());
  const auto design = design_of(arguments);
  if (const int* exit_code = std::get_if<int>(&design)) return *exit_code;
  auto report = estimate(std::get<Design>(design));
  if (report->valid()) return report;
  if (invalid) invalid(*report);
  print_design_problems(report->problems, arguments);
  return kNegativeAnswer;
}

}  // namespace shardscape
