#include "ui/plot/chart_page.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QShowEvent>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/plot/bar_comparison_model.h"
#include "ui/plot/chart_notice.h"
#include "ui/plot/chart_table.h"
#include "ui/plot/design_overlay.h"
#include "ui/plot/rank_spin_box.h"
#include "ui/plot/save_menu.h"
#include "ui/plot/stage_chart.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/page_splitter.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"

namespace shardscape::ui {
namespace {

constexpr double kTableShare = 0.36,
                 kLowTableShare = 0.28;  // the most of the page's height; the second for low pages
constexpr int kLeastTable = 96, kLowPage = 640;
constexpr QSize kLeastPicture(720, 360);

QString file_name_of(const QString& design, QStringView name) {
  QString text = design;
  for (QChar& c : text) {
    if (!c.isLetterOrNumber() && c != u'.' && c != u'-' && c != u'_') c = u'-';
  }
  return text + u'-' + name.toString();
}

}  // namespace

ChartPage::ChartPage(SelectionState* state, const QString& title, const QString& name, QWidget* parent)
    : QWidget(parent),
      state_(state),
      session_(state->session()),
      bars_title_(title),
      title_(title),
      name_(name) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(16, 10, 16, 12);
  layout->setSpacing(0);
  auto* top = new QHBoxLayout;
  top->setSpacing(8);
  heading_ = new ElidedLabel(this, Theme::instance().uiFont(14, QFont::DemiBold));
  heading_->setText(title);
  top->addWidget(heading_, 1);  // shrinks before the buttons do
  controls_ = new QHBoxLayout;
  controls_->setSpacing(8);
  top->addLayout(controls_);
  auto* save = new QPushButton(tr("Save"), this);
  save->setAccessibleName(tr("Save %1").arg(title));
  save_menu_ = new SaveMenu([this] { return picture(); }, session_, save);
  save->setMenu(save_menu_);
  save->setMinimumWidth(74);
  top->addWidget(save);
  layout->addLayout(top);
  layout->addSpacing(8);

  splitter_ = new PageSplitter(name, this);
  layout->addWidget(splitter_, 1);
  auto* pictures = new QWidget;
  pictures_ = new QVBoxLayout(pictures);
  pictures_->setContentsMargins(0, 0, 0, 0);
  pictures_->setSpacing(0);
  chart_ = new StageChart(pictures);
  pictures_->addWidget(chart_, 1);
  splitter_->addWidget(pictures);
  makeTables();
}

// The lower part of the page: caption, buttons and tables.
void ChartPage::makeTables() {
  auto* tables = new QWidget;
  tables_ = new QVBoxLayout(tables);
  tables_->setContentsMargins(0, 0, 0, 0);
  tables_->setSpacing(4);
  between_ = new QHBoxLayout;
  caption_ = new ElidedLabel(this, Theme::instance().uiFont());
  between_->addWidget(caption_, 1);
  comparison_button_ = new QPushButton(tr("Side by side"), this);
  comparison_button_->setObjectName(QStringLiteral("comparison_table_button"));
  comparison_button_->setCheckable(true);
  comparison_button_->setChecked(true);
  comparison_button_->setToolTip(
      tr("Switches between the table of all compared designs and the table of the current design"));
  connect(comparison_button_, &QPushButton::toggled, this, [this] { refresh(true); });
  between_->setSpacing(8);
  between_->addWidget(comparison_button_);
  between_->addWidget(new RankSpinBox(state_, this));
  tables_->addLayout(between_);
  table_ = new ChartTable(tables);
  table_->setAccessibleName(tr("Table: %1").arg(title_));
  tables_->addWidget(table_);
  comparison_table_ = new ChartTable(tables);
  comparison_table_->setAccessibleName(tr("Table of designs side by side: %1").arg(title_));
  comparison_model_ = new BarComparisonModel(this);
  comparison_table_->setTable(comparison_model_);
  tables_->addWidget(comparison_table_);
  comparison_table_->hide();
  comparison_button_->hide();
  splitter_->addWidget(tables);
}

// The bars of the present design and of every pinned design that can run.
BarData ChartPage::pairedBars(const Report& report) {
  BarData data = bars(report);
  compared_designs_.clear();
  const std::vector<PinnedDesign>& pinned = session_->comparisons()->all();
  for (size_t i = 0; i < pinned.size(); ++i)
    if (pinned[i].result.simulation) {
      data.addComparedBars(bars(*pinned[i].result.report), static_cast<int>(i) + 1);
      compared_designs_.push_back(pinned[i].result);
    }
  return data;
}

void ChartPage::setAlternative(const QString& name, const QString& title, QWidget* chart, ChartTable* table,
                               const QList<QWidget*>& bars_only) {
  alternative_ = {title, chart, table, bars_only};
  switch_ = new SegmentedControl(tr("Picture"), {tr("Bars"), name}, this);
  controls_->insertWidget(0, switch_);
  connect(switch_, &SegmentedControl::chosen, this, [this](int index) { setAlternativeShown(index == 1); });
  pictures_->insertWidget(pictures_->indexOf(chart_) + 1, chart, 1);
  chart->hide();
  if (table) {
    tables_->addWidget(table);
    table->hide();
  }
}

void ChartPage::setAlternativeShown(bool shown) {
  switch_->setCurrent(shown ? 1 : 0);
  if (shown == alternative_shown_) return;
  alternative_shown_ = shown;
  chart_->setVisible(!shown);
  for (QWidget* widget : alternative_.bars_only) widget->setVisible(!shown);
  placeTables();
  alternative_.chart->setVisible(shown);
  setTitle(shown ? alternative_.title : bars_title_);
  alternativeToggled();
  fitTable();
  explainAgain();
}

void ChartPage::setPanel(const QString& name, const QString& tip, QWidget* panel) {
  panel_ = panel;
  panel_button_ = new QPushButton(name, tables_->parentWidget());
  panel_button_->setCheckable(true);
  panel_button_->setToolTip(tip);
  between_->insertWidget(1, panel_button_);  // after the caption
  tables_->addWidget(panel, 1);
  panel->hide();
  connect(panel_button_, &QPushButton::toggled, this, [this] {
    placeTables();
    fitTable();
  });
}

void ChartPage::setPanelShown(bool shown) { panel_button_->setChecked(shown); }

const Simulation* ChartPage::simulationOf(const Report& report) const {
  for (const ComparedDesign& of : compared_designs_)  // may have been unpinned since
    if (of.report.get() == &report) return of.simulation.get();
  return session_->simulationOf(report);
}

void ChartPage::setBarsTitle(const QString& title) {
  bars_title_ = title;
  if (!alternative_shown_) setTitle(title);
}

const StageReport& ChartPage::stageOf(const Report& report) const {
  return report.stages[static_cast<size_t>(state_->stage())];
}

void ChartPage::placeTables() {
  const bool any = chart_->data().members() > 1, paired = any && comparison_button_->isChecked();
  const bool panel = panel_ && panel_button_->isChecked();
  const bool own = alternative_shown_ && alternative_.table;  // the alternative chart has a table of its own
  if (panel_) panel_->setVisible(panel);
  comparison_button_->setVisible(any && !own && !panel);
  table_->setVisible(!own && !paired && !panel);
  comparison_table_->setVisible(!own && paired && !panel);
  if (alternative_.table) alternative_.table->setVisible(own && !panel);
}

void ChartPage::start(TableModel* model, const QList<int>& left_out_columns) {
  table_->setTable(model, left_out_columns);
  notice_ = new ChartNotice(session_, this);
  connect(chart_, &StageChart::barSelected, this, &ChartPage::selectBar);
  connect(chart_, &StageChart::comparedItemSelected, this, &ChartPage::selectComparedBar);
  connect(comparison_table_, &ChartTable::rowSelected, this, &ChartPage::selectComparisonRow);
  connect(table_, &ChartTable::rowSelected, this, &ChartPage::selectTableRow);
  connect(session_, &Session::reportChanged, this, [this] { refresh(); });
  connect(session_, &Session::unitsChanged, this, [this] { refresh(); });
  if (usesTime()) connect(session_, &Session::estimateChanged, this, [this] { refresh(); });
  connect(session_->comparisons(), &Comparisons::changed, this, [this] { refresh(true); });
  connect(state_, &SelectionState::stageChanged, this, &ChartPage::followStage);
  connect(state_, &SelectionState::selectionChanged, this,
          [this](const QObject* by) { followSelection(by); });
  connect(state_, &SelectionState::inspectionChanged, this, [this] {
    if (showing_) return;
    shown_.what = Shown::Nothing;  // another view filled the inspector
  });
  caption_->setInk(Theme::instance().colors().secondary);
  // Colours are part of the bars' data.
  connect(&Theme::instance(), &Theme::changed, this, [this] {
    caption_->setInk(Theme::instance().colors().secondary);
    if (report()) chart_->setData(pairedBars(*report()));
  });
  refresh();
}

const Report* ChartPage::report() const {
  const Report* report = session_->report().get();
  return report && report->valid() && !report->stages.empty() ? report : nullptr;
}

void ChartPage::refresh(bool even_if_same) {
  const Report* now = report();
  if (!now) return;
  const bool times = usesTime() && simulationOf(*now);
  const bool same = filled_ == session_->report() && filled_stage_ == state_->stage() &&
                    filled_units_ == session_->units() && filled_times_ == times;
  if (same && !even_if_same) return;
  filled_ = session_->report();
  filled_times_ = times;
  filled_stage_ = state_->stage();
  filled_units_ = session_->units();
  const auto& estimate = session_->estimate();
  const bool simulated = !usesTime() || (estimate && estimate->report == filled_);
  for (QWidget* picture : {static_cast<QWidget*>(chart_), static_cast<QWidget*>(table_)})
    picture->setUpdatesEnabled(simulated);
  fillTable(*now);
  chart_->setData(pairedBars(*now));
  placeTables();
  if (chart_->data().members() > 1) comparison_model_->setBars(chart_->data(), state_->stage());
  caption_->setText(comparison_table_->isHidden() ? caption(*now)
                                                  : tr("Stage %1 of all designs").arg(state_->stage()));
  fitTable();
  if (shown_.what == Shown::Nothing && isVisible() && state_->inspection().isEmpty())
    shown_ = {Shown::Bar, StageChart::kWholeStage};
  explain(shown_);
}

void ChartPage::followStage() {
  // A row of one stage's table has no meaning in another stage's table.
  const Shown whole_stage{Shown::Bar, StageChart::kWholeStage};
  if (shown_.what == Shown::Row && state_->stage() != filled_stage_) shown_ = whole_stage;
  if (remembered_.what == Shown::Row && state_->stage() != filled_stage_) remembered_ = whole_stage;
  for (Shown* of : {&shown_, &remembered_})
    if (of->of && state_->stage() != filled_stage_) *of = whole_stage;
  refresh();
}

void ChartPage::selectBar(int stage, int series) {
  const Report* now = report();
  if (series >= 0 && chart_->data().ownSeries(0, series) < 0) return;  // only another design has this series
  shown_ = {Shown::Bar, series};
  const bool segment = now && series != StageChart::kWholeStage;
  state_->selectInAllViews(segment ? selectionOfBar(*now, stage, series) : Selection{}, this);
  state_->setStage(stage);
  explain({Shown::Bar, series});
}

// Selects the same bar of the present design, if it has the bar. The inspector explains the clicked bar.
void ChartPage::selectComparedBar(int member, int stage, int series) {
  const Report* now = report();
  const int own = chart_->data().ownSeries(member, series);
  if (!now || own < 0) return;
  const ComparedDesign there = comparedDesign(member);
  const Shown shown{Shown::Bar, own, there.report, stage};
  const int here = std::min(stage, static_cast<int>(now->stages.size()) - 1);
  shown_ = shown;
  state_->selectInAllViews(remapToDesign(selectionOfBar(*there.report, stage, own),
                                         {there.report.get(), nullptr}, {now, nullptr}, here),
                           this);
  state_->setStage(here);
  explain(shown);
}

void ChartPage::selectComparisonRow(int row) {
  const BarData& data = chart_->data();
  const int series = comparison_model_->seriesAt(row), stage = state_->stage();
  if (series < 0 || data.ownSeries(0, series) >= 0) return selectBar(stage, series);
  for (int member = 1; member < data.members(); ++member)
    if (data.ownSeries(member, series) >= 0 && stage < data.stages(member))
      return selectComparedBar(member, stage, series);
}

void ChartPage::selectTableRow(int row) {
  if (rowsAreStages()) {  // a cell in a category's column is a segment of its stage
    int series = chart_->selectedMember() == 0 ? chart_->selectedSeries() : int(StageChart::kWholeStage);
    for (int one = 0; one < static_cast<int>(chart_->data().series.size()); ++one)
      if (columnOf(one) == table_->currentIndex().column()) series = one;
    return selectBar(row, series);
  }
  shown_ = {Shown::Row, row};
  if (const Report* now = report()) state_->selectInAllViews(selectionOfRow(*now, row), this);
  explain({Shown::Row, row});
}

std::vector<int> ChartPage::markedSeries() const {
  std::vector<int> out;
  const int stage = state_->stage();
  if (!filled_ || stage >= chart_->data().stages()) return out;
  for (int series = 0; series < static_cast<int>(chart_->data().series.size()); ++series)
    if (chart_->data().ownSeries(0, series) >= 0 &&
        marksSeries(*filled_, state_->resolvedSelection(), stage, series))
      out.push_back(series);
  return out;
}

// Marked segments in the bars of the other designs. They belong to the stage at the same relative place, or
// for nodes of the graph to the stage with the same layer.
std::vector<BarMark> ChartPage::markedComparedBars() const {
  std::vector<BarMark> out;
  const BarData& data = chart_->data();
  if (!filled_ || !isVisible() || state_->resolvedSelection().nothing()) return out;
  const auto estimate = session_->estimate();
  const SimulatedReport here{filled_.get(),
                             estimate && estimate->report == filled_ ? estimate->simulation.get() : nullptr};
  for (int member = 1; member < data.members(); ++member) {
    const ComparedDesign& of = comparedDesign(member);
    const Selection selection = remapToDesign(state_->selection(), here,
                                              {of.report.get(), of.simulation.get()}, state_->stage());
    const ResolvedSelection there(selection, of.report, of.simulation);
    const int stage = selection.stage < 0 ? state_->stage() : selection.stage;
    for (int series = 0; stage < data.stages(member) && series < static_cast<int>(data.series.size());
         ++series)
      if (const int own = data.ownSeries(member, series);
          own >= 0 && marksSeries(*of.report, there, stage, own))
        out.push_back({member, stage, series});
  }
  return out;
}

std::vector<int> ChartPage::markedRows() const {
  std::vector<int> out;
  if (!filled_ || rowsAreStages()) return out;
  for (int row = 0; row < table_->model()->rowCount(); ++row)
    if (marksRow(*filled_, state_->resolvedSelection(), row)) out.push_back(row);
  return out;
}

ChartPage::Shown ChartPage::shownOfSelection() const {
  const std::vector<int> rows = markedRows(), series = markedSeries();
  const bool of_bar = state_->selection().kind == SelectionKind::Memory ||
                      state_->selection().kind == SelectionKind::Group ||
                      (state_->selection().kind == SelectionKind::Flops && !state_->selection().row);
  if (rows.size() == 1 && !of_bar) return {Shown::Row, rows.front()};
  return {Shown::Bar, series.size() == 1 ? series.front() : StageChart::kWholeStage};
}

// Selected in another view, or remapped after an edit.
void ChartPage::followSelection(const QObject* by) {
  if (by == this || filled_ != session_->report()) return;
  remembered_ = shownOfSelection();
  showSelection(remembered_);
  if (isVisible() && (by != session_ || showsOwn())) explainAgain();
}

void ChartPage::explain(Shown shown) {
  shown_ = shown;
  const Report* now = report();
  if (!now) return;
  const bool gone = shown_.of ? comparedBarShown(shown_).first == 0
                              : shown_.what == Shown::Bar && chart_->data().ownSeries(0, shown_.index) < 0;
  if (gone) shown_ = {Shown::Bar, StageChart::kWholeStage};
  if (shown_.what == Shown::Row && shown_.index >= table_->model()->rowCount())
    shown_ = {Shown::Bar, StageChart::kWholeStage};
  showSelection(shown_);
  if (shown_.what == Shown::Nothing) return;
  remembered_ = shown_;
  const QScopedValueRollback<bool> guard(showing_, true);
  state_->inspect(shown_.of                   ? inspectComparedBar(shown_)
                  : shown_.what == Shown::Bar ? inspectBar(*now, state_->stage(), shown_.index)
                                              : inspectRow(*now, shown_.index));
}

std::pair<int, int> ChartPage::comparedBarShown(const Shown& of) const {
  const BarData& data = chart_->data();
  for (int member = 1; member < data.members(); ++member)
    for (int series = 0; comparedDesign(member).report == of.of && of.stage < data.stages(member) &&
                         series < static_cast<int>(data.series.size());
         ++series)
      if (data.ownSeries(member, series) == of.index) return {member, series};
  return {0, 0};
}

Inspection ChartPage::inspectComparedBar(const Shown& of) const {
  const auto [member, series] = comparedBarShown(of);
  const BarData& data = chart_->data();
  const auto value = [&, series = series](int design) {
    return data.of(design)[static_cast<size_t>(of.stage)][static_cast<size_t>(series)];
  };
  Inspection out = inspectBar(*of.of, of.stage, of.index);
  out.title = of_design(data.letter(member), out.title);
  out.more_title = tr("The same in the other designs");
  out.more.clear();
  for (int other = 0; other < data.members(); ++other) {
    if (other == member) continue;
    const QString letter = Comparisons::letter(data.letter(other));
    if (of.stage >= data.stages(other))
      out.more.append({letter, tr("no such stage")});
    else
      out.more.append(
          {letter, data.text(value(other)) + (value(member) > 0 ? tr(", %1").arg(signed_percent_text(
                                                                      value(other) / value(member) - 1))
                                                                : QString())});
  }
  return out;
}

void ChartPage::explainAgain() { explain(remembered_); }

void ChartPage::showSelection(const Shown& of) {
  const int stage = state_->stage();
  const auto [member,
              series] = of.of ? comparedBarShown(of)
                              : std::pair{0, of.what == Shown::Bar ? of.index : int(StageChart::kWholeStage)};
  const std::vector<int> marked = markedSeries();
  const std::vector<BarMark> others = markedComparedBars();
  chart_->setSelectedItem(member > 0 ? of.stage : stage, series, member);
  chart_->setMarked(stage, marked, others);
  std::vector<int> parts;
  const auto part = [&](int of_series) {
    if (const int row = comparison_model_->rowOf(of_series);
        row >= 0 && std::find(parts.begin(), parts.end(), row) == parts.end())
      parts.push_back(row);
  };
  for (const int one : marked) part(one);
  for (const BarMark& one : others)
    if (one.stage == stage) part(one.series);
  comparison_table_->showRow(series >= 0 ? comparison_model_->rowOf(series) : -1, parts);
  if (!rowsAreStages()) return table_->showRow(of.what == Shown::Row ? of.index : -1, markedRows());
  table_->showRow(stage);
  std::vector<std::pair<int, int>> cells;
  for (int row = 0; filled_ && row < chart_->data().stages(); ++row)
    for (int one = 0; one < static_cast<int>(chart_->data().series.size()); ++one)
      if (columnOf(one) >= 0 && chart_->data().ownSeries(0, one) >= 0 &&
          marksSeries(*filled_, state_->resolvedSelection(), row, one))
        cells.emplace_back(row, columnOf(one));
  table_->setMarkedCells(std::move(cells));
}

Inspection ChartPage::inspectRow(const Report& report, int row) const {
  return inspectBar(report, row, StageChart::kWholeStage);
}

void ChartPage::setTitle(const QString& title) {
  title_ = title;
  heading_->setText(title);
}

QString ChartPage::pictureName(QStringView name) const {
  return file_name_of(QString::fromStdString(session_->design().model.preset), name);
}

Picture ChartPage::picture() const {
  Picture picture;
  picture.title = title_;
  picture.file_name = pictureName(name_);
  picture.size = chart_->size().expandedTo(kLeastPicture);
  picture.paint = [this](QPaintDevice& device, QSize size, double scale, const DrawBelow& below) {
    chart_->paintOn(device, size, scale, below);
  };
  if (report()) picture.csv = [this] { return report() ? csv(*report()) : QString(); };
  return picture;
}

// Suggests the height of the lower part: what the shown table needs, up to a share of the page.
void ChartPage::fitTable() {
  const int most = std::max(
      kLeastTable, static_cast<int>(height() * (height() < kLowPage ? kLowTableShare : kTableShare)));
  const int above = between_->sizeHint().height() + tables_->spacing();
  if (panel_ && !panel_->isHidden())
    return splitter_->suggest({0, above + std::min(most, panel_->sizeHint().height())});
  for (ChartTable* table : {table_, comparison_table_, alternative_.table}) {
    if (!table || table->isHidden()) continue;
    table->setMinimumHeight(table->heightUpTo(0));  // the header and one row
    return splitter_->suggest({0, above + table->heightUpTo(most)});
  }
}

void ChartPage::paintEvent(QPaintEvent*) {
  QPainter(this).fillRect(rect(), Theme::instance().colors().ground);
}

void ChartPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  fitTable();
  // A view that becomes visible fills the inspector with its own selection.
  if (!event->spontaneous()) explainAgain();
}

void ChartPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitTable();
}

}  // namespace shardscape::ui
