#include "ui/views/memory/memory_view.h"

#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include "memory/memory_timeline.h"
#include "ui/inspector/memory_inspection.h"
#include "ui/plot/bar_paint.h"
#include "ui/plot/chart_table.h"
#include "ui/plot/stage_chart.h"
#include "ui/session/comparisons.h"
#include "ui/session/memory_advisor.h"
#include "ui/session/memory_problem.h"
#include "ui/session/staleness.h"
#include "ui/toolkit/theme.h"
#include "ui/views/memory/advice_list.h"
#include "ui/views/memory/memory_treemap.h"
#include "ui/views/memory/peak_tensors_model.h"
#include "ui/views/memory/stage_memory_model.h"

namespace shardscape::ui {

namespace {

// In a comparison, the least height of the curve: a share of the view's height, between two limits in pixels.
constexpr int kCurveOverBars = 190, kLowCurveOverBars = 110;
constexpr double kCurveShare = 0.28;

std::shared_ptr<const ComparedMemory> curve_of(const ComparedDesign& of, int stage, int stages) {
  Estimate estimate;
  estimate.report = of.report;
  estimate.simulation = of.simulation;
  auto made = std::make_shared<ComparedMemory>();
  made->stage = Comparisons::sameStagePlace(stage, stages, static_cast<int>(of.report->stages.size()));
  made->points = memory_points(estimate, made->stage);
  made->capacity = of.report->memory->capacity;
  return made->points.empty() ? nullptr : made;
}

}  // namespace

MemoryView::MemoryView(SelectionState* state, QWidget* parent)
    : ChartPage(state, tr("Memory of one rank, by stage"), QStringLiteral("memory"), parent),
      model_(new StageMemoryModel(this)),
      comparison_(
          state->session()->comparisons(), this,
          [](const ComparedDesign& of, const std::pair<int, int>& stage, std::stop_token) {
            return curve_of(of, stage.first, stage.second);
          },
          [this] { placeComparedDesigns(); }) {
  curve_ = new MemoryCurve(state, this);
  curve_->hide();
  auto* staleness = new Staleness(session(), Staleness::Of::Estimate, this);
  // If the report is stale too, the notice dims the whole view.
  const auto fade = [this, staleness] { setDimmed(curve_, staleness->stale() && session()->current()); };
  connect(staleness, &Staleness::changed, this, fade);
  connect(session(), &Session::reportChanged, this, fade);
  pictures()->setStretchFactor(chart(), 3);
  pictures()->addWidget(curve_, 2);
  advice_list_ = new AdviceList(this);
  setPanel(tr("What would help"), tr("Lists changes of one setting that save memory, and applies them"),
           advice_list_);
  start(model_);
  treemap_ = new MemoryTreemap(this);
  tensors_model_ = new PeakTensorsModel(this);
  tensors_table_ = new ChartTable(this);
  tensors_table_->setAccessibleName(tr("Table: tensors at the peak"));
  tensors_table_->setTable(tensors_model_);
  setAlternative(tr("Treemap"), tr("Memory at the peak, by tensors and layer"), treemap_, tensors_table_);
  connect(treemap_, &MemoryTreemap::tileSelected, this, &MemoryView::selectTile);
  connect(tensors_table_, &ChartTable::rowSelected, this, [this](int row) {
    treemap_->select(row);
    selectTile(row);
  });
  for (const auto signal : {&Session::reportChanged, &Session::unitsChanged})
    connect(session(), signal, this, &MemoryView::fillTreemap);
  connect(panelButton(), &QPushButton::clicked, this, [this] { panel_chosen_ = true; });
  connect(advice_list_, &AdviceList::applied, session(), &Session::applyFix);
  for (const auto signal : {&Session::designChanged, &Session::unitsChanged})
    connect(session(), signal, this, &MemoryView::fillAdvice);
  connect(session(), &Session::estimateChanged, this, &MemoryView::followEstimate);
  connect(state, &SelectionState::stageChanged, this, &MemoryView::followEstimate);
  connect(session(), &Session::unitsChanged, curve_, qOverload<>(&QWidget::update));
  connect(advice(), &MemoryAdvisor::ready, this, [this] {
    fillAdvice();
    if (isVisible() && showsOwn()) explainAgain();
  });
}

// Updates the curve while the view is visible. Until the new step is simulated, the curve of the earlier step
// stays, pale and with its own stages.
void MemoryView::followEstimate() {
  const std::shared_ptr<const Estimate> estimate = session()->estimate();
  if (!isVisible() || !estimate || estimate->report != session()->report()) return;
  curve_->setEstimate(estimate, state()->stage());
  showCurve();
  comparison_.show({state()->stage(), static_cast<int>(estimate->report->stages.size())});
  placeComparedDesigns();
  if (session()->estimated()) advice()->request(estimate);
  fillAdvice();
}

// The curve belongs to the bars.
void MemoryView::showCurve() { curve_->setVisible(!alternativeShown() && !curve_->points().empty()); }

void MemoryView::alternativeToggled() {
  showCurve();
  fillTreemap();
}

// The treemap shows the stage with the most bytes.
void MemoryView::fillTreemap() {
  if (!alternativeShown() || !filled() || filled() != session()->report().get()) return;
  treemap_->setReport(session()->report(), filled()->memory->peak_stage, session()->units());
  setTitle(tr("Memory of stage %1 at its peak, by tensors and layer").arg(treemap_->memory().stage));
  tensors_model_->setTiles(treemap_->memory(), treemap_->tiles(), session()->units());
  tensors_table_->fitColumns();
  markTiles();
  fitTable();
}

void MemoryView::markTiles() {
  if (!treemap_->shows(filled())) return;
  std::vector<char> marked;
  std::vector<int> rows;
  for (const PeakTile& tile : treemap_->tiles()) {
    marked.push_back(belongs(*filled(), treemap_->memory(), tile, state()->resolvedSelection()));
    if (marked.back()) rows.push_back(static_cast<int>(marked.size()) - 1);
  }
  treemap_->setMarked(std::move(marked));
  tensors_table_->showRow(treemap_->selected(), rows);
}

void MemoryView::selectTile(int tile) {
  if (!treemap_->shows(filled()) || filled() != session()->report().get()) return;
  state()->selectInAllViews(
      tile < 0 ? Selection{}
               : selection_of(*filled(), treemap_->memory(), treemap_->tiles()[static_cast<size_t>(tile)]),
      this);
  markTiles();
  explainTile();
}

void MemoryView::explainTile() {
  const int tile = treemap_->selected();
  if (!isVisible() || !filled()) return;
  if (tile < 0 || !treemap_->shows(filled())) return ChartPage::explainAgain();
  const StageMemory& memory = treemap_->memory();
  const PeakTile& of = treemap_->tiles()[static_cast<size_t>(tile)];
  const MemoryCategory category = memory.contributors[static_cast<size_t>(of.contributor)].category;
  Inspection out = inspect_memory(*filled(), filled()->stages[static_cast<size_t>(memory.stage)], category,
                                  session()->units());
  out.figures.prepend({tr("At the peak"), treemap_->textOf(of)});
  out.subtitle = out.title;
  out.title = treemap_->nameOf(of);
  state()->inspect(out);
}

void MemoryView::explainAgain() { alternativeShown() ? explainTile() : ChartPage::explainAgain(); }

void MemoryView::followSelection(const QObject* by) {
  if (by != this) treemap_->select(-1);
  ChartPage::followSelection(by);
  if (by == this || !alternativeShown()) return;
  markTiles();
  if (isVisible() && by != state()) explainTile();
}

// After an edit the rows of the earlier design stay, without effect, until the new advice is computed. A
// design that does not fit shows the list at once, unless the person has chosen.
void MemoryView::fillAdvice() {
  const bool advised = filled() && session()->estimated() && advice()->isFor(session()->estimate().get());
  advice_list_->setEnabled(advised);
  if (!advised || !isVisible()) return;
  advice_list_->setAdvice(&advice()->advice(), session()->units());
  const bool wanted = !filled()->memory->fits && !advice()->advice().empty();
  if (!panel_chosen_) setPanelShown(wanted && session()->comparisons()->all().empty());
  fitTable();
}

// Without step times the designs have no common time axis.
void MemoryView::placeComparedDesigns() {
  std::vector<ComparedMemory> curves;
  if (const auto estimate = session()->estimate(); estimate && estimate->simulation)
    for (const auto& one : comparison_.all()) {
      curves.push_back(*one.result);
      curves.back().member = one.member;
    }
  // In a comparison the curve gets more height.
  pictures()->setStretchFactor(chart(), curves.empty() ? 3 : 2);
  curve_->setComparedDesigns(std::move(curves));
  fitCurve();
}

void MemoryView::fitCurve() {
  curve_->setMinimumHeight(curve_->others().empty() ? 0
                                                    : std::clamp(static_cast<int>(height() * kCurveShare),
                                                                 kLowCurveOverBars, kCurveOverBars));
}

void MemoryView::resizeEvent(QResizeEvent* event) {
  ChartPage::resizeEvent(event);
  fitCurve();
}

void MemoryView::showEvent(QShowEvent* event) {
  ChartPage::showEvent(event);
  followEstimate();
}

Picture MemoryView::picture() const {
  if (alternativeShown()) {
    Picture picture = treemap_->picture(title(), pictureName(u"memory-treemap"));
    picture.csv = [this] { return csv_text(*tensors_model_); };
    return picture;
  }
  Picture picture = ChartPage::picture();
  if (curve_->isHidden()) return picture;
  // The picture has the curve below the bars, as the view does.
  const double share = 0.36;
  picture.size.rheight() = static_cast<int>(picture.size.height() / (1 - share));
  picture.paint = [this, share](QPaintDevice& device, QSize size, double scale, const DrawBelow& below) {
    const QSize bars(size.width(), static_cast<int>(size.height() * (1 - share)));
    chart()->paintOn(device, bars, scale, [&](QPainter& painter) {
      const QColor ground = Theme::instance().colors().panel;
      painter.setClipping(false);
      painter.fillRect(QRectF(0, bars.height(), size.width(), size.height() - bars.height()), ground);
      curve_->paint(painter, QRectF(16, bars.height(), size.width() - 32, size.height() - bars.height() - 8),
                    ground);
      below(painter);
    });
  };
  return picture;
}

BarData MemoryView::bars(const Report& report) const {
  BarData data;
  const UnitSystem units = session()->units();
  const ValueScale scale = memory_scale(report, units);
  data.title = tr("Memory of one rank, by stage");
  data.unit = scale.unit;
  data.divisor = scale.divisor;
  data.text = [units](double value) { return rank_bytes_text(static_cast<Wide>(value), units); };
  for (int i = 0; i < kAllMemoryCategories; ++i) {
    const auto category = static_cast<MemoryCategory>(i);
    data.series.push_back(series_of(role_of(category), text_of(memory_category_label(category))));
  }
  data.legend = data.series;
  if (trains(report.design))
    data.legend.erase(data.legend.begin() + static_cast<int>(MemoryCategory::KvCache));
  for (const StageMemory& stage : report.memory->stages) {
    std::vector<double> values;
    for (const int64_t bytes : stage.at_peak) values.push_back(static_cast<double>(bytes));
    data.values.push_back(std::move(values));
  }
  if (report.accelerator) {
    const Wide capacity = report.accelerator->memory_bytes;
    data.limit = BarLimit{to_double(capacity), tr("%1 capacity").arg(capacity_text(capacity, units))};
  }
  return data;
}

void MemoryView::fillTable(const Report& report) { model_->setReport(report, session()->units()); }

QString MemoryView::caption(const Report& report) const {
  const QString unit = memory_scale(report, session()->units()).unit;
  return report.stages.size() == 1 ? tr("The only stage, %1 on each rank").arg(unit)
                                   : tr("All stages, %1 on one rank of each").arg(unit);
}

QString MemoryView::csv(const Report&) const { return csv_text(*model_); }

Inspection MemoryView::inspectBar(const Report& report, int stage, int series) const {
  const StageReport& of = report.stages[static_cast<size_t>(stage)];
  const UnitSystem units = session()->units();
  const bool known = session()->estimated() &&
                     &report == session()->report().get();  // the advisor does not compute compared designs
  const bool advised = known && advice()->isFor(session()->estimate().get());
  const Fragmentation* fragmentation = known ? advice()->fragmentationOf(session()->estimate().get())
                                             : nullptr;
  const Fragmentation* segments = fragmentation && fragmentation->stage == stage ? fragmentation : nullptr;
  Inspection out = series == StageChart::kWholeStage
                       ? inspect_stage_memory(report, of, units, segments)
                       : inspect_memory(report, of, static_cast<MemoryCategory>(series), units);
  if (!advised || advice()->advice().empty()) return out;
  out.more_title = tr("What would help");
  for (const MemoryAdvice& advice : advice()->advice())
    out.more.append({QString::fromStdString(advice.what), adviceEffect(advice, units)});
  return out;
}

Selection MemoryView::selectionOfBar(const Report&, int stage, int series) const {
  Selection selection;
  selection.kind = SelectionKind::Memory;
  selection.stage = stage;
  selection.memory = static_cast<MemoryCategory>(series);
  return selection;
}

int MemoryView::columnOf(int series) const { return StageMemoryModel::kFirstCategory + series; }

bool MemoryView::marksSeries(const Report&, const ResolvedSelection& resolved, int stage, int series) const {
  return resolved.memory(stage, static_cast<MemoryCategory>(series));
}

}  // namespace shardscape::ui
