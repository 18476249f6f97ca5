// values of a choice
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/messages.h"
#include "app/cli/progress_line.h"
#include "app/cli/text.h"
#include "base/json_text.h"
#include "base/real_text.h"
#include "base/units.h"
#include "design/cluster.h"
#include "design/validate/validate.h"
#include "explore/layout.h"
#include "explore/scaling_lines.h"
#include "explore/sensitivity.h"
#include "report/campaign_report.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

json evaluation_json(const Evaluation& e) {
  return {{"step_seconds", e.step_seconds},
          {"tokens_per_second", e.tokens_per_second},
          {"mfu", e.mfu},
          {"memory", e.memory},
          {"fits", e.feasibility == Feasibility::Fits}};
}

json sensitivity_json(const Sensitivity& s) {
  json out{{"now", evaluation_json(s.now)}};
  json& list = out["knobs"] = json::array();
  for (const KnobSensitivity& effect : s.knobs) {
    json entry{{"knob", effect.knob->id},
               {"value", effect.value},
               {"slowest", effect.slowest},
               {"fastest", effect.fastest},
               {"least_memory", effect.least_memory},
               {"most_memory", effect.most_memory}};
    json& neighbours = entry["neighbours"] = json::array();
    for (const Neighbour& n : effect.neighbours) {
      json also = json::object();
      for (const auto& [id, value] : n.also) also[id] = value;
      json neighbour{{"value", n.value}, {"also", std::move(also)}};
      neighbour.update(evaluation_json(n.evaluation));
      neighbours.push_back(std::move(neighbour));
    }
    list.push_back(std::move(entry));
  }
  return out;
}

std::string signed_percent(double share) { return signed_text(100 * share, 1) + " %"; }

std::string sensitivity_text(const Sensitivity& s) {
  std::vector<std::vector<std::string>> rows{
      {"setting", "from", "to", "with", "tokens/s", "step", "memory", ""}};
  constexpr size_t kShown = 4;  // values per knob in the table
  for (const KnobSensitivity& effect : s.knobs)
    for (const Neighbour* neighbour : effect.extremes(kShown)) {
      const Neighbour& n = *neighbour;
      std::vector<std::string> also;
      for (const auto& [id, value] : n.also) also.push_back(id + " " + value);
      const int64_t memory = n.evaluation.memory - s.now.memory;
      rows.push_back({effect.knob->id, effect.value, n.value, joined(also, ", "),
                      signed_percent(n.evaluation.tokens_per_second / s.now.tokens_per_second - 1),
                      format_seconds(n.evaluation.step_seconds),
                      (memory < 0 ? "-" : "+") + format_bytes(memory < 0 ? -memory : memory),
                      n.evaluation.feasibility == Feasibility::Fits ? "" : "does not fit"});
    }
  return "now: " + format_seconds(s.now.step_seconds) + " per step, " +
         grouped(static_cast<Wide>(s.now.tokens_per_second)) + " tokens/s, " + format_bytes(s.now.memory) +
         " on the worst rank\n" +
         text_table(rows, {Align::Left, Align::Left, Align::Left, Align::Left, Align::Right, Align::Right,
                           Align::Right, Align::Left});
}

// Times of a run without progress are null.
json band_json(const Band& b) {
  const auto number = [](double value) { return std::isfinite(value) ? json(value) : json(); };
  return {{"low", number(b.low)}, {"mean", number(b.mean)}, {"high", number(b.high)}};
}

// Of --best; empty without the flag.
using BestLayouts = std::vector<LayoutAtSize>;

json scaling_json(const std::vector<ScalePoint>& points, const BestLayouts& best, bool weak) {
  json out{{"weak", weak}};
  json& list = out["points"] = json::array();
  for (const ScalePoint& p : points) {
    json entry{{"gpus", p.gpus}, {"dp", p.dp}, {"batch", p.batch}};
    if (p.wrong.empty()) {
      entry.update(evaluation_json(p.evaluation));
      entry["efficiency"] = p.efficiency;
      if (p.cost.dollars) entry["usd_per_million_tokens"] = *p.cost.dollars;
      if (p.cost.kwh) entry["kwh_per_million_tokens"] = *p.cost.kwh;
      if (p.days) entry["days"] = band_json(*p.days);
    } else {
      entry["wrong"] = p.wrong;
    }
    if (const size_t i = list.size(); i < best.size() && best[i].fastest) {
      json& layout = entry["best"] = evaluation_json(best[i].fastest->evaluation);
      for (const auto& [knob, value] : best[i].fastest->settings) layout["settings"][knob] = value;
    }
    list.push_back(std::move(entry));
  }
  return out;
}

std::string scaling_text(const std::vector<ScalePoint>& points) {
  std::vector<std::vector<std::string>> rows{{"GPUs", "dp", "batch", "step", "tokens/s", "MFU", "efficiency",
                                              "memory", "$/M tokens", "kWh/M tokens", "days", ""}};
  const auto or_dash = [](const std::optional<double>& value) { return value ? significant(*value) : "-"; };
  for (const ScalePoint& p : points) {
    std::vector<std::string> row{grouped(p.gpus), grouped(p.dp), grouped(p.batch)};
    const Evaluation& e = p.evaluation;
    if (p.wrong.empty())
      row.insert(row.end(), {format_seconds(e.step_seconds), grouped(static_cast<Wide>(e.tokens_per_second)),
                             significant(100 * e.mfu) + " %", significant(100 * p.efficiency) + " %",
                             format_bytes(e.memory), or_dash(p.cost.dollars), or_dash(p.cost.kwh),
                             or_dash(p.days ? std::optional(p.days->mean) : std::nullopt),
                             e.feasibility == Feasibility::Fits ? "" : "does not fit"});
    else
      row.insert(row.end(), {"-", "-", "-", "-", "-", "-", "-", "-", p.wrong});
    rows.push_back(std::move(row));
  }
  return text_table(
      rows, {Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
             Align::Right, Align::Right, Align::Right, Align::Right, Align::Left});
}

std::string best_text(const BestLayouts& best) {
  std::vector<std::vector<std::string>> rows{
      {"GPUs", "batch", "step", "tokens/s", "MFU", "memory", "fastest layout"}};
  for (const LayoutAtSize& at : best) {
    std::vector<std::string> row{grouped(at.gpus), grouped(at.batch)};
    if (at.fastest) {
      const Evaluation& e = at.fastest->evaluation;
      row.insert(row.end(), {format_seconds(e.step_seconds), grouped(static_cast<Wide>(e.tokens_per_second)),
                             significant(100 * e.mfu) + " %", format_bytes(e.memory),
                             joined(layout_mechanisms(at.fastest->design), ", ")});
    } else {
      row.insert(row.end(), {"-", "-", "-", "-", "no design fits"});
    }
    rows.push_back(std::move(row));
  }
  return "\n" + text_table(rows, {Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
                                  Align::Right, Align::Left});
}

std::string on_machine(const Design& design) { return "on " + machine_name(design.cluster) + "\n"; }

// A valid design, or an exit code after printing the problems.
std::variant<Design, int> valid_design(const Arguments& arguments) {
  if (!models_found()) return kFileError;
  auto design = design_of(arguments);
  if (std::holds_alternative<int>(design)) return design;
  const auto problems = validate(std::get<Design>(design));
  print_design_problems(problems, arguments);
  if (has_errors(problems)) return kNegativeAnswer;
  return design;
}

int run_sensitivity(const Arguments& arguments) {
  Interrupt interrupt;
  const auto design = valid_design(arguments);
  if (const int* exit_code = std::get_if<int>(&design)) return *exit_code;
  const auto found = [&] {
    ProgressLine line;
    return sensitivity(std::get<Design>(design), interrupt.token(), [&](size_t done, size_t total) {
      line.show(std::to_string(done) + " of " + std::to_string(total));
    });
  }();
  if (!found) return kInterrupted;
  std::cout << (arguments.has("--json") ? json_document(sensitivity_json(*found))
                                        : on_machine(std::get<Design>(design)) + sensitivity_text(*found));
  return kDone;
}

// The design on one cluster, at all sizes.
struct ScalingLine {
  std::optional<ClusterVariant> on;  // of --compare; empty: the design itself
  Design design;
  std::vector<ScalePoint> points;
  BestLayouts best;
};

// Computes the line. False if stopped.
bool compute(ScalingLine& line, bool weak, bool with_best, const std::stop_token& stop) {
  auto points = scaling(line.design, {weak}, stop);
  if (!points) return false;
  line.points = std::move(*points);
  if (!with_best) return true;
  auto best = best_layouts(line.design, line.points, stop);
  if (!best) return false;
  line.best = std::move(*best);
  return true;
}

// The lines of --compare, or an exit code after printing the problem.
std::variant<std::vector<ScalingLine>, int> compared_lines(const Arguments& arguments, const Design& design) {
  std::vector<ScalingLine> lines;
  for (const std::string& text : arguments.values("--compare")) {
    auto variants = parse_variants(text);
    if (const auto* problem = std::get_if<Problem>(&variants)) return wrong_usage(*problem);
    for (const ClusterVariant& variant : std::get<std::vector<ClusterVariant>>(variants)) {
      auto on = design_on(design, variant);
      if (const auto* problem = std::get_if<Problem>(&on)) return wrong_usage(*problem);
      lines.push_back({variant, std::get<Design>(std::move(on)), {}, {}});
    }
  }
  return lines;
}

std::string line_text(const ScalingLine& line) {
  return (line.on ? "\n" + variant_label(*line.on) + "\n" : on_machine(line.design)) +
         scaling_text(line.points) + missing_costs_text({line.design.cluster}) +
         (line.best.empty() ? "" : best_text(line.best));
}

int run_scaling(const Arguments& arguments) {
  Interrupt interrupt;
  const auto design = valid_design(arguments);
  if (const int* exit_code = std::get_if<int>(&design)) return *exit_code;
  const bool weak = arguments.has("--weak"), best = arguments.has("--best");
  auto lines = compared_lines(arguments, std::get<Design>(design));
  if (const int* exit_code = std::get_if<int>(&lines)) return *exit_code;
  ScalingLine own{{}, std::get<Design>(design), {}, {}};
  if (!compute(own, weak, best, interrupt.token())) return kInterrupted;
  json out = scaling_json(own.points, own.best, weak);
  std::string text = line_text(own);
  for (ScalingLine& line : std::get<std::vector<ScalingLine>>(lines)) {
    if (!compute(line, weak, best, interrupt.token())) return kInterrupted;
    out["lines"].push_back({{"knob", line.on->knob},
                            {"value", line.on->value},
                            {"points", scaling_json(line.points, line.best, weak)["points"]}});
    text += line_text(line);
  }
  std::cout << (arguments.has("--json") ? json_document(out) : text);
  return kDone;
}

}  // namespace

Command sensitivity_command() {
  std::vector<Flag> flags{json_flag()};
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {
      "sensitivity",
      "show the effect of changing one setting at a time",
      "[FLAGS]",
      std::string(
          "Changes every setting to its neighbouring valid values and prints time and memory. Other settings "
          "also change where the design would not stay valid on the same number of ranks. The setting with "
          "the largest effect comes first. For a long list of choices, the table has the slowest and the "
          "fastest choices, and the JSON has all. Settings of the model do not change. ") +
          kDesignFlagsHelp,
      {"shardscape-cli sensitivity --model llama3-70b --tp 8 --pp 4 --dp 8 --sequence-parallel",
       "shardscape-cli sensitivity --design my.shardscape.json --json"},
      std::move(flags),
      0,
      run_sensitivity};
}

Command scaling_command() {
  std::vector<Flag> flags{
      json_flag(),
      {"--weak", 0, FlagKind::Switch, "",
       "The batch grows with the number of replicas; without this flag, the batch is constant.", ""},
      {"--best", 0, FlagKind::Switch, "",
       "Also find the fastest layout at each size, as \"shardscape-cli layout\" does.", ""},
      {"--compare", 0, FlagKind::Value, "SETTING=VALUE,...",
       "Also compute the design on other clusters: network, accelerator, scaleup_domain or gpus_per_node "
       "with "
       "the values to compare. The flag can be repeated.",
       ""}};
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {
      "scaling",
      "estimate a design on 8 to 131,072 GPUs",
      "[FLAGS]",
      std::string("Computes the design with dp = 1, 2, 4 and so on. Prints the step time and the efficiency: "
                  "tokens/s per GPU, divided by the value at the smallest size. ") +
          kDesignFlagsHelp,
      {"shardscape-cli scaling --model llama3.1-405b --tp 8 --pp 16 --dp 64 --batch 8192 --sequence-parallel",
       "shardscape-cli scaling --design my.shardscape.json --weak --best",
       "shardscape-cli scaling --design my.shardscape.json --compare scaleup_domain=8,72"},
      std::move(flags),
      0,
      run_scaling};
}

}  // namespace shardscape
