#include "ui/views/communication/communication_view.h"

#include <algorithm>

#include "ui/inspector/communication_inspection.h"
#include "ui/plot/bar_paint.h"
#include "ui/plot/stage_chart.h"
#include "ui/selection/collective_selection.h"
#include "ui/session/comparisons.h"
#include "ui/views/communication/collectives_model.h"
#include "ui/views/communication/mesh_view.h"
#include "ui/views/communication/rank_groups.h"

namespace shardscape::ui {
namespace {

// The pinned designs that can run.
std::vector<CollectivesModel::OtherDesign> pinned(const Comparisons& comparisons) {
  std::vector<CollectivesModel::OtherDesign> out;
  for (int i = 0; i < comparisons.size(); ++i)
    if (const ComparedDesign& of = comparisons.all()[static_cast<size_t>(i)].result; of.simulation)
      out.push_back({i + 1, of.report});
  return out;
}

}  // namespace

CommunicationView::CommunicationView(SelectionState* state, QWidget* parent)
    : ChartPage(state, tr("Communication of one rank in a step, by stage"), QStringLiteral("communication"),
                parent),
      model_(new CollectivesModel(this)),
      mesh_(new MeshView(state, this)) {
  start(model_, {CollectivesModel::Stage});
  setAlternative(tr("Mesh"), tr("Groups of the mesh"), mesh_);
}

void CommunicationView::explainAgain() { alternativeShown() ? mesh_->explain() : ChartPage::explainAgain(); }

Selection CommunicationView::selectionOfBar(const Report& report, int stage, int series) const {
  Selection selection;
  selection.kind = SelectionKind::Group;
  selection.stage = stage;
  selection.group = group_names(report)[static_cast<size_t>(series)];
  return selection;
}

Selection CommunicationView::selectionOfRow(const Report& report, int row) const {
  const StageReport& stage = stageOf(report);
  return selectionOfCollective(stage, stage.collectives[static_cast<size_t>(row)]);
}

bool CommunicationView::marksSeries(const Report& report, const ResolvedSelection& resolved, int stage,
                                    int series) const {
  return resolved.group(stage, group_names(report)[static_cast<size_t>(series)]);
}

bool CommunicationView::marksRow(const Report& report, const ResolvedSelection& resolved, int row) const {
  const StageReport& stage = stageOf(report);
  return static_cast<size_t>(row) < stage.collectives.size() &&
         resolved.collective(stage.stage, stage.collectives[static_cast<size_t>(row)]);
}

Picture CommunicationView::picture() const {
  return alternativeShown() ? mesh_->picture(pictureName(u"mesh")) : ChartPage::picture();
}

BarData CommunicationView::bars(const Report& report) const {
  BarData data;
  const UnitSystem units = session()->units();
  double largest = 0;
  for (const StageReport& stage : report.stages)
    largest = std::max(largest, to_double(stage.bytes_sent_total));
  const ValueScale scale = byte_scale(largest, units);
  data.title = tr("Communication of one rank in a step, by stage (bytes of full buffers)");
  data.unit = scale.unit;
  data.divisor = scale.divisor;
  data.text = [units](double value) { return bytes_text(static_cast<Wide>(value), units); };
  data.nothing = tr(
      "Nothing is communicated: every group has one rank. Raise tp, dp or pp to see collectives.");
  const std::vector<std::string> groups = group_names(report);
  for (const std::string& group : groups) {
    data.series.push_back(series_of(role_of_group(group), group_label(group)));
    data.series.back().color = group_color(group);
  }
  data.legend = data.series;
  for (const StageReport& stage : report.stages) {
    std::vector<double> values;
    for (const std::string& group : groups) values.push_back(to_double(group_bytes(stage, group)));
    data.values.push_back(std::move(values));
  }
  return data;
}

void CommunicationView::fillTable(const Report& report) {
  model_->setReport(report, state()->stage(), session()->units(), pinned(*session()->comparisons()));
}

QString CommunicationView::caption(const Report& report) const {
  const StageReport& stage = stageOf(report);
  return tr("Stage %1: %2 in full buffers")
      .arg(QString::number(stage.stage), bytes_text(stage.bytes_sent_total, session()->units()));
}

QString CommunicationView::csv(const Report& report) const {
  CollectivesModel all;
  all.setReport(report, CollectivesModel::kAllStages, session()->units(), pinned(*session()->comparisons()));
  return csv_text(all);
}

Inspection CommunicationView::inspectBar(const Report& report, int stage, int series) const {
  const StageReport& of = report.stages[static_cast<size_t>(stage)];
  if (series == StageChart::kWholeStage) return inspect_stage_communication(of, session()->units());
  return inspect_group(report, of, group_names(report)[static_cast<size_t>(series)], session()->units());
}

Inspection CommunicationView::inspectRow(const Report& report, int row) const {
  const StageReport& stage = stageOf(report);
  return inspect_collective(report, stage, stage.collectives[static_cast<size_t>(row)], session()->units());
}

}  // namespace shardscape::ui
