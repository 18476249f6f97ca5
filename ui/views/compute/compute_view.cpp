#include "ui/views/compute/compute_view.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QPushButton>
#include <algorithm>

#include "ui/inspector/node_inspection.h"
#include "ui/plot/chart_table.h"
#include "ui/plot/stage_chart.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/views/compute/compute_inspection.h"
#include "ui/views/compute/roofline_canvas.h"
#include "ui/views/compute/roofline_model.h"

namespace shardscape::ui {

ComputeView::ComputeView(SelectionState* state, QWidget* parent)
    : ChartPage(state, tr("Compute time of one rank in a step, by stage"), QStringLiteral("compute"), parent),
      model_(new FlopsModel(this)),
      comparison_(
          state->session()->comparisons(), this,
          [](const ComparedDesign& of, const std::pair<int, int>& stage, std::stop_token) {
            auto made = std::make_shared<ComparedRoofline>();
            made->stage = Comparisons::sameStagePlace(stage.first, stage.second,
                                                      static_cast<int>(of.report->stages.size()));
            made->report = of.report;
            made->roofline = shardscape::ui::roofline(*of.report, made->stage);
            return made->roofline.points.empty() ? nullptr : made;
          },
          [this] { fillRoofline(); }),
      quantity_control_(new SegmentedControl(tr("Bars show"), {tr("Time"), tr("FLOPs")}, this)) {
  controls()->addWidget(quantity_control_);
  connect(quantity_control_, &SegmentedControl::chosen, this,
          [this](int index) { setQuantity(static_cast<Quantity>(index)); });
  auto* choice = new QButtonGroup(this);
  const auto add = [&](const QString& text, const QString& tip, FlopsConvention convention) {
    auto* button = new QPushButton(text, this);
    button->setCheckable(true);
    button->setToolTip(tip);
    choice->addButton(button);
    controls()->addWidget(button);
    connect(button, &QPushButton::clicked, this, [this, convention] { setConvention(convention); });
    return button;
  };
  counted_ = add(tr("Counted"),
                 tr("FLOPs of full matrix products, with masked scores, all slots of experts, and scores "
                    "recomputed in the backward pass"),
                 FlopsConvention::Counted);
  useful_ = add(
      tr("Useful"),
      tr("FLOPs without masked scores, recomputation, and slots of experts beyond the routed tokens"),
      FlopsConvention::Useful);
  counted_->setChecked(true);
  start(model_, {FlopsModel::Stage});
  roofline_ = new RooflineCanvas(this);
  roofline_table_ = new ChartTable(this);
  roofline_table_->setAccessibleName(tr("Table: operations under the roofline"));
  roofline_model_ = new RooflineModel(this);
  roofline_table_->setTable(roofline_model_);
  setAlternative(tr("Roofline"), tr("Roofline of one rank"), roofline_, roofline_table_, {quantity_control_});
  showControls();
  connect(roofline_, &RooflineCanvas::pointSelected, this, &ComputeView::selectPoint);
  connect(roofline_table_, &ChartTable::rowSelected, this, [this](int row) {
    roofline_->setSelectedItem(static_cast<int>(roofline_->data().points.size()) - 1 - row);
    selectPoint();
  });
  for (const auto signal : {&Session::reportChanged, &Session::unitsChanged})
    connect(session(), signal, this, &ComputeView::fillRoofline);
  connect(state, &SelectionState::stageChanged, this, &ComputeView::fillRoofline);
}

void ComputeView::setQuantity(Quantity quantity) {
  quantity_control_->setCurrent(static_cast<int>(quantity));
  if (std::exchange(quantity_, quantity) == quantity) return;
  setBarsTitle(quantity == Quantity::Time ? tr("Compute time of one rank in a step, by stage")
                                          : tr("Compute of one rank in a step, by stage"));
  showControls();
  refresh(true);
}

void ComputeView::alternativeToggled() {
  showControls();
  fillRoofline();
}

// Counted and useful are kinds of FLOPs.
void ComputeView::showControls() {
  for (QPushButton* button : {counted_, useful_})
    button->setVisible(!alternativeShown() && quantity_ == Quantity::Flops);
}

std::vector<FlopsSegment> ComputeView::segments(const Report& report) const {
  return quantity_ == Quantity::Time ? time_segments(report, simulationOf(report))
                                     : flops_segments(report, convention_);
}

void ComputeView::fillRoofline() {
  if (!alternativeShown() || !filled()) return;
  const int stage = std::clamp(state()->stage(), 0, static_cast<int>(filled()->stages.size()) - 1);
  Roofline data = shardscape::ui::roofline(*filled(), stage);
  if (data.accelerator)
    setTitle(tr("Roofline of %1, stage %2").arg(QString::fromStdString(data.accelerator->name)).arg(stage));
  if (isVisible()) comparison_.show({stage, static_cast<int>(filled()->stages.size())});
  std::vector<ComparedRoofline> others;
  for (const auto& one : comparison_.all()) {
    others.push_back(*one.result);
    others.back().member = one.member;
  }
  roofline_model_->setRoofline(*filled(), data, session()->units(), others);
  roofline_->setRoofline(session()->report(), std::move(data));
  roofline_->setComparedDesigns(std::move(others));
  markPoints();
  fitTable();
}

void ComputeView::showEvent(QShowEvent* event) {
  ChartPage::showEvent(event);
  fillRoofline();
}

void ComputeView::explainAgain() { alternativeShown() ? explainPoint() : ChartPage::explainAgain(); }

// Selects the op in all views: in all layers of the stage that have the op.
void ComputeView::selectPoint() {
  const int selected = roofline_->selected();
  if (selected < 0 || !filled()) return;
  const RooflinePoint& point = roofline_->data().points[static_cast<size_t>(selected)];
  const auto [first, end] = units_with(*filled(), state()->stage(), point);
  if (first < 0) return;
  Selection selection;
  selection.kind = SelectionKind::Op;
  selection.stage = state()->stage();
  selection.unit = first;
  selection.units = end - first;
  selection.op = point.op;
  selection.kernel = true;
  state()->selectInAllViews(selection, this);
  markPoints();
  explainPoint();
}

// Marks the points that belong to the selection of any view. A single point is selected.
void ComputeView::markPoints() {
  if (!filled() || filled() != session()->report().get()) return;
  std::vector<int> marked, rows;
  const std::vector<RooflinePoint>& points = roofline_->data().points;
  const int last = static_cast<int>(points.size()) - 1;
  for (int i = 0; i <= last; ++i) {
    const auto& of = points[static_cast<size_t>(i)].ops;
    const bool belongs = state()->resolvedSelection().on(state()->stage()) &&
                         std::any_of(of.begin(), of.end(), [&](const auto& op) {
                           return state()->resolvedSelection().op(op.first, op.second);
                         });
    if (belongs) marked.push_back(i);
  }
  for (const int i : marked) rows.push_back(last - i);
  if (std::find(marked.begin(), marked.end(), roofline_->selected()) == marked.end())
    roofline_->setSelectedItem(marked.size() == 1 ? marked.front() : -1);
  roofline_table_->showRow(roofline_->selected() < 0 ? -1 : last - roofline_->selected(), rows);
  roofline_->setMarked(std::move(marked));
}

void ComputeView::followSelection(const QObject* by) {
  ChartPage::followSelection(by);
  if (by == this || !alternativeShown()) return;
  roofline_->setSelectedItem(-1);
  markPoints();
  if (isVisible() && by != state()) explainPoint();
}

void ComputeView::explainPoint() {
  if (!isVisible() || !filled()) return;
  const int selected = roofline_->selected();
  if (selected < 0 || selected >= static_cast<int>(roofline_->data().points.size()))
    return ChartPage::explainAgain();
  const RooflinePoint& point = roofline_->data().points[static_cast<size_t>(selected)];
  const GraphTree tree(session()->report());
  const int unit = units_with(*filled(), state()->stage(), point).first;
  if (unit < 0) return;
  Inspection out = inspect_node(tree, tree.op_node(unit, point.op, state()->stage()), 1, Passes::Both,
                                session()->units(), simulationOf(*filled()));
  out.title = roofline_title(*filled(), point);
  const QVector<QPair<QString, QString>> rates{
      {tr("FLOPs per byte"), QString::fromStdString(significant(point.intensity()))},
      {tr("achieved"), flops_text(static_cast<Wide>(point.rate())) + QStringLiteral("/s")},
      {tr("share of the roof"),
       percent_text(point.rate() / std::max(1.0, roofline_->data().attainable(point)))}};
  out.rows = rates + out.rows;
  for (const ComparedRoofline& other : roofline_->others()) {
    const int same = same_point(*filled(), point, other);
    const double seconds = same < 0 ? 0 : other.roofline.points[static_cast<size_t>(same)].seconds;
    out.more_title = tr("In the other designs");
    out.more.append({Comparisons::letter(other.member),
                     same < 0 ? tr("no such op on stage %1").arg(other.stage)
                              : tr("takes %1, %2")
                                    .arg(QString::fromStdString(format_seconds(seconds)),
                                         signed_percent_text(seconds / point.seconds - 1))});
  }
  state()->inspect(out);
}

Selection ComputeView::selectionOfBar(const Report& report, int stage, int series) const {
  const FlopsSegment segment = segments(report)[static_cast<size_t>(series)];
  Selection selection;
  selection.kind = SelectionKind::Flops;
  selection.stage = stage;
  selection.flops = segment.group;
  selection.phase = segment.phase;
  return selection;
}

Selection ComputeView::selectionOfRow(const Report& report, int row) const {
  if (static_cast<size_t>(row) >= stageOf(report).flops.size()) return {};  // kernels without FLOPs
  const FlopsValue& of = stageOf(report).flops[static_cast<size_t>(row)];
  Selection selection;
  selection.kind = SelectionKind::Flops;
  selection.stage = state()->stage();
  selection.flops = flops_group(of.kind);
  selection.phase = of.phase;
  selection.row = {of.kind, of.compute};
  return selection;
}

bool ComputeView::marksSeries(const Report& report, const ResolvedSelection& resolved, int stage,
                              int series) const {
  const FlopsSegment segment = segments(report)[static_cast<size_t>(series)];
  return resolved.flops(stage, segment.group, segment.phase);
}

bool ComputeView::marksRow(const Report& report, const ResolvedSelection& resolved, int row) const {
  const StageReport& stage = stageOf(report);
  return static_cast<size_t>(row) < stage.flops.size() &&
         resolved.flops(stage.stage, stage.flops[static_cast<size_t>(row)]);
}

Picture ComputeView::picture() const {
  if (!alternativeShown()) return ChartPage::picture();
  Picture picture = roofline_->picture(title(), pictureName(u"roofline"));
  picture.csv = [this] { return csv_text(*roofline_model_); };
  return picture;
}

void ComputeView::setConvention(FlopsConvention convention) {
  counted_->setChecked(convention == FlopsConvention::Counted);
  useful_->setChecked(convention == FlopsConvention::Useful);
  if (convention == convention_) return;
  convention_ = convention;
  refresh(true);
}

BarData ComputeView::bars(const Report& report) const {
  if (quantity_ == Quantity::Time) {
    BarData data = time_bars(report, simulationOf(report));
    data.title = tr("Compute time of one rank in a step, by stage");
    return data;
  }
  BarData data = flops_bars(report, convention_);
  data.title = convention_ == FlopsConvention::Counted ? tr("Counted FLOPs of one rank in a step, by stage")
                                                       : tr("Useful FLOPs of one rank in a step, by stage");
  return data;
}

void ComputeView::fillTable(const Report& report) {
  model_->setReport(report, state()->stage(), convention_, simulationOf(report));
}

QString ComputeView::caption(const Report& report) const {
  const StageReport& stage = stageOf(report);
  const QString flops = tr("%1 counted, %2 useful")
                            .arg(flops_text(stage.flops_total), flops_text(stage.useful_flops_total));
  const Simulation* simulation = simulationOf(report);
  if (!simulation) return tr("Stage %1: %2").arg(QString::number(stage.stage), flops);
  return tr("Stage %1: %2 of kernels; %3")
      .arg(QString::number(stage.stage),
           seconds_text(kernel_seconds(simulation->stages[static_cast<size_t>(stage.stage)])), flops);
}

QString ComputeView::csv(const Report& report) const {
  FlopsModel all;
  all.setReport(report, FlopsModel::kAllStages, convention_, simulationOf(report));
  return csv_text(all);
}

Inspection ComputeView::inspectBar(const Report& report, int stage, int series) const {
  const StageReport& of = report.stages[static_cast<size_t>(stage)];
  const Simulation* simulation = simulationOf(report);
  if (series == StageChart::kWholeStage) return inspect_stage_flops(report, simulation, of);
  return inspect_flops_segment(simulation, of, segments(report)[static_cast<size_t>(series)]);
}

Inspection ComputeView::inspectRow(const Report& report, int row) const {
  const StageReport& stage = stageOf(report);
  const Simulation* simulation = simulationOf(report);
  const auto flops_rows = stage.flops.size(), at = static_cast<size_t>(row);
  if (at < flops_rows) return inspect_flops(simulation, stage, stage.flops[at]);
  return inspect_kernels_without_flops(simulation->stages[static_cast<size_t>(stage.stage)], stage,
                                       timed_without_flops(*simulation, stage)[at - flops_rows]);
}

}  // namespace shardscape::ui
