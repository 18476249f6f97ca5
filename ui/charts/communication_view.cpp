#include "ui/charts/communication_view.h"

#include <algorithm>

#include "ui/charts/communication_inspection.h"
#include "ui/charts/stage_chart.h"
#include "ui/models/collectives_model.h"
#include "ui/theme/theme.h"

namespace shardscape::ui {
namespace {

QColor group_color(const std::string& group) {
  const Colors& colors = Theme::instance().colors();
  if (group == "tp") return colors.communication;
  if (group == "dp") return colors.parameters;
  if (group == "pp") return colors.buffers;
  if (group == "embedding") return colors.optimizer;
  if (group == "cp") return colors.logits;
  return colors.runtime;
}

// In the order of the house for mesh axes, then the others by name.
std::vector<std::string> groups_of(const Report& report) {
  std::vector<std::string> groups;
  for (const StageReport& stage : report.stages) {
    for (const CollectiveValue& value : stage.collectives) {
      if (std::find(groups.begin(), groups.end(), value.group) == groups.end()) groups.push_back(value.group);
    }
  }
  const auto place = [](const std::string& group) {
    static const std::vector<std::string> known{"tp", "cp", "pp", "dp", "embedding"};
    return std::find(known.begin(), known.end(), group) - known.begin();
  };
  std::sort(groups.begin(), groups.end(),
            [&](const std::string& a, const std::string& b) { return std::pair(place(a), a) < std::pair(place(b), b); });
  return groups;
}

}  // namespace

CommunicationView::CommunicationView(Session* session, QWidget* parent)
    : ChartPage(session, tr("Communication of one rank in a step, by stage"), QStringLiteral("communication"), parent),
      model_(new CollectivesModel(this)) {
  start(model_, {CollectivesModel::Stage});
}

BarData CommunicationView::bars(const Report& report) const {
  BarData data;
  const UnitSystem units = session()->units();
  double largest = 0;
  for (const StageReport& stage : report.stages) largest = std::max(largest, to_double(stage.bytes_sent_total));
  const ValueScale scale = byte_scale(largest, units);
  data.title = tr("Communication of one rank in a step, by stage (bytes of full buffers)");
  data.unit = scale.unit;
  data.divisor = scale.divisor;
  data.text = [units](double value) { return bytes_text(static_cast<Wide>(value), units); };
  data.nothing = tr("Nothing is communicated: every group has one rank. Raise tp, dp or pp to see collectives.");
  const std::vector<std::string> groups = groups_of(report);
  for (const std::string& group : groups) data.series.push_back({group_label(group), group_color(group)});
  data.legend = data.series;
  for (const StageReport& stage : report.stages) {
    std::vector<double> values;
    for (const std::string& group : groups) values.push_back(to_double(group_bytes(stage, group)));
    data.values.push_back(std::move(values));
  }
  return data;
}

void CommunicationView::fillTable(const Report& report) {
  model_->setReport(report, session()->stage(), session()->units());
}

QString CommunicationView::caption(const Report& report) const {
  const StageReport& stage = report.stages[static_cast<size_t>(session()->stage())];
  return tr("Stage %1: %2 in full buffers")
      .arg(QString::number(stage.stage), bytes_text(stage.bytes_sent_total, session()->units()));
}

QString CommunicationView::csv(const Report& report) const {
  CollectivesModel all;
  all.setReport(report, CollectivesModel::kAllStages, session()->units());
  return csv_text(all);
}

Inspection CommunicationView::inspectBar(const Report& report, int stage, int series) const {
  const StageReport& of = report.stages[static_cast<size_t>(stage)];
  if (series == StageChart::kWholeStage) return inspect_stage_communication(of, session()->units());
  return inspect_group(report, of, groups_of(report)[static_cast<size_t>(series)], session()->units());
}

Inspection CommunicationView::inspectRow(const Report& report, int row) const {
  const StageReport& stage = report.stages[static_cast<size_t>(session()->stage())];
  return inspect_collective(report, stage, stage.collectives[static_cast<size_t>(row)], session()->units());
}

}  // namespace shardscape::ui
