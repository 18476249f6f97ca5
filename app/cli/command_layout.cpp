// shardscape-cli layout
#include <iostream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "accuracy/error_band.h"
#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "app/cli/space_flags.h"
#include "app/cli/text.h"
#include "base/json_text.h"
#include "base/number_text.h"
#include "base/units.h"
#include "design/cluster.h"
#include "design/limits.h"
#include "design/validate/repair_design.h"
#include "explore/layout.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

// The design of the flags, and the design that is searched: with one sequence per GPU if no batch is given.
struct Question {
  Design flags, design;
  LayoutOptions options;
};

constexpr CountFlag kGpus{"--gpus", 0, 1, kMaxWorld, "Number of GPUs; default: the GPUs of the design."};
constexpr CountFlag kThreads{
    "--threads", 0, 1, 4096,
    "Number of threads, at most one per processor; default: all. The result does not depend on the number."};

std::variant<Question, int> question_of(const Arguments& arguments) {
  if (!models_found()) return kFileError;
  auto design = design_of(arguments);
  if (const int* exit_code = std::get_if<int>(&design)) return *exit_code;
  Question out;
  out.flags = std::get<Design>(std::move(design));
  int64_t threads = 0;
  if (const auto exit_code = read_counts(arguments, {{kGpus, &out.options.gpus}, {kThreads, &threads}}))
    return *exit_code;
  out.options.threads = usable_threads(threads);
  if (const std::string* price = arguments.value("--price")) {
    const auto thousandths = parse_thousandths(*price);
    if (!thousandths || *thousandths < 1) {
      print_problem({ProblemCode::FlagValueInvalid, "--price", "\"" + *price + "\" is not a price",
                     "dollars per GPU hour, such as 2.49"});
      return kWrongUsage;
    }
    out.options.price_per_hour = static_cast<double>(*thousandths) / 1000;
  }
  for (const Knob& knob : knobs())
    if (arguments.has(knob.flag())) out.options.fixed.push_back(knob.id);
  out.design = out.flags;
  if (out.options.gpus > 0 && !arguments.has("--design") && !arguments.has("--example") &&
      !arguments.has("--batch"))
    out.design.workload.batch = layout_batch(out.options.gpus);
  return out;
}

// "--tp 8 --pp 4": the flags that turn one design into the other.
std::string flags_text(const Design& from, const Design& to) {
  std::string out;
  for (const KnobChange& change : changes_outside_model(from, to)) {
    const bool bare = change.knob->type == KnobType::Boolean && change.after == "true";
    out += (out.empty() ? "" : " ") + change.knob->flag() + (bare ? "" : " " + change.after);
  }
  return out;
}

json settings_json(const LayoutSettings& settings) {
  json out = json::object();
  for (const auto& [knob, value] : settings) out[knob] = value;
  return out;
}

json evaluation_json(const Evaluation& e) {
  return {{"step_seconds", e.step_seconds},
          {"tokens_per_second", e.tokens_per_second},
          {"mfu", e.mfu},
          {"memory", e.memory},
          {"capacity", e.capacity},
          {"fits", e.feasibility == Feasibility::Fits}};
}

json layout_json(const FoundLayout& layout, const Question& question) {
  json out{{"aim", layout_aim_label(layout.aim)}, {"reason", layout.reason}};
  out.update(evaluation_json(layout.evaluation));
  const DesignBands bands = design_bands(layout.design);
  const auto range = [](double value, const ErrorBand& band) {
    return json{value * band.low, value * band.high};
  };
  const Evaluation& e = layout.evaluation;
  if (bands.time) out["bands"]["step_seconds"] = range(e.step_seconds, *bands.time);
  if (bands.memory) out["bands"]["memory"] = range(static_cast<double>(e.memory), *bands.memory);
  for (size_t i = 0; i < kObjectiveCount; ++i) {
    const double value = layout.values[i];
    if (value == value) out["objectives"][objectives()[i].id] = value;
  }
  out["slower"] = layout.slower;
  out["settings"] = settings_json(layout.settings);
  out["flags"] = flags_text(question.flags, layout.design);
  return out;
}

json layouts_json(const Layouts& layouts, const Question& question) {
  json out{{"gpus", question.options.gpus > 0 ? question.options.gpus : question.design.world()},
           {"evaluated", layouts.evaluated},
           {"designs", json::array()}};
  for (const FoundLayout& layout : layouts.found) out["designs"].push_back(layout_json(layout, question));
  if (layouts.now.timed()) out["now"] = evaluation_json(layouts.now);
  if (const auto slower = slower_than_best(layouts, layouts.now)) out["slower_than_best"] = *slower;
  if (layouts.at_fewest) {
    out["fewest_gpus"] = layouts.fewest_gpus;
    out["at_fewest"] = layout_json(*layouts.at_fewest, question);
  }
  for (const LayoutHelp& help : layouts.help) {
    json entry{{"what", help.what}, {"saved", help.saved}};
    entry.update(evaluation_json(help.evaluation));
    entry["settings"] = settings_json(help.settings);
    out["help"].push_back(std::move(entry));
  }
  return out;
}

std::string designs_text(const std::vector<FoundLayout>& found, const Question& question) {
  const int cost = find_objective("cost"), rate = find_objective("tokens_per_gpu");
  std::vector<std::vector<std::string>> rows{
      {"", "step", "80 % band", "tokens/s/GPU", "MFU", "memory", "free", "$/Mtok"}};
  for (const FoundLayout& layout : found) {
    const Evaluation& e = layout.evaluation;
    const double dollars = layout.values[static_cast<size_t>(cost)];
    const DesignBands bands = design_bands(layout.design);
    const bool over = bytes_over(e.memory, e.capacity, bands.memory) > 0;
    rows.push_back({layout_aim_label(layout.aim), format_seconds(e.step_seconds),
                    band_text(e.step_seconds, bands.time, format_seconds),
                    significant(layout.values[static_cast<size_t>(rate)], 4), significant(100 * e.mfu) + " %",
                    format_bytes(e.memory) + (over ? " may not fit" : ""),
                    format_bytes(e.capacity - e.memory),
                    dollars == dollars ? significant(dollars) : "unknown"});
  }
  std::string out = text_table(rows, {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right,
                                      Align::Right, Align::Right, Align::Right});
  for (const FoundLayout& layout : found) {
    out += "\n" + std::string(layout_aim_label(layout.aim)) + ". " + wrapped(layout.reason, 2) + "\n";
    out += "  " + wrapped(flags_text(question.flags, layout.design), 4) + "\n";
  }
  return out;
}

std::string help_text(const std::vector<LayoutHelp>& helps) {
  std::vector<std::vector<std::string>> rows{{"what would help", "saves", "step", "", "flags"}};
  for (const LayoutHelp& help : helps) {
    std::string flags;
    for (const auto& [knob, value] : help.settings)
      flags += (flags.empty() ? "" : " ") + find_knob(knob)->flag() + " " + value;
    rows.push_back({help.what, format_bytes(help.saved), format_seconds(help.evaluation.step_seconds),
                    help.fits ? "fits" : "does not fit", flags});
  }
  return text_table(rows, {Align::Left, Align::Right, Align::Right, Align::Left, Align::Left});
}

std::string now_text(const Layouts& layouts) {
  const Evaluation& now = layouts.now;
  if (!now.timed()) return "";  // invalid, or of another number of GPUs
  if (now.feasibility == Feasibility::DoesNotFit)
    return "The given design does not fit: a GPU needs " + format_bytes(now.memory) + " and has " +
           format_bytes(now.capacity) + ".\n";
  const std::string distance = distance_text(layouts, now);
  return "The given design takes " + format_seconds(now.step_seconds) + " per step" +
         (distance.empty() ? "" : ": " + distance) + ".\n";
}

std::string layouts_text(const Layouts& layouts, const Question& question) {
  const int64_t gpus = question.options.gpus > 0 ? question.options.gpus : question.design.world();
  const Preset* preset = ModelLibrary::instance().preset(question.design.model.preset);
  std::string out = (preset ? preset->name : question.design.name) + " on " + grouped(gpus) + " " +
                    machine_name(question.design.cluster) + ", " + grouped(question.design.workload.batch) +
                    " sequences\n" + now_text(layouts) + "\n";
  if (!layouts.found.empty()) {
    out += designs_text(layouts.found, question);
  } else {
    out += "No design fits on " + grouped(gpus) + (gpus == 1 ? " GPU" : " GPUs") + ".\n";
    if (layouts.at_fewest)
      out += "The fewest GPUs that fit: " + grouped(layouts.fewest_gpus) + "\n\n" +
             designs_text({*layouts.at_fewest}, question);
  }
  if (!layouts.help.empty()) out += "\n" + help_text(layouts.help);
  return out;
}

int run_layout(const Arguments& arguments) {
  Interrupt interrupt;
  auto asked = question_of(arguments);
  if (const int* exit_code = std::get_if<int>(&asked)) return *exit_code;
  const Question& question = std::get<Question>(asked);
  const auto layouts = find_layouts(question.design, question.options, interrupt.token());
  if (!layouts) return kInterrupted;
  if (layouts->unavailable) {
    print_problem(*layouts->unavailable);
    return kNegativeAnswer;
  }
  std::cout << (arguments.has("--json") ? json_document(layouts_json(*layouts, question))
                                        : layouts_text(*layouts, question));
  return layouts->found.empty() ? kNegativeAnswer : kDone;
}

}  // namespace

Command layout_command() {
  std::vector<Flag> flags{json_flag(),
                          kGpus.flag(),
                          {"--price", 0, FlagKind::Value, "DOLLARS",
                           "Price per GPU hour; default: the catalogue's price, if it has one.", ""},
                          kThreads.flag()};
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {"layout",
          "find a layout: the fastest, the one with least memory, and the simplest",
          "[FLAGS]",
          std::string(
              "Searches the usual dimensions of a design for about a second: degrees of parallelism, virtual "
              "stages, microbatch, schedule, recompute, gradient sync and overlap. Prints three designs with "
              "their costs, a reason and the flags that apply them. If no design fits, it prints the fewest "
              "GPUs that fit. If the given design does not fit, it prints what would help. Settings given as "
              "flags keep their values. Without --design and --batch, the batch is one sequence per GPU. ") +
              kDesignFlagsHelp,
          {"shardscape-cli layout --model qwen3-235b-a22b --gpus 512 --batch 2048",
           "shardscape-cli layout --model llama3-70b --gpus 16 --mode decode --batch 128 --json",
           "shardscape-cli layout --design my.shardscape.json"},
          std::move(flags),
          0,
          run_layout};
}

}  // namespace shardscape
