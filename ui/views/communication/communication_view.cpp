#include "ui/views/communication/communication_view.h"

#include <algorithm>
#include <utility>

#include "plan/collective_rows.h"
#include "ui/inspector/communication_inspection.h"
#include "ui/plot/bar_paint.h"
#include "ui/plot/stage_chart.h"
#include "ui/selection/collective_selection.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"
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

// The group of a series. Bars of time have the exposed parts of all groups, then their hidden parts.
std::string group_of_series(const Report& report, int series) {
  const std::vector<std::string> groups = group_names(report);
  return groups[static_cast<size_t>(series) % groups.size()];
}

}  // namespace

CommunicationView::CommunicationView(SelectionState* state, QWidget* parent)
    : ChartPage(state, tr("Communication of one rank in a step, by stage"), QStringLiteral("communication"),
                parent),
      model_(new CollectivesModel(this)),
      mesh_(new MeshView(state, this)),
      quantity_control_(new SegmentedControl(tr("Bars show"), {tr("Bytes"), tr("Time")}, this)) {
  quantity_control_->button(1)->setToolTip(
      tr("Seconds of a step: solid parts are exposed, hatched parts are hidden by compute"));
  controls()->addWidget(quantity_control_);
  connect(quantity_control_, &SegmentedControl::chosen, this,
          [this](int index) { setQuantity(static_cast<Quantity>(index)); });
  start(model_, {CollectivesModel::Stage});
  setAlternative(tr("Mesh"), tr("Groups of the mesh"), mesh_, nullptr, {quantity_control_});
}

void CommunicationView::setQuantity(Quantity quantity) {
  quantity_control_->setCurrent(static_cast<int>(quantity));
  if (std::exchange(quantity_, quantity) == quantity) return;
  setBarsTitle(quantity == Quantity::Bytes ? tr("Communication of one rank in a step, by stage")
                                           : tr("Communication time of one rank in a step, by stage"));
  refresh(true);
}

void CommunicationView::explainAgain() { alternativeShown() ? mesh_->explain() : ChartPage::explainAgain(); }

Selection CommunicationView::selectionOfBar(const Report& report, int stage, int series) const {
  Selection selection;
  selection.kind = SelectionKind::Group;
  selection.stage = stage;
  selection.group = group_of_series(report, series);
  return selection;
}

Selection CommunicationView::selectionOfRow(const Report& report, int row) const {
  const StageReport& stage = stageOf(report);
  return selectionOfCollective(stage, stage.collectives[static_cast<size_t>(row)]);
}

bool CommunicationView::marksSeries(const Report& report, const ResolvedSelection& resolved, int stage,
                                    int series) const {
  return resolved.group(stage, group_of_series(report, series));
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
  BarData data = quantity_ == Quantity::Bytes ? byteBars(report) : timeBars(report);
  data.nothing = tr(
      "Nothing is communicated: every group has one rank. Raise tp, dp or pp to see collectives.");
  return data;
}

BarData CommunicationView::timeBars(const Report& report) const {
  BarData data;
  const Simulation* simulation = simulationOf(report);
  const std::vector<std::string> groups = group_names(report);
  double longest = 0;
  std::vector<double> all(groups.size(), 0);
  for (const StageReport& stage : report.stages) {
    std::vector<double> values(2 * groups.size(), 0);
    double whole = 0;
    for (size_t g = 0; simulation && g < groups.size(); ++g) {
      const GroupTime time = group_time(*simulation, stage, groups[g]);
      values[g] = time.exposed;
      values[groups.size() + g] = time.seconds - time.exposed;
      whole += time.seconds;
      all[g] += time.seconds;
    }
    longest = std::max(longest, whole);
    data.values.push_back(std::move(values));
  }
  const ValueScale scale = seconds_scale(longest);
  data.title = tr("Communication time of one rank in a step, by stage (solid: exposed, hatched: hidden)");
  data.unit = scale.unit;
  data.divisor = scale.divisor;
  data.text = [](double value) { return seconds_text(value); };
  for (const std::string& group : groups)
    data.series.push_back({tr("%1, exposed").arg(group_label(group)), group_color(group)});
  for (const std::string& group : groups)
    data.series.push_back({tr("%1, hidden").arg(group_label(group)), group_color(group), BarFill::Hatched});
  for (size_t g = 0; g < groups.size(); ++g)
    if (all[g] > 0) data.legend.push_back({group_label(groups[g]), group_color(groups[g])});
  if (longest <= 0) return data;
  const QColor ink = Theme::instance().colors().secondary;
  data.legend.push_back({tr("exposed"), ink});
  data.legend.push_back({tr("hidden by compute"), ink, BarFill::Hatched});
  return data;
}

BarData CommunicationView::byteBars(const Report& report) const {
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
  model_->setReport(report, simulationOf(report), state()->stage(), session()->units(),
                    pinned(*session()->comparisons()));
}

QString CommunicationView::caption(const Report& report) const {
  const StageReport& stage = stageOf(report);
  const QString bytes = bytes_text(stage.bytes_sent_total, session()->units());
  const Simulation* simulation = simulationOf(report);
  if (!simulation) return tr("Stage %1: %2 in full buffers").arg(QString::number(stage.stage), bytes);
  const StageTimes& times = simulation->stages[static_cast<size_t>(stage.stage)];
  return tr("Stage %1: %2 in full buffers, %3 of communication, %4 exposed")
      .arg(QString::number(stage.stage), bytes, seconds_text(times.communication),
           seconds_text(times.exposed));
}

QString CommunicationView::csv(const Report& report) const {
  CollectivesModel all;
  all.setReport(report, simulationOf(report), CollectivesModel::kAllStages, session()->units(),
                pinned(*session()->comparisons()));
  return csv_text(all);
}

Inspection CommunicationView::inspectBar(const Report& report, int stage, int series) const {
  const StageReport& of = report.stages[static_cast<size_t>(stage)];
  const Simulation* simulation = simulationOf(report);
  if (series == StageChart::kWholeStage)
    return inspect_stage_communication(simulation, of, session()->units());
  return inspect_group(report, simulation, of, group_of_series(report, series), session()->units());
}

Inspection CommunicationView::inspectRow(const Report& report, int row) const {
  const StageReport& stage = stageOf(report);
  return inspect_collective(report, simulationOf(report), stage, stage.collectives[static_cast<size_t>(row)],
                            session()->units());
}

}  // namespace shardscape::ui
