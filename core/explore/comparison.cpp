#include "explore/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "accuracy/error_band.h"
#include "base/real_text.h"
#include "base/units.h"
#include "campaign/campaign.h"
#include "memory/estimate.h"
#include "memory/memory_timeline.h"
#include "serving/inference.h"

namespace shardscape {
namespace {

constexpr double kRounding = 1e-9;  // relative rounding error of a sum of seconds over a step
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::string number_text(FigureKind kind, double value) {
  switch (kind) {
    case FigureKind::Seconds: return format_seconds(value);
    case FigureKind::Bytes: return format_bytes(nearest_whole(value));
    case FigureKind::Share: return significant(100 * value) + " %";
    case FigureKind::Rate: return significant(value, 4);
    case FigureKind::Count: return grouped(nearest_whole(value));
  }
  return "";
}

double mean(const Simulation& s, TimeCategory category) {
  const double sum = std::accumulate(
      s.stages.begin(), s.stages.end(), 0.0,
      [&](double t, const StageTimes& stage) { return t + stage.seconds[static_cast<size_t>(category)]; });
  return sum / static_cast<double>(s.stages.size());
}

const StageMemory& fullest_stage(const Report& report) {
  return report.memory->stages[static_cast<size_t>(report.memory->peak_stage)];
}

// Bytes of a rank in the collectives of one op and group, on the stage where they are most.
double moved_bytes(const Report& report, const std::pair<CommOp, std::string>& op_and_group) {
  double most = 0;
  for (const StageReport& stage : report.stages) {
    double bytes = 0;
    for (const CollectiveValue& c : stage.collectives)
      if (c.op == op_and_group.first && c.group == op_and_group.second) bytes += to_double(c.bytes.value);
    most = std::max(most, bytes);
  }
  return most;
}

// Costs of a million tokens, and the training run of designs with a budget of tokens. NaN: not known.
void add_costs(const std::vector<ComparedDesign>& designs, const auto& add) {
  const auto row = [&](const char* id, const char* label, FigureKind kind, const auto& of) {
    add(id, label, FigureGroup::Cost, kind,
        [&](const ComparedDesign& d) { return std::optional<double>(of(d)).value_or(kNone); });
  };
  const auto cost = [](const ComparedDesign& d) {
    return running_cost(d.report->design.cluster, d.report->ranks, d.simulation->tokens_per_second);
  };
  row("usd_per_million_tokens", "Cost per million tokens ($)", FigureKind::Rate,
      [&](const ComparedDesign& d) { return cost(d).dollars; });
  row("kwh_per_million_tokens", "Energy per million tokens (kWh)", FigureKind::Rate,
      [&](const ComparedDesign& d) { return cost(d).kwh; });
  std::vector<std::optional<Campaign>> runs;
  for (const ComparedDesign& d : designs) {
    const bool known = d.simulation && trains(d.report->design) && d.report->design.workload.tokens > 0;
    runs.push_back(known ? std::optional(campaign(*d.report, *d.simulation)) : std::nullopt);
  }
  const auto of_run = [&](const char* id, const char* label, FigureKind kind, const auto& value) {
    row(id, label, kind, [&](const ComparedDesign& d) -> std::optional<double> {
      const auto& run = runs[static_cast<size_t>(&d - designs.data())];
      return run ? std::optional<double>(value(*run)) : std::nullopt;
    });
  };
  const auto mean = [](const std::optional<Band>& band) {
    return band ? std::optional(band->mean) : std::nullopt;
  };
  of_run("days", "Training time (days)", FigureKind::Rate, [](const Campaign& c) { return c.days.mean; });
  of_run("days_low", "Training time, low end (days)", FigureKind::Rate,
         [](const Campaign& c) { return c.days.low; });
  of_run("days_high", "Training time, high end (days)", FigureKind::Rate,
         [](const Campaign& c) { return c.days.high; });
  of_run("goodput", "Goodput", FigureKind::Share, [](const Campaign& c) { return c.shares.steps; });
  of_run("usd", "Training cost ($)", FigureKind::Rate,
         [&](const Campaign& c) { return mean(c.dollars).value_or(kNone); });
  of_run("mwh", "Training energy (MWh)", FigureKind::Rate,
         [&](const Campaign& c) { return mean(c.mwh).value_or(kNone); });
}

}  // namespace

std::string_view figure_group_label(FigureGroup group) {
  switch (group) {
    case FigureGroup::Size: return "Size";
    case FigureGroup::Time: return "Time";
    case FigureGroup::Cost: return "Cost";
    case FigureGroup::StepParts: return "Step time by part, mean over stages";
    case FigureGroup::Memory: return "Memory of the worst rank";
    case FigureGroup::Collectives: return "Collectives per rank";
  }
  return "";
}

ComparedDesign compared(const Design& design, std::shared_ptr<PlanCache> cache, std::stop_token stop) {
  if (!cache) cache = std::make_shared<PlanCache>();
  ComparedDesign out{estimate(design, std::move(cache), stop), nullptr};
  if (out.report && out.report->valid()) out.simulation = simulate(*out.report, stop);
  return out;
}

std::vector<ComparedKnob> compare_knobs(const std::vector<Design>& designs) {
  std::vector<ComparedKnob> out;
  for (const Knob& knob : knobs()) {
    ComparedKnob row{&knob, {}};
    for (const Design& design : designs) row.values.push_back(knob_text(design, knob));
    if (std::adjacent_find(row.values.begin(), row.values.end(), std::not_equal_to<>()) != row.values.end())
      out.push_back(std::move(row));
  }
  return out;
}

std::string ComparedFigure::text(size_t design) const {
  return std::isnan(values[design]) ? "-" : number_text(kind, values[design]);
}

std::string ComparedFigure::band(size_t design) const {
  if (bands.empty() || std::isnan(bands[design].first)) return "";
  return number_text(kind, bands[design].first) + " to " + number_text(kind, bands[design].second);
}

namespace {

const RatioErrors* errors_of(const ComparedFigure& figure, size_t design, size_t baseline) {
  const auto it = figure.ratios.find(std::minmax(design, baseline));
  const double change = figure.change(design, baseline);
  return it == figure.ratios.end() || change == 0 || std::isnan(change) ? nullptr : it->second.get();
}

}  // namespace

std::string ComparedFigure::judged_ratio(size_t design, size_t baseline) const {
  const RatioErrors* errors = errors_of(*this, design, baseline);
  return errors ? ratio_text(values[design] / values[baseline], *errors) : "";
}

bool ComparedFigure::tie(size_t design, size_t baseline) const {
  if (const RatioErrors* errors = errors_of(*this, design, baseline))
    return errors->tie(values[design] / values[baseline]);
  if (bands.empty() || change(design, baseline) == 0) return false;
  const auto& [low, high] = bands[design];
  const auto& [base_low, base_high] = bands[baseline];
  return low <= base_high && base_low <= high;  // false for NaN
}

double ComparedFigure::change(size_t design, size_t baseline) const {
  const double by = values[design] - values[baseline];
  return std::abs(by) <= kRounding * std::max(std::abs(values[design]), std::abs(values[baseline])) ? 0 : by;
}

std::string ComparedFigure::difference(size_t design, size_t baseline) const {
  const double by = change(design, baseline);
  if (std::isnan(by)) return "-";
  if (by == 0) return "same";
  if (kind == FigureKind::Share) return (by < 0 ? "-" : "+") + significant(100 * std::abs(by)) + " points";
  return (by < 0 ? "-" : "+") + number_text(kind, std::abs(by));
}

std::string ComparedFigure::percent(size_t design, size_t baseline) const {
  const double by = 100 * change(design, baseline) / values[baseline];
  if (!std::isfinite(by) || by == 0) return "";
  if (std::abs(by) < 0.05) return "< 0.1 %";
  return signed_text(by, 1) + " %";
}

Verdict ComparedFigure::verdict(size_t design, size_t baseline) const {
  static constexpr std::string_view kMoreIsBetter[] = {
      "tokens_per_second",   "tokens_per_gpu",           "model_tflops",           "mfu", "goodput",
      "requests_per_second", "output_tokens_per_second", "input_tokens_per_second"};
  const double by = change(design, baseline);
  if (group == FigureGroup::Size || std::isnan(by) || by == 0) return Verdict::None;
  if (tie(design, baseline)) return Verdict::Tie;
  const bool more = std::find(std::begin(kMoreIsBetter), std::end(kMoreIsBetter), id) !=
                    std::end(kMoreIsBetter);
  return (by > 0) == more ? Verdict::Better : Verdict::Worse;
}

namespace {

// Figures that are proportional to the step time, or to its inverse, have the band of the time.
void add_bands(std::vector<ComparedFigure>& figures, const std::vector<ComparedDesign>& designs) {
  static constexpr std::string_view kTimes[] = {"step_seconds", "usd_per_million_tokens",
                                                "kwh_per_million_tokens"},
                                    kRates[] = {"tokens_per_second", "tokens_per_gpu", "model_tflops", "mfu"};
  const auto among = [](const auto& ids, const std::string& id) {
    return std::find(std::begin(ids), std::end(ids), id) != std::end(ids);
  };
  std::vector<DesignBands> bands;
  bands.reserve(designs.size());
  for (const ComparedDesign& design : designs)
    bands.push_back(design.simulation ? design_bands(design.report->design) : DesignBands{});
  std::map<std::pair<size_t, size_t>, DesignRatios> ratios;
  for (size_t i = 0; i < designs.size(); ++i)
    for (size_t k = i + 1; k < designs.size(); ++k)
      if (designs[i].simulation && designs[k].simulation)
        ratios[{i, k}] = design_ratios(designs[i].report->design, designs[k].report->design);
  for (ComparedFigure& figure : figures) {
    const bool time = among(kTimes, figure.id), rate = among(kRates, figure.id);
    if (!time && !rate && figure.id != "memory") continue;
    for (const auto& [pair, errors] : ratios)
      if (const auto& of = time || rate ? errors.time : errors.memory) figure.ratios[pair] = of;
    for (size_t i = 0; i < designs.size(); ++i) {
      const std::optional<ErrorBand>& band = time || rate ? bands[i].time : bands[i].memory;
      const double low = !band  ? kNone
                         : rate ? 1 / band->high
                                : band->low,
                   high = !band  ? kNone
                          : rate ? 1 / band->low
                                 : band->high;
      figure.bands.emplace_back(figure.values[i] * low, figure.values[i] * high);
    }
  }
}

}  // namespace

std::vector<ComparedFigure> compare_figures(const std::vector<ComparedDesign>& designs) {
  std::vector<ComparedFigure> out;
  const auto add = [&](std::string id, std::string label, FigureGroup group, FigureKind kind,
                       const auto& value_of) {
    ComparedFigure row{std::move(id), std::move(label), group, kind, {}, {}};
    for (const ComparedDesign& design : designs)
      row.values.push_back(design.simulation ? static_cast<double>(value_of(design)) : kNone);
    // Figures that no design has are omitted.
    if (std::any_of(row.values.begin(), row.values.end(), [](double v) { return v != 0 && !std::isnan(v); }))
      out.push_back(std::move(row));
  };
  add("gpus", "GPUs", FigureGroup::Size, FigureKind::Count,
      [](const ComparedDesign& d) { return d.report->ranks; });
  add("tokens_per_step", "Tokens per step", FigureGroup::Size, FigureKind::Count,
      [](const ComparedDesign& d) { return d.report->tokens_per_step; });
  const auto all_are = [&](Mode mode) {
    return std::all_of(designs.begin(), designs.end(), [&](const ComparedDesign& d) {
      return !d.report || d.report->design.workload.mode == mode;
    });
  };
  add("step_seconds",
      all_are(Mode::Decode)    ? "Time per output token"
      : all_are(Mode::Prefill) ? "Time to first token, last prompt"
                               : "Step time",
      FigureGroup::Time, FigureKind::Seconds,
      [](const ComparedDesign& d) { return served_seconds(*d.report, *d.simulation); });
  add("tokens_per_second", "Tokens per second", FigureGroup::Time, FigureKind::Rate,
      [](const ComparedDesign& d) { return d.simulation->tokens_per_second; });
  add("tokens_per_gpu", "Tokens/s per GPU", FigureGroup::Time, FigureKind::Rate, [](const ComparedDesign& d) {
    return d.simulation->tokens_per_second / static_cast<double>(d.report->ranks);
  });
  add("model_tflops", "Model TFLOP/s per GPU", FigureGroup::Time, FigureKind::Rate,
      [](const ComparedDesign& d) { return d.simulation->model_tflops; });
  add("mfu", "MFU", FigureGroup::Time, FigureKind::Share,
      [](const ComparedDesign& d) { return d.simulation->mfu; });
  add("bubble", "Bubble", FigureGroup::Time, FigureKind::Share,
      [](const ComparedDesign& d) { return d.simulation->bubble; });
  add("exposed", "Exposed communication", FigureGroup::Time, FigureKind::Share,
      [](const ComparedDesign& d) { return d.simulation->exposed; });
  add_costs(designs, add);
  for (int c = 0; c < kTimeCategoryCount; ++c) {
    const auto category = static_cast<TimeCategory>(c);
    add(std::string(time_category_name(category)) + "_seconds", std::string(time_category_label(category)),
        FigureGroup::StepParts, FigureKind::Seconds,
        [&](const ComparedDesign& d) { return mean(*d.simulation, category); });
  }
  add("memory", "In use", FigureGroup::Memory, FigureKind::Bytes,
      [](const ComparedDesign& d) { return fullest_stage(*d.report).in_use; });
  for (size_t c = 0; c < std::tuple_size_v<CategoryBytes>; ++c) {
    const auto category = static_cast<MemoryCategory>(c);
    add(std::string(memory_category_name(category)) + "_bytes", std::string(memory_category_label(category)),
        FigureGroup::Memory, FigureKind::Bytes,
        [&](const ComparedDesign& d) { return fullest_stage(*d.report).at_peak[c]; });
  }
  std::set<std::pair<CommOp, std::string>> collectives;
  for (const ComparedDesign& design : designs)
    if (design.simulation)
      for (const StageReport& stage : design.report->stages)
        for (const CollectiveValue& c : stage.collectives) collectives.emplace(c.op, c.group);
  for (const auto& op_and_group : collectives) {
    const auto& [op, group] = op_and_group;
    std::string name(op.name());
    std::replace(name.begin(), name.end(), '_', '-');
    add(std::string(op.name()) + "_" + group + "_bytes", name + " over " + group, FigureGroup::Collectives,
        FigureKind::Bytes, [&](const ComparedDesign& d) { return moved_bytes(*d.report, op_and_group); });
  }
  add_bands(out, designs);
  return out;
}

}  // namespace shardscape
