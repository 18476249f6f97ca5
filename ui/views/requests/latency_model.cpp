#include "ui/views/requests/latency_model.h"

#include "ui/plot/comparison_cells.h"

namespace shardscape::ui {

void LatencyModel::setRun(const ServiceRun& run) {
  const ServiceResults& r = run.results;
  const RequestLimits limits = request_limits(run.spec);
  const struct {
    QString label, tip;
    const Distribution& of;
    std::optional<double> limit;
  } lines[] = {
      {tr("TTFT"), tr("Time to first token: from the arrival to the first token"), r.ttft, limits.ttft},
      {tr("TPOT"), tr("Time per output token: from the first to the last token, per token after the first"),
       r.tpot, limits.tpot},
      {tr("ITL"), tr("Inter-token latency: the gap between two tokens; every gap counts"), r.itl, {}},
      {tr("End to end"), tr("From the arrival to the last token"), r.e2e, limits.e2e},
      {tr("Queueing"), tr("From the arrival to the first chunk of the prompt"), r.queueing, {}}};
  const std::pair<QString, double Distribution::*> figures[] = {{tr("Mean"), &Distribution::mean},
                                                                {tr("p50"), &Distribution::p50},
                                                                {tr("p90"), &Distribution::p90},
                                                                {tr("p95"), &Distribution::p95},
                                                                {tr("p99"), &Distribution::p99}};
  std::vector<TableColumn> columns{{tr("Latency"), QStringLiteral("latency"), false, {}}};
  for (const auto& [label, member] : figures)
    columns.push_back({label, label.toLower() + QStringLiteral(" (s)"), true, {}});
  Rows rows;
  for (const auto& line : lines) {
    std::vector<TableCell> row{text_cell(line.label)};
    row.front().tip = line.tip;
    for (const auto& [label, member] : figures) {
      const double value = line.of.*member;
      row.push_back(line.of.count > 0 ? real_cell(value, seconds_text(value)) : no_cell());
      row.back().alarm = line.limit && value > *line.limit;
    }
    rows.push_back(std::move(row));
  }
  assign(std::move(columns), std::move(rows));
}

}  // namespace shardscape::ui
