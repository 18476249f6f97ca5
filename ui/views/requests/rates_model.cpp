#include "ui/views/requests/rates_model.h"

#include "ui/plot/comparison_cells.h"

namespace shardscape::ui {
namespace {

QString rate_text(double rate) { return text_of(significant(rate)); }

}  // namespace

void RatesModel::setSweep(const RateSweep& sweep) {
  const std::pair<QString, double Distribution::*> figures[] = {
      {tr("p50"), &Distribution::p50}, {tr("p90"), &Distribution::p90}, {tr("p99"), &Distribution::p99}};
  const RequestLimits limits = request_limits(sweep.spec);
  const bool limited = promised_level(sweep.spec).any();
  std::vector<TableColumn> columns{
      {tr("Rate"), QStringLiteral("rate"), true, tr("Requests that arrive per second")},
      {tr("Answered"), QStringLiteral("requests_per_second"), true, tr("Answered requests per second")}};
  for (const QString& latency : {tr("TTFT"), tr("TPOT")})
    for (const auto& [label, member] : figures)
      columns.push_back({latency + u'\n' + label,
                         latency + u' ' + label + QStringLiteral(" (s)"),
                         true,
                         {},
                         member == &Distribution::p90});
  columns.push_back({tr("Cache"), QStringLiteral("peak_cache_share"), true,
                     tr("The most of the KV cache that was in use"), true});
  columns.push_back({tr("$ per\nMtoken"), QStringLiteral("dollars_per_million_output_tokens"), true,
                     tr("Dollars per million output tokens")});
  if (limited)
    columns.push_back({tr("Limits"), QStringLiteral("limits"), false,
                       tr("Whether the service keeps the limits of the service level. The knee "
                          "is the largest rate up to which they are")});
  Rows rows;
  for (size_t i = 0; i < sweep.points.size(); ++i) {
    const RatePoint& point = sweep.points[i];
    const ServiceResults& r = point.results;
    std::vector<TableCell> row{real_cell(point.rate, rate_text(point.rate)),
                               real_cell(r.requests_per_second, rate_text(r.requests_per_second))};
    const std::pair<const Distribution&, std::optional<double>> latencies[] = {{r.ttft, limits.ttft},
                                                                               {r.tpot, limits.tpot}};
    for (const auto& [of, limit] : latencies)
      for (const auto& [label, member] : figures) {
        row.push_back(real_cell(of.*member, seconds_text(of.*member)));
        row.back().alarm = limit && of.*member > *limit;
      }
    row.push_back(real_cell(r.peak_cache, percent_text(r.peak_cache)));
    row.push_back(point.cost.dollars ? real_cell(*point.cost.dollars, rate_text(*point.cost.dollars))
                                     : no_cell());
    if (limited)
      row.push_back(text_cell(sweep.knee == i ? tr("knee") : point.keeps_limits ? tr("within") : tr("over")));
    rows.push_back(std::move(row));
  }
  assign(std::move(columns), std::move(rows));
}

}  // namespace shardscape::ui
