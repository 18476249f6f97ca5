#include "app/cli/space_flags.h"

#include <algorithm>
#include <thread>

#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/text.h"
#include "base/atomic_write.h"
#include "base/number_text.h"
#include "base/units.h"
#include "design/knobs/step_tokens.h"
#include "explore/layout.h"
#include "explore/values.h"
#include "hardware/accelerator.h"
#include "hardware/network_catalogue.h"

namespace shardscape {

const char* const kSpaceFlagsHelp =
    "Every setting takes a value, a list (1,2,4), a range (1..64*2 for powers, 1..9+2 for steps, 1..4) or "
    "all. Several values of a list setting such as --stage-layers are separated by bars (|). The product of "
    "the degrees is --gpus: without --dp, dp follows from the other degrees. If no flag has more than one "
    "value, the search varies the usual dimensions: tp inside a scale-up domain, pp, virtual stages, "
    "microbatch, schedule, recompute, sequence parallelism, gradient sync and overlap, cp for long "
    "sequences, ep for experts. Without --batch, the batch is one sequence per GPU.";

namespace {

constexpr const char* kDegrees[] = {"tp", "cp", "pp", "dp"};

// Conditions of all --where flags; each flag may have several.
std::vector<std::string> conditions(const Arguments& arguments) {
  std::vector<std::string> out;
  for (std::string text : arguments.values("--where")) {
    while (!text.empty()) {
      const size_t end = std::min(text.find(';'), text.size());
      if (const std::string_view part = trimmed(std::string_view(text).substr(0, end)); !part.empty())
        out.emplace_back(part);
      text.erase(0, end + 1);
    }
  }
  return out;
}

bool several_models(const std::string& text) { return is_all(text) || text.find(',') != std::string::npos; }

void put(SpaceSpec& spec, const std::string& id, const std::string& values) {
  std::erase_if(spec.dimensions, [&](const auto& d) { return d.first == id; });
  spec.dimensions.emplace_back(id, values);
}

// Applies the knob flags: single values to the base, several values to dimensions. Degrees always become
// dimensions, so that a given dp does not follow from the ranks.
std::optional<int> set_knobs(const Arguments& arguments, SpaceSpec& spec, bool base_is_set) {
  for (const Knob& knob : knobs()) {
    const std::string* text = arguments.value(knob.flag());
    if (!text) continue;
    const bool degree = std::find(std::begin(kDegrees), std::end(kDegrees), knob.id) != std::end(kDegrees);
    if (degree || is_range(knob, *text)) {
      put(spec, knob.id, *text);
      continue;
    }
    std::erase_if(spec.dimensions, [&](const auto& d) { return d.first == knob.id; });
    if (base_is_set) continue;
    if (const auto problem = set_knob(spec.base, knob, *text)) return wrong_usage(*problem);
    if (const auto note = rounding_note(spec.base, knob, *text)) print_problem(*note);
  }
  return std::nullopt;
}

std::optional<int> set_ranks(const Arguments& arguments, SpaceSpec& spec) {
  const std::string *gpus = arguments.value("--gpus"), *nodes = arguments.value("--nodes");
  if (gpus && nodes)
    return wrong_usage({ProblemCode::ConflictingFlags, "--nodes", "the number of ranks is given twice",
                        "--gpus or --nodes"});
  if (gpus || nodes) {
    spec.gpus = gpus ? *gpus : "";
    spec.nodes = nodes ? *nodes : "";
  }
  return std::nullopt;
}

// The largest requested number of ranks; 0: not given, or invalid.
int64_t most_ranks(const SpaceSpec& spec) {
  const std::string& text = spec.gpus.empty() ? spec.nodes : spec.gpus;
  if (text.empty()) return 0;
  const auto values = parse_values(*find_knob("dp"), text);
  if (!std::holds_alternative<std::vector<std::string>>(values)) return 0;
  const int64_t most = std::stoll(std::get<0>(values).back());
  return spec.gpus.empty() ? most * spec.base.cluster.gpus_per_node : most;
}

void add_usual(const Arguments& arguments, SpaceSpec& spec) {
  if (spec.gpus.empty() && spec.nodes.empty()) spec.gpus = std::to_string(spec.base.world());
  std::vector<std::string> given;
  for (const Knob& knob : knobs())
    if (arguments.has(knob.flag()) || spec.find(knob.id)) given.push_back(knob.id);
  for (auto& [id, values] : usual_dimensions(spec.base, most_ranks(spec), given))
    spec.dimensions.emplace_back(id, values);
}

std::variant<SpaceSpec, int> spec_of(const Arguments& arguments) {
  SpaceSpec spec;
  const std::string *file = arguments.value("--space"), *model = arguments.value("--model");
  if (file) {
    for (const char* flag : {"--design", "--example", "--hf-config"})
      if (arguments.has(flag))
        return wrong_usage({ProblemCode::ConflictingFlags, flag, "the space file already has a base design",
                            "--space or " + std::string(flag)});
    auto read = load_space(*file);
    if (auto* problem = std::get_if<Problem>(&read)) return print_refusal(*problem);
    spec = std::get<SpaceSpec>(std::move(read));
    if (model && !several_models(*model) && !apply_preset(spec.base, *model))
      return wrong_usage({ProblemCode::UnknownPreset, "model", "there is no preset \"" + *model + "\"",
                          "a preset that \"shardscape-cli presets\" lists"});
  } else {
    std::set<std::string> left_out;
    if (model && several_models(*model)) left_out.insert(kModelAxis);
    for (const Knob& knob : knobs())
      if (const std::string* text = arguments.value(knob.flag()); text && is_range(knob, *text))
        left_out.insert(knob.id);
    auto design = design_of(arguments, left_out);
    if (const int* exit_code = std::get_if<int>(&design)) return *exit_code;
    spec.base = std::get<Design>(std::move(design));
  }
  if (model && several_models(*model)) put(spec, kModelAxis, *model);
  if (const auto exit_code = set_knobs(arguments, spec, !file)) return *exit_code;
  if (const auto exit_code = set_ranks(arguments, spec)) return *exit_code;
  if (!file && !arguments.has("--design") && !arguments.has("--example") && !arguments.has("--batch") &&
      most_ranks(spec) > 0)
    spec.base.workload.batch = layout_batch(most_ranks(spec));
  const bool varies = std::any_of(spec.dimensions.begin(), spec.dimensions.end(), [](const auto& d) {
    return d.first == kModelAxis || is_range(*find_knob(d.first), d.second);
  });
  if (arguments.has("--usual") || (!varies && !file)) add_usual(arguments, spec);
  for (std::string& condition : conditions(arguments)) spec.constraints.push_back(std::move(condition));
  if (const std::string* margin = arguments.value("--margin")) {
    const auto thousandths = parse_thousandths(*margin);
    if (!thousandths || *thousandths >= 1000)
      return wrong_usage({ProblemCode::FlagValueInvalid, "--margin",
                          "\"" + *margin + "\" is not a share of the memory",
                          "a number from 0 to below 1, such as 0.05"});
    spec.memory_margin = static_cast<double>(*thousandths) / 1000;
  }
  return spec;
}

}  // namespace

std::vector<Flag> space_flags() {
  std::vector<Flag> flags{
      {"--space", 0, FlagKind::Value, "FILE", "A space as JSON. Flags override the file.", "Space"},
      {"--gpus", 0, FlagKind::Value, "N",
       "Number of ranks: the product of the degrees of parallelism. A list or range is possible. Default: "
       "the ranks of the design.",
       "Space"},
      {"--nodes", 0, FlagKind::Value, "N", "Number of ranks, counted in nodes.", "Space"},
      {"--where", 0, FlagKind::Value, "CONDITION",
       "Visit only designs that satisfy the condition. Separate several conditions by semicolons, or repeat "
       "the flag. A condition is made of " +
           constraint_help() + ".",
       "Space"},
      {"--margin", 0, FlagKind::Value, "SHARE", "Share of the memory that must stay free; default: 0.",
       "Space"},
      {"--usual", 0, FlagKind::Switch, "", "Vary the usual dimensions in addition to the given dimensions.",
       "Space"}};
  for (Flag& flag : design_flags()) {
    if (flag.operand == "N" || flag.operand == "X" || flag.operand == "NAME")
      flag.operand += "|" + flag.operand + ",...|all";
    flags.push_back(std::move(flag));
  }
  return flags;
}

std::variant<std::shared_ptr<const Space>, int> space_of(const Arguments& arguments) {
  if (!models_found()) return kFileError;
  print_problems(accelerator_problems());
  print_problems(network_problems());
  auto spec = spec_of(arguments);
  if (const int* exit_code = std::get_if<int>(&spec)) return *exit_code;
  auto space = Space::make(std::get<SpaceSpec>(std::move(spec)));
  if (const auto* problem = std::get_if<Problem>(&space)) return wrong_usage(*problem);
  return std::get<0>(std::move(space));
}

std::optional<int> write_result(const Arguments& arguments, const SearchResult& result,
                                const std::function<std::string()>& json) {
  const auto write = [&](const char* flag, const auto& text) -> std::optional<int> {
    const std::string* path = arguments.value(flag);
    if (!path) return std::nullopt;
    const auto problem = atomic_write(*path, text());
    return problem ? std::optional(failed(*problem, kFileError)) : std::nullopt;
  };
  const auto output = write("--output", [&] { return json ? json() : result_json(result); });
  const auto csv = write("--csv", [&] { return result_csv(result); });
  return output ? output : csv;
}

int usable_threads(int64_t wanted) {
  return static_cast<int>(std::min<int64_t>(wanted, std::thread::hardware_concurrency()));
}

std::variant<int64_t, int> count_flag(const Arguments& arguments, const CountFlag& flag) {
  const std::string* text = arguments.value(flag.name);
  if (!text) return flag.fallback;
  const NumberText number = parse_number(*text, false);
  if (number.fault == NumberFault::None && number.value >= flag.least && number.value <= flag.most)
    return number.value;
  return wrong_usage({ProblemCode::FlagValueInvalid, flag.name, "\"" + *text + "\" is not accepted",
                      "a whole number from " + grouped(flag.least) + " to " + grouped(flag.most)});
}

std::optional<int> read_counts(const Arguments& arguments,
                               std::initializer_list<std::pair<CountFlag, int64_t*>> flags) {
  for (const auto& [flag, value] : flags) {
    const auto read = count_flag(arguments, flag);
    if (const int* exit_code = std::get_if<int>(&read)) return *exit_code;
    *value = std::get<int64_t>(read);
  }
  return std::nullopt;
}

}  // namespace shardscape
