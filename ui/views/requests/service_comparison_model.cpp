#include "ui/views/requests/service_comparison_model.h"

#include <functional>
#include <optional>

#include "report/campaign_report.h"
#include "ui/plot/comparison_cells.h"
#include "ui/plot/value_column.h"
#include "ui/session/comparisons.h"

namespace shardscape::ui {
namespace {

struct Figure {
  QString name, raw, tip;
  std::function<std::optional<double>(const ServiceRun&)> value;
  std::function<QString(double)> text;
  Better better = Better::Less;
};

QString number(double value) { return text_of(significant(value)); }

std::vector<Figure> latency_figures() {
  const std::tuple<QString, QString, Distribution ServiceResults::*> latencies[] = {
      {QStringLiteral("TTFT"), QStringLiteral("ttft"), &ServiceResults::ttft},
      {QStringLiteral("TPOT"), QStringLiteral("tpot"), &ServiceResults::tpot},
      {QStringLiteral("ITL"), QStringLiteral("itl"), &ServiceResults::itl},
      {ServiceComparisonModel::tr("End to end"), QStringLiteral("e2e"), &ServiceResults::e2e},
      {ServiceComparisonModel::tr("Queueing"), QStringLiteral("queueing"), &ServiceResults::queueing}};
  const std::pair<QString, double Distribution::*> percentiles[] = {
      {ServiceComparisonModel::tr("mean"), &Distribution::mean},
      {QStringLiteral("p50"), &Distribution::p50},
      {QStringLiteral("p90"), &Distribution::p90},
      {QStringLiteral("p95"), &Distribution::p95},
      {QStringLiteral("p99"), &Distribution::p99}};
  std::vector<Figure> out;
  for (const auto& [name, id, latency] : latencies)
    for (const auto& [label, percentile] : percentiles)
      out.push_back({name + u' ' + label,
                     id + u' ' + label + QStringLiteral(" (s)"),
                     {},
                     [latency = latency, percentile = percentile](const ServiceRun& run) {
                       const Distribution& of = run.results.*latency;
                       return of.count > 0 ? std::optional(of.*percentile) : std::nullopt;
                     },
                     seconds_text});
  return out;
}

std::vector<Figure> figures() {
  const auto tr = [](const char* text) { return ServiceComparisonModel::tr(text); };
  const auto result = [](double ServiceResults::*of) {
    return [of](const ServiceRun& run) { return std::optional(run.results.*of); };
  };
  const auto count = [](int64_t ServiceResults::*of) {
    return [of](const ServiceRun& run) { return std::optional(static_cast<double>(run.results.*of)); };
  };
  std::vector<Figure> out{{tr("Answered, requests/s"),
                           QStringLiteral("requests_per_second"),
                           {},
                           result(&ServiceResults::requests_per_second),
                           number,
                           Better::More},
                          {tr("Goodput, requests/s"), QStringLiteral("goodput"),
                           tr("Requests per second that keep all limits of the service level"),
                           result(&ServiceResults::goodput), number, Better::More},
                          {tr("Output, tokens/s"),
                           QStringLiteral("output_per_second"),
                           {},
                           result(&ServiceResults::output_per_second),
                           number,
                           Better::More},
                          {tr("Prompts, tokens/s"),
                           QStringLiteral("input_per_second"),
                           {},
                           result(&ServiceResults::input_per_second),
                           number,
                           Better::More}};
  for (Figure& of : latency_figures()) out.push_back(std::move(of));
  const std::vector<Figure> rest{
      {tr("$ per Mtoken"), QStringLiteral("dollars_per_million_output_tokens"),
       tr("Dollars per million output tokens"), [](const ServiceRun& run) { return run.cost.dollars; },
       [](double value) { return text_of(dollars_text(value)); }},
      {tr("kWh per Mtoken"), QStringLiteral("kwh_per_million_output_tokens"),
       tr("kWh per million output tokens"), [](const ServiceRun& run) { return run.cost.kwh; }, number},
      {tr("GPUs"),
       QStringLiteral("accelerators"),
       {},
       [](const ServiceRun& run) { return std::optional(static_cast<double>(run.accelerators)); },
       number},
      {tr("Cache, most"),
       QStringLiteral("peak_cache"),
       {},
       result(&ServiceResults::peak_cache),
       percent_text,
       Better::Neither},
      {tr("Prefix hits"),
       QStringLiteral("prefix_hits"),
       {},
       result(&ServiceResults::prefix_hits),
       percent_text,
       Better::More},
      {tr("Preemptions"), QStringLiteral("preemptions"), {}, count(&ServiceResults::preemptions), number},
      {tr("Refused"), QStringLiteral("refused"), {}, count(&ServiceResults::refused), number}};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

}  // namespace

void ServiceComparisonModel::setRuns(const ServiceRun& run, const std::vector<Other>& others) {
  std::vector<TableColumn> columns{
      {tr("Figure"), QStringLiteral("figure"), false, {}},
      {Comparisons::letter(0), Comparisons::letter(0), true, tr("The current design and settings")}};
  for (const Other& other : others)
    for (TableColumn& column : comparisonColumns(other.member, {}, {}, other.tip))
      columns.push_back(std::move(column));
  Rows rows;
  for (const Figure& figure : figures()) {
    if (figure.raw == QStringLiteral("goodput") && !request_limits(run.spec).any()) continue;
    const std::optional<double> now = figure.value(run);
    std::vector<TableCell> row{text_cell(figure.name, figure.raw)};
    row.front().tip = figure.tip;
    row.push_back(now ? real_cell(*now, figure.text(*now)) : no_cell());
    for (const Other& other : others) {
      const std::optional<double> value = figure.value(*other.run);
      auto cells = comparisonCells(now, value, figure.text);
      const double by = now && value ? *now - *value : 0;
      cells[1].good = (figure.better == Better::Less && by < 0) || (figure.better == Better::More && by > 0);
      for (TableCell& cell : cells) row.push_back(std::move(cell));
    }
    rows.push_back(std::move(row));
  }
  assign(std::move(columns), std::move(rows));
}

}  // namespace shardscape::ui
