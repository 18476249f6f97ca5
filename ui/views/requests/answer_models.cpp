#include "ui/views/requests/answer_models.h"

#include <algorithm>

#include "design/design_name.h"
#include "report/fleet_report.h"
#include "ui/plot/comparison_cells.h"

namespace shardscape::ui {
namespace {

TableCell amount_cell(const std::optional<double>& value) {
  return value ? real_cell(*value, text_of(significant(*value))) : no_cell();
}

std::vector<TableCell> latency_cells(const ServiceResults& results, const ServiceSpec& spec) {
  const RequestLimits limits = request_limits(spec);
  std::vector<TableCell> out;
  for (const auto& [of, limit] : {std::pair(results.ttft, limits.ttft), std::pair(results.tpot, limits.tpot),
                                  std::pair(results.e2e, limits.e2e)}) {
    out.push_back(real_cell(of.p99, seconds_text(of.p99)));
    out.back().alarm = limit && of.p99 > *limit;
  }
  return out;
}

void add_latency_columns(std::vector<TableColumn>& columns) {
  for (const QString& name : {QStringLiteral("TTFT"), QStringLiteral("TPOT"), QStringLiteral("E2E")})
    columns.push_back({name + QStringLiteral("\np99"), name + QStringLiteral(" p99 (s)"), true, {}});
}

}  // namespace

QString accelerator_text(const FleetEntry& entry) {
  return text_of(short_accelerator_name(entry.candidate.design.cluster.accelerator));
}

QString end_words(const FleetEntry& entry) {
  const QString end = text_of(fleet_end_text(entry.end));
  return entry.reason.empty() ? end : FleetModel::tr("%1: %2").arg(end, text_of(entry.reason));
}

void FleetModel::setFleet(const FleetSearch& fleet) {
  const bool varies = std::any_of(fleet.entries.begin(), fleet.entries.end(),
                                  [](const FleetEntry& entry) { return !entry.candidate.settings.empty(); });
  std::vector<TableColumn> columns{
      {tr("Accelerator"), QStringLiteral("accelerator"), false, {}},
      {tr("Layout"), QStringLiteral("layout"), false, tr("Parallelism of one engine")}};
  if (varies) columns.push_back({tr("Settings"), QStringLiteral("settings"), false, {}});
  columns.insert(
      columns.end(),
      {{tr("Replicas"), QStringLiteral("replicas"), true, tr("The least number that keeps the limits")},
       {tr("GPUs"), QStringLiteral("accelerators"), true, {}},
       {tr("$ per\nhour"), QStringLiteral("dollars_per_hour"), true, {}},
       {tr("$ per\nMtoken"), QStringLiteral("dollars_per_million_output_tokens"), true, {}},
       {tr("kWh per\nMtoken"), QStringLiteral("kwh_per_million_output_tokens"), true, {}}});
  add_latency_columns(columns);
  columns.push_back({tr("Result"), QStringLiteral("result"), false, {}});
  Rows rows;
  for (const FleetEntry& entry : fleet.entries) {
    const bool sized = entry.end == FleetEnd::Sized;
    const std::string& id = entry.candidate.design.cluster.accelerator;
    std::vector<TableCell> row{text_cell(accelerator_text(entry), text_of(id)),
                               text_cell(text_of(entry.candidate.layout))};
    row.front().tip = text_of(id);
    if (varies) row.push_back(text_cell(text_of(entry.candidate.settings)));
    if (sized) {
      row.push_back(number_cell(entry.replicas, grouped_text(entry.replicas)));
      row.push_back(number_cell(entry.accelerators, grouped_text(entry.accelerators)));
      for (const auto& value : {entry.dollars_per_hour, entry.cost.dollars, entry.cost.kwh})
        row.push_back(amount_cell(value));
      for (TableCell& cell : latency_cells(entry.results, fleet.spec)) row.push_back(std::move(cell));
    } else {
      while (row.size() + 1 < columns.size()) row.push_back(no_cell());
    }
    row.push_back(text_cell(!sized           ? end_words(entry)
                            : entry.monotone ? tr("keeps the limits")
                                             : tr("a larger fleet exceeds a limit")));
    row.back().tip = row.back().text;
    rows.push_back(std::move(row));
  }
  assign(std::move(columns), std::move(rows));
}

void EffectsModel::setEffects(const SettingEffects& effects) {
  std::vector<TableColumn> columns{
      {tr("Setting"), QStringLiteral("setting"), false, {}},
      {tr("Value"), QStringLiteral("value"), false, tr("One step from the value of the settings")},
      {tr("Change"), QStringLiteral("change"), true, tr("The largest relative change of a figure")}};
  add_latency_columns(columns);
  columns.push_back({tr("Goodput"), QStringLiteral("goodput_requests_per_second"), true,
                     tr("Requests per second that keep all limits")});
  columns.push_back({tr("$ per\nMtoken"), QStringLiteral("dollars_per_million_output_tokens"), true, {}});
  columns.push_back({tr("Result"), QStringLiteral("result"), false, {}});
  Rows rows;
  const bool limited = promised_level(effects.spec).any();
  for (const SettingEffect& effect : effects.effects) {
    std::vector<TableCell> row{text_cell(text_of(effect.setting->label), text_of(effect.setting->id)),
                               text_cell(text_of(effect.value))};
    row.front().tip = text_of(effect.setting->help);
    if (effect.figures) {
      row.push_back(real_cell(effect.change, percent_text(effect.change)));
      for (TableCell& cell : latency_cells(effect.figures->results, effects.spec))
        row.push_back(std::move(cell));
      row.push_back(
          real_cell(effect.figures->results.goodput, text_of(significant(effect.figures->results.goodput))));
      row.push_back(amount_cell(effect.figures->cost.dollars));
      row.push_back(text_cell(!limited                      ? QString()
                              : effect.figures->keeps_level ? tr("keeps the limits")
                                                            : tr("exceeds a limit")));
    } else {
      while (row.size() + 1 < columns.size()) row.push_back(no_cell());
      row.push_back(text_cell(tr("cannot run")));
      row.back().tip = text_of(effect.reason);
    }
    rows.push_back(std::move(row));
  }
  assign(std::move(columns), std::move(rows));
}

}  // namespace shardscape::ui
