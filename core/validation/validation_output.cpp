#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/real_text.h"
#include "base/units.h"
#include "validation/band_coverage.h"
#include "validation/effect_signs.h"
#include "validation/row_text.h"
#include "validation/validation.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kNameWidth = 64;

std::string padded(std::string text, size_t width, bool right) {
  text = cut_text(text, width);
  const std::string fill(width - text_width(text), ' ');
  return right ? fill + text : text + fill;
}

std::string rows_text(size_t rows) { return std::to_string(rows) + (rows == 1 ? " row" : " rows"); }

std::string cell_text(const ServedCell& cell) {
  std::string out;
  for (const std::string* part : {&cell.gpu, &cell.model, &cell.engine, &cell.precision})
    if (!part->empty()) out += (out.empty() ? "" : ", ") + *part;
  return out;
}

// How often the effect of one setting has the right sign: a line for all settings, and one for each.
std::string effects_text(const ValidatedMetric& metric) {
  const std::vector<EffectPair> pairs = effect_pairs(metric);
  if (pairs.empty()) return {};
  const auto number = [](size_t value) { return padded(std::to_string(value), 10, true); };
  const auto line = [&](const std::string& name, const EffectCounts& of) {
    return padded("  " + name, kNameWidth, false) + number(of.pairs()) + number(of.right) + number(of.wrong) +
           number(of.zero) + number(of.noise) + number(of.unmapped) + "\n";
  };
  std::string out = padded("effects of one setting above 3 %", kNameWidth, false);
  for (const char* name : {"pairs", "right", "wrong", "zero", "noise", "no design"})
    out += padded(name, 10, true);
  out += "\n";
  for (const auto& [name, of] : effect_counts(pairs)) out += line(name, of);
  out += line("all settings but the engine", setting_total(pairs));
  if (const RepeatedRuns of = repeated_runs(metric); of.servers > 0)
    out += "configurations measured several times: " + std::to_string(of.servers) + ", runs differ by " +
           fixed_text(of.median_percent, 1) + " % in the median, at most " + fixed_text(of.worst_percent, 1) +
           " %\n";
  return out;
}

Json effects_json(const ValidatedMetric& metric) {
  const std::vector<EffectPair> pairs = effect_pairs(metric);
  Json settings = Json::array(), list = Json::array();
  for (const auto& [name, of] : effect_counts(pairs))
    settings.push_back({{"setting", name},
                        {"pairs", of.pairs()},
                        {"right", of.right},
                        {"wrong", of.wrong},
                        {"zero", of.zero},
                        {"noise", of.noise},
                        {"unmapped", of.unmapped}});
  for (const EffectPair& pair : pairs)
    list.push_back(
        {{"setting", pair.setting},
         {"before", pair.before},
         {"after", pair.after},
         {"row", pair.row},
         {"other", pair.other},
         {"measured_percent", pair.measured_percent},
         {"predicted_percent", pair.sign == EffectSign::Unmapped ? Json() : Json(pair.predicted_percent)},
         {"sign", effect_sign_name(pair.sign)}});
  const RepeatedRuns repeated = repeated_runs(metric);
  return {{"settings", settings},
          {"pairs", list},
          {"repeated",
           {{"servers", repeated.servers},
            {"median_percent", repeated.median_percent},
            {"worst_percent", repeated.worst_percent}}}};
}

// Errors of the cells, the worst first, and the order of configurations. Nothing for steps of training.
std::string cells_text(const ValidatedMetric& metric) {
  const std::vector<CellErrors> cells = metric.cells();
  if (cells.empty()) return {};
  std::string out = "median absolute error " + fixed_text(metric.median_abs_error_percent(), 2) + " %\n";
  for (const bool equal_load : {false, true})
    if (const auto of = metric.correlation(equal_load))
      out += std::string("rank correlation of configurations ") + (equal_load ? "at equal load " : "") +
             fixed_text(of->value, 2) + " (" + rows_text(of->rows) + " in " + std::to_string(of->series) +
             " series)\n";
  out += effects_text(metric);
  out += padded("GPU, model, engine, precision", kNameWidth, false) + padded("rows", 12, true) +
         padded("error", 12, true) + "\n";
  for (const CellErrors& of : cells)
    out += padded(cell_text(of.cell), kNameWidth, false) + padded(std::to_string(of.rows), 12, true) +
           padded(fixed_text(of.mean_abs_error_percent, 2) + " %", 12, true) + "\n";
  return out;
}

// How well predictions choose among the layouts of a workload. Nothing for serving points.
std::string decisions_text(const ValidatedMetric& metric) {
  const auto of = metric.decisions();
  if (!of) return {};
  std::string out = "layouts of one workload: mean regret " + fixed_text(of->mean_regret_percent, 2) +
                    " %, best picked in " + std::to_string(of->best_picked) + " of " +
                    std::to_string(of->workloads) + " workloads (" + rows_text(of->rows) +
                    "), worst regret " + fixed_text(of->worst_regret_percent, 1) + " % (" + of->worst_pick +
                    " instead of " + of->worst_best + ")\n";
  if (const auto rank = metric.correlation(false))
    out += "rank correlation of layouts " + fixed_text(rank->value, 3) + " (" + rows_text(rank->rows) +
           " in " + std::to_string(rank->series) + " workloads)\n";
  return out + effects_text(metric);
}

// Which runs succeed and which fail; a line per wrong row.
std::string runs_text(const RunCheck& runs) {
  if (runs.rows.empty() && runs.unmapped.empty()) return {};
  const auto wrong = [&](bool ran) {
    return std::to_string(std::count_if(runs.rows.begin(), runs.rows.end(), [&](const RunCheck::Row& row) {
      return !row.right() && row.ran == ran;
    }));
  };
  std::string out = "\nruns or fails: right in " + std::to_string(runs.right()) + " of " +
                    rows_text(runs.rows.size()) + "; ran although predicted to fail: " + wrong(true) +
                    ", failed although predicted to run: " + wrong(false) + "\n";
  for (const RunCheck::Row& row : runs.rows)
    if (!row.right())
      out += std::string(row.ran ? "ran: " : "failed: ") + row.name +
             (row.reason.empty() ? "" : ": " + row.reason) + "\n";
  for (const auto& [row, why] : runs.unmapped) out += "not mapped: " + row + ": " + why + "\n";
  return out;
}

// "80 % bands: 18 of 22 rows inside (81.8 %) without ..."; nothing for metrics without bands.
std::string bands_text(const Validation& v, const ValidatedMetric& metric) {
  const BandCoverage of = band_coverage(v, metric, error_samples());
  return of.rows() == 0 ? "" : coverage_text(of) + "\n";
}

std::string size_text(int decade) {
  if (decade < 0) return "all sizes";
  return "10^" + std::to_string(decade) + " to 10^" + std::to_string(decade + 1) + " bytes";
}

// Errors of measured collectives: a line per kind, and one per decade of sizes.
std::string collectives_text(const std::vector<CollectiveErrors>& errors) {
  if (errors.empty()) return {};
  std::string out = "\n" + padded("collectives, mean absolute error", kNameWidth, false) +
                    padded("rows", 12, true) + padded("with tables", 14, true) +
                    padded("formulas", 12, true) + "\n";
  for (const CollectiveErrors& of : errors) {
    const std::string kind(collective_kind_name(of.kind));
    out += padded((of.decade < 0 ? "" : "  ") + kind + ", " + size_text(of.decade), kNameWidth, false) +
           padded(std::to_string(of.rows), 12, true) + padded(fixed_text(of.model, 2) + " %", 14, true) +
           padded(fixed_text(of.formulas, 2) + " %", 12, true) + "\n";
  }
  return out;
}

Json collectives_json(const std::vector<CollectiveErrors>& errors) {
  Json out = Json::array();
  for (const CollectiveErrors& of : errors)
    out.push_back({{"op", collective_kind_name(of.kind)},
                   {"bytes", of.decade < 0 ? Json() : Json(std::pow(10.0, of.decade))},
                   {"rows", of.rows},
                   {"mean_abs_error_percent", of.model},
                   {"mean_abs_error_percent_of_formulas", of.formulas}});
  return out;
}

// A line per row, or of serving points a line per reason.
std::string unmapped_text(const ValidatedMetric& metric) {
  std::string out;
  if (metric.cells().empty()) {
    for (const auto& [row, why] : metric.unmapped) out += "not mapped: " + row + ": " + why + "\n";
    return out;
  }
  std::map<std::string, std::pair<size_t, std::string>> reasons;  // number of rows, and the first row
  for (const auto& [row, why] : metric.unmapped)
    if (++reasons[why].first == 1) reasons[why].second = row;
  for (const auto& [why, rows] : reasons)
    out += "not mapped: " +
           (rows.first == 1 ? rows.second : rows_text(rows.first) + ", the first is " + rows.second) + ": " +
           why + "\n";
  return out;
}

// A line per service with a level, and how many verdicts are right.
std::string verdicts_text(const Validation& v) {
  if (v.verdicts.empty()) return {};
  const auto kept = [](bool keeps) { return keeps ? "kept" : "exceeded"; };
  std::string out = "\n" + padded("service level", kNameWidth, false) + padded("measured", 12, true) +
                    padded("predicted", 12, true) + "\n";
  for (const ValidatedVerdict& of : v.verdicts)
    out += padded(of.name, kNameWidth, false) + padded(kept(of.measured), 12, true) +
           padded(kept(of.predicted), 12, true) + "  " + of.level + "\n";
  const double share = 100.0 * static_cast<double>(v.right_verdicts()) /
                       static_cast<double>(v.verdicts.size());
  return out + rows_text(v.verdicts.size()) + ", verdict right in " + std::to_string(v.right_verdicts()) +
         " (" + fixed_text(share, 1) + " %)\n";
}

Json verdicts_json(const Validation& v) {
  Json rows = Json::array();
  for (const ValidatedVerdict& of : v.verdicts)
    rows.push_back({{"row", of.name},
                    {"level", of.level},
                    {"measured", of.measured},
                    {"predicted", of.predicted},
                    {"gpu", of.cell.gpu},
                    {"model", of.cell.model},
                    {"engine", of.cell.engine},
                    {"precision", of.cell.precision}});
  return {{"rows", rows}, {"right", v.right_verdicts()}};
}

}  // namespace

std::string figure_text(const ValidatedMetric& metric, double value) {
  if (metric.name == "memory") return format_bytes(whole_part(value));
  if (metric.unit() == std::string_view("tokens per step")) return significant(value);
  if (std::string_view(metric.unit()).starts_with("tokens") ||
      metric.unit() == std::string_view("preemptions"))
    return grouped(whole_part(value + 0.5));
  return fixed_text(value, value < 1 ? 4 : 2) + " s";
}

std::string validation_text(const Validation& v) {
  std::string out = v.set + (v.source.empty() ? "" : ": " + v.source) + "\n";
  for (const ValidatedMetric& metric : v.metrics) {
    const std::string unit = metric.unit();
    out += "\n" + padded(metric.name + (unit.starts_with("tokens") ? ", " + unit : ""), kNameWidth, false) +
           padded("measured", 12, true) + padded("predicted", 12, true) + padded("error", 10, true) + "\n";
    for (const ValidatedRow& row : metric.rows)
      out += padded(row.name, kNameWidth, false) + padded(figure_text(metric, row.measured), 12, true) +
             padded(figure_text(metric, row.predicted), 12, true) +
             padded((row.error_percent() >= 0 ? "+" : "") + fixed_text(row.error_percent(), 2) + " %", 10,
                    true) +
             "\n";
    out += metric.rows.empty() ? "no rows"
                               : rows_text(metric.rows.size()) + ", mean absolute error " +
                                     fixed_text(metric.mean_abs_error_percent(), 2) + " %";
    if (const ValidatedRow* worst = metric.worst())
      out += ", worst " + fixed_text(worst->error_percent(), 2) + " % (" + worst->name + ")";
    out += "\n" + cells_text(metric) + decisions_text(metric) + bands_text(v, metric) + unmapped_text(metric);
  }
  return out + collectives_text(v.collectives) + verdicts_text(v) + runs_text(v.runs);
}

namespace {

// How well predictions order rows, and the signs of the effects of single settings.
void add_orders(Json& entry, const ValidatedMetric& metric) {
  if (std::any_of(metric.rows.begin(), metric.rows.end(),
                  [](const ValidatedRow& row) { return !row.settings.empty(); }))
    entry["setting_effects"] = effects_json(metric);
  for (const bool equal_load : {false, true})
    if (const auto of = metric.correlation(equal_load); of && (!equal_load || !metric.cells().empty()))
      entry[equal_load ? "rank_correlation_at_equal_load" : "rank_correlation"] = {
          {"value", of->value}, {"series", of->series}, {"rows", of->rows}};
}

Json runs_json(const RunCheck& runs) {
  Json rows = Json::array(), unmapped = Json::array();
  for (const RunCheck::Row& row : runs.rows)
    rows.push_back(
        {{"row", row.name}, {"ran", row.ran}, {"predicted", row.predicted}, {"reason", row.reason}});
  for (const auto& [row, why] : runs.unmapped) unmapped.push_back({{"row", row}, {"reason", why}});
  return {{"right", runs.right()}, {"rows", rows}, {"unmapped", unmapped}};
}

}  // namespace

std::string validation_json(const Validation& v) {
  Json out = {{"set", v.set}, {"source", v.source}};
  for (const ValidatedMetric& metric : v.metrics) {
    const auto cell_json = [](Json& into, const ServedCell& cell) {
      into["gpu"] = cell.gpu;
      into["model"] = cell.model;
      into["engine"] = cell.engine;
      into["precision"] = cell.precision;
    };
    const auto row_json = [&](const ValidatedRow& row) {
      Json entry = {{"row", row.name},
                    {"measured", row.measured},
                    {"predicted", row.predicted},
                    {"error_percent", row.error_percent()}};
      if (row.cell != ServedCell()) cell_json(entry, row.cell);
      return entry;
    };
    Json rows = Json::array(), unmapped = Json::array();
    for (const ValidatedRow& row : metric.rows) rows.push_back(row_json(row));
    for (const auto& [row, why] : metric.unmapped) unmapped.push_back({{"row", row}, {"reason", why}});
    Json& entry = out[metric.name];
    entry = {
        {"unit", metric.unit()},
        {"rows", rows},
        {"mean_abs_error_percent", metric.rows.empty() ? Json() : Json(metric.mean_abs_error_percent())}};
    entry["worst"] = metric.worst() ? row_json(*metric.worst()) : Json();
    entry["unmapped"] = unmapped;
    if (const BandCoverage of = band_coverage(v, metric, error_samples()); of.rows() > 0)
      entry["bands"] = {{"without_half", {{"rows", of.half_rows}, {"inside", of.half_inside}}},
                        {"without_set", {{"rows", of.set_rows}, {"inside", of.set_inside}}}};
    const std::vector<CellErrors> cells = metric.cells();
    if (const auto of = metric.decisions())
      entry["decisions"] = {{"workloads", of->workloads},
                            {"rows", of->rows},
                            {"best_picked", of->best_picked},
                            {"mean_regret_percent", of->mean_regret_percent},
                            {"worst_regret_percent", of->worst_regret_percent},
                            {"worst_pick", of->worst_pick},
                            {"worst_best", of->worst_best}};
    if (cells.empty()) {
      if (entry.contains("decisions")) add_orders(entry, metric);
      continue;
    }
    entry["median_abs_error_percent"] = metric.median_abs_error_percent();
    for (const CellErrors& of : cells) {
      Json cell;
      cell_json(cell, of.cell);
      cell["rows"] = of.rows;
      cell["mean_abs_error_percent"] = of.mean_abs_error_percent;
      entry["cells"].push_back(cell);
    }
    add_orders(entry, metric);
  }
  if (!v.collectives.empty()) out["collectives"] = collectives_json(v.collectives);
  if (!v.verdicts.empty()) out["verdicts"] = verdicts_json(v);
  if (!v.runs.rows.empty() || !v.runs.unmapped.empty()) out["runs"] = runs_json(v.runs);
  return json_document(out);
}

}  // namespace shardscape
