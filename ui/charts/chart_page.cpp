#include "ui/charts/chart_page.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QShowEvent>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/charts/chart_notice.h"
#include "ui/charts/rank_picker.h"
#include "ui/charts/save_menu.h"
#include "ui/charts/stage_chart.h"
#include "ui/models/beside_model.h"
#include "ui/state/comparisons.h"
#include "ui/theme/theme.h"
#include "ui/widgets/chart_table.h"
#include "ui/widgets/elided_label.h"

namespace shardscape::ui {
namespace {

constexpr double kTableShare = 0.36, kLowTableShare = 0.28;  // of the page's height, at most; the latter where that is low
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

ChartPage::ChartPage(Session* session, const QString& title, const QString& name, QWidget* parent)
    : QWidget(parent), session_(session), title_(title), name_(name) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(16, 10, 16, 12);
  layout->setSpacing(0);
  auto* top = new QHBoxLayout;
  top->setSpacing(8);
  heading_ = new ElidedLabel(this, Theme::instance().uiFont(14, QFont::DemiBold));
  heading_->setText(title);
  top->addWidget(heading_, 1);  // gives way to the buttons where there is little room
  controls_ = new QHBoxLayout;
  controls_->setSpacing(8);
  top->addLayout(controls_);
  auto* save = new QPushButton(tr("Save"), this);
  save->setAccessibleName(tr("Save %1").arg(title));
  save_menu_ = new SaveMenu([this] { return picture(); }, save);
  save->setMenu(save_menu_);
  save->setMinimumWidth(74);
  top->addWidget(save);
  layout->addLayout(top);
  layout->addSpacing(8);

  chart_ = new StageChart(this);
  layout->addWidget(chart_, 1);
  layout->addSpacing(6);

  auto* between = new QHBoxLayout;
  caption_ = new ElidedLabel(this, Theme::instance().uiFont());
  between->addWidget(caption_, 1);
  beside_ = new QPushButton(tr("Side by side"), this);
  beside_->setObjectName(QStringLiteral("beside_table"));
  beside_->setCheckable(true);
  beside_->setChecked(true);
  beside_->setToolTip(tr("The table of all designs that are compared, or that of the present one"));
  connect(beside_, &QPushButton::toggled, this, [this] { refresh(true); });
  between->setSpacing(8);
  between->addWidget(beside_);
  between->addWidget(new RankPicker(session_, this));
  layout->addLayout(between);
  layout->addSpacing(4);
  table_ = new ChartTable(this);
  table_->setAccessibleName(tr("Table: %1").arg(title));
  layout->addWidget(table_);
  beside_table_ = new ChartTable(this);
  beside_table_->setAccessibleName(tr("Table of designs side by side: %1").arg(title));
  beside_model_ = new BesideModel(this);
  beside_table_->setTable(beside_model_);
  layout->addWidget(beside_table_);
  beside_table_->hide();
  beside_->hide();
}

// The present design's bars, and those of every pinned one that can run.
BarData ChartPage::pairedBars(const Report& report) {
  BarData data = bars(report);
  besides_.clear();
  const std::vector<PinnedDesign>& pinned = session_->comparisons()->all();
  for (size_t i = 0; i < pinned.size(); ++i)
    if (pinned[i].made.simulation) {
      data.put_beside(bars(*pinned[i].made.report), static_cast<int>(i) + 1);
      besides_.push_back(pinned[i].made);
    }
  return data;
}

void ChartPage::setTableWanted(bool wanted) {
  table_wanted_ = wanted;
  placeTables();
}

void ChartPage::placeTables() {
  const bool any = chart_->data().members() > 1, paired = any && beside_->isChecked();
  beside_->setVisible(any && table_wanted_);
  table_->setVisible(table_wanted_ && !paired);
  beside_table_->setVisible(table_wanted_ && paired);
}

void ChartPage::start(TableModel* model, const QList<int>& left_out_columns) {
  table_->setTable(model, left_out_columns);
  notice_ = new ChartNotice(session_, this);
  connect(chart_, &StageChart::picked, this, &ChartPage::pickBar);
  connect(chart_, &StageChart::pickedBeside, this, &ChartPage::pickBesideBar);
  connect(beside_table_, &ChartTable::rowPicked, this, &ChartPage::pickPart);
  connect(table_, &ChartTable::rowPicked, this, &ChartPage::pickRow);
  connect(session_, &Session::reportChanged, this, [this] { refresh(); });
  connect(session_, &Session::unitsChanged, this, [this] { refresh(); });
  connect(session_->comparisons(), &Comparisons::changed, this, [this] { refresh(true); });
  connect(session_, &Session::stageChanged, this, &ChartPage::followStage);
  connect(session_, &Session::pickChanged, this, [this](const QObject* by) { followPick(by); });
  connect(session_, &Session::inspectionChanged, this, [this] {
    if (showing_) return;
    shown_.what = Shown::Nothing;  // the inspector went elsewhere
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
  const bool same =
      filled_ == session_->report() && filled_stage_ == session_->stage() && filled_units_ == session_->units();
  if (same && !even_if_same) return;
  filled_ = session_->report();
  filled_stage_ = session_->stage();
  filled_units_ = session_->units();
  fillTable(*now);
  chart_->setData(pairedBars(*now));
  placeTables();
  if (chart_->data().members() > 1) beside_model_->setBars(chart_->data(), session_->stage());
  caption_->setText(beside_table_->isHidden() ? caption(*now) : tr("Stage %1 of all designs").arg(session_->stage()));
  fitTable();
  if (shown_.what == Shown::Nothing && isVisible() && session_->inspection().isEmpty())
    shown_ = {Shown::Bar, StageChart::kWholeStage};
  explain(shown_);
}

void ChartPage::followStage() {
  // A row of one stage's table means nothing in the next one's.
  const Shown whole_stage{Shown::Bar, StageChart::kWholeStage};
  if (shown_.what == Shown::Row && session_->stage() != filled_stage_) shown_ = whole_stage;
  if (remembered_.what == Shown::Row && session_->stage() != filled_stage_) remembered_ = whole_stage;
  for (Shown* of : {&shown_, &remembered_})
    if (of->of && session_->stage() != filled_stage_) *of = whole_stage;
  refresh();
}

void ChartPage::pickBar(int stage, int series) {
  shown_ = {Shown::Bar, series};
  const Report* now = report();
  const bool segment = now && series != StageChart::kWholeStage;
  session_->setPick(segment ? pickOfBar(*now, stage, series) : Pick{}, this);
  session_->setStage(stage);
  explain({Shown::Bar, series});
}

// The same of the present design is selected, where it has such; the inspector tells of the bar that was clicked.
void ChartPage::pickBesideBar(int member, int stage, int series) {
  const Report* now = report();
  const int own = chart_->data().ownSeries(member, series);
  if (!now || own < 0) return;
  const ComparedDesign there = besideOf(member);
  const Shown shown{Shown::Bar, own, there.report, stage};
  const int here = std::min(stage, static_cast<int>(now->stages.size()) - 1);
  shown_ = shown;
  session_->setPick(pick_beside(pickOfBar(*there.report, stage, own), {there.report.get(), nullptr}, {now, nullptr}, here), this);
  session_->setStage(here);
  explain(shown);
}

void ChartPage::pickPart(int row) {
  const BarData& data = chart_->data();
  const int series = beside_model_->seriesAt(row), stage = session_->stage();
  if (series < 0 || data.ownSeries(0, series) >= 0) return pickBar(stage, series);
  for (int member = 1; member < data.members(); ++member)
    if (data.ownSeries(member, series) >= 0 && stage < data.stages(member)) return pickBesideBar(member, stage, series);
}

void ChartPage::pickRow(int row) {
  if (rowsAreStages()) {  // a cell is a segment of its stage, where it has a category
    int series = chart_->pickedMember() == 0 ? chart_->pickedSeries() : int(StageChart::kWholeStage);
    for (int one = 0; one < static_cast<int>(chart_->data().series.size()); ++one)
      if (columnOf(one) == table_->currentIndex().column()) series = one;
    return pickBar(row, series);
  }
  shown_ = {Shown::Row, row};
  if (const Report* now = report()) session_->setPick(pickOfRow(*now, row), this);
  explain({Shown::Row, row});
}

std::vector<int> ChartPage::markedSeries() const {
  std::vector<int> out;
  const int stage = session_->stage();
  if (!filled_ || stage >= chart_->data().stages()) return out;
  for (int series = 0; series < static_cast<int>(chart_->data().series.size()); ++series)
    if (chart_->data().ownSeries(0, series) >= 0 && marksSeries(*filled_, session_->picked(), stage, series)) out.push_back(series);
  return out;
}

// The same in the bars of the other designs: of the stage beside the picked one, nodes of the graph where their layer is.
std::vector<BarMark> ChartPage::markedBeside() const {
  std::vector<BarMark> out;
  const BarData& data = chart_->data();
  if (!filled_ || !isVisible() || session_->picked().nothing()) return out;
  const auto estimate = session_->estimate();
  const PlayedReport here{filled_.get(), estimate && estimate->report == filled_ ? estimate->simulation.get() : nullptr};
  for (int member = 1; member < data.members(); ++member) {
    const ComparedDesign& of = besideOf(member);
    auto played = std::make_shared<Estimate>();
    played->report = of.report;
    played->simulation = of.simulation;
    const Pick pick = pick_beside(session_->pick(), here, {of.report.get(), of.simulation.get()}, session_->stage());
    const Picked there(pick, of.report, std::move(played));
    const int stage = pick.stage < 0 ? session_->stage() : pick.stage;
    for (int series = 0; stage < data.stages(member) && series < static_cast<int>(data.series.size()); ++series)
      if (const int own = data.ownSeries(member, series); own >= 0 && marksSeries(*of.report, there, stage, own)) out.push_back({member, stage, series});
  }
  return out;
}

std::vector<int> ChartPage::markedRows() const {
  std::vector<int> out;
  if (!filled_ || rowsAreStages()) return out;
  for (int row = 0; row < table_->model()->rowCount(); ++row)
    if (marksRow(*filled_, session_->picked(), row)) out.push_back(row);
  return out;
}

ChartPage::Shown ChartPage::shownOfPick() const {
  const std::vector<int> rows = markedRows(), series = markedSeries();
  const bool of_bar = session_->pick().kind == PickKind::Memory || session_->pick().kind == PickKind::Group || (session_->pick().kind == PickKind::Flops && !session_->pick().row);
  if (rows.size() == 1 && !of_bar) return {Shown::Row, rows.front()};
  return {Shown::Bar, series.size() == 1 ? series.front() : StageChart::kWholeStage};
}

// Picked in another view, or carried over an edit.
void ChartPage::followPick(const QObject* by) {
  if (by == this || filled_ != session_->report()) return;
  remembered_ = shownOfPick();
  showSelection(remembered_);
  if (isVisible() && (by != session_ || showsOwn())) explainAgain();
}

void ChartPage::explain(Shown shown) {
  shown_ = shown;
  const Report* now = report();
  if (!now) return;
  const bool gone = shown_.of ? besideShown(shown_).first == 0 : shown_.what == Shown::Bar && chart_->data().ownSeries(0, shown_.index) < 0;
  if (gone) shown_ = {Shown::Bar, StageChart::kWholeStage};
  if (shown_.what == Shown::Row && shown_.index >= table_->model()->rowCount())
    shown_ = {Shown::Bar, StageChart::kWholeStage};
  showSelection(shown_);
  if (shown_.what == Shown::Nothing) return;
  remembered_ = shown_;
  const QScopedValueRollback<bool> guard(showing_, true);
  session_->inspect(shown_.of ? inspectBeside(shown_) : shown_.what == Shown::Bar ? inspectBar(*now, session_->stage(), shown_.index) : inspectRow(*now, shown_.index));
}

std::pair<int, int> ChartPage::besideShown(const Shown& of) const {
  const BarData& data = chart_->data();
  for (int member = 1; member < data.members(); ++member)
    for (int series = 0; besideOf(member).report == of.of && of.stage < data.stages(member) && series < static_cast<int>(data.series.size()); ++series)
      if (data.ownSeries(member, series) == of.index) return {member, series};
  return {0, 0};
}

Inspection ChartPage::inspectBeside(const Shown& of) const {
  const auto [member, series] = besideShown(of);
  const BarData& data = chart_->data();
  const auto value = [&, series = series](int design) { return data.of(design)[static_cast<size_t>(of.stage)][static_cast<size_t>(series)]; };
  Inspection out = inspectBar(*of.of, of.stage, of.index);
  out.title = QStringLiteral("%1: %2").arg(Comparisons::letter(data.letter(member)), out.title);
  out.more_title = tr("The same in the other designs");
  out.more.clear();
  for (int other = 0; other < data.members(); ++other) {
    if (other == member) continue;
    const QString letter = Comparisons::letter(data.letter(other));
    if (of.stage >= data.stages(other)) out.more.append({letter, tr("no such stage")});
    else out.more.append({letter, data.text(value(other)) + (value(member) > 0 ? tr(", %1").arg(signed_percent_text(value(other) / value(member) - 1)) : QString())});
  }
  return out;
}

void ChartPage::explainAgain() { explain(remembered_); }

void ChartPage::showSelection(const Shown& of) {
  const int stage = session_->stage();
  const auto [member, series] = of.of ? besideShown(of) : std::pair{0, of.what == Shown::Bar ? of.index : int(StageChart::kWholeStage)};
  const std::vector<int> marked = markedSeries();
  const std::vector<BarMark> beside = markedBeside();
  chart_->setPicked(member > 0 ? of.stage : stage, series, member);
  chart_->setMarked(stage, marked, beside);
  std::vector<int> parts;
  const auto part = [&](int of_series) {
    if (const int row = beside_model_->rowOf(of_series); row >= 0 && std::find(parts.begin(), parts.end(), row) == parts.end()) parts.push_back(row);
  };
  for (const int one : marked) part(one);
  for (const BarMark& one : beside)
    if (one.stage == stage) part(one.series);
  beside_table_->showRow(series >= 0 ? beside_model_->rowOf(series) : -1, parts);
  if (!rowsAreStages()) return table_->showRow(of.what == Shown::Row ? of.index : -1, markedRows());
  table_->showRow(stage);
  std::vector<std::pair<int, int>> cells;
  for (int row = 0; filled_ && row < chart_->data().stages(); ++row)
    for (int one = 0; one < static_cast<int>(chart_->data().series.size()); ++one)
      if (columnOf(one) >= 0 && chart_->data().ownSeries(0, one) >= 0 && marksSeries(*filled_, session_->picked(), row, one)) cells.emplace_back(row, columnOf(one));
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
  picture.paint = [this](QPaintDevice& device, QSize size, double scale) { chart_->paint(device, size, scale); };
  if (report()) picture.csv = [this] { return report() ? csv(*report()) : QString(); };
  return picture;
}

void ChartPage::fitTable() {
  const int most = std::max(kLeastTable, static_cast<int>(height() * (height() < kLowPage ? kLowTableShare : kTableShare)));
  for (ChartTable* table : {table_, beside_table_}) table->setFixedHeight(table->heightUpTo(most));
}

void ChartPage::paintEvent(QPaintEvent*) { QPainter(this).fillRect(rect(), Theme::instance().colors().ground); }

void ChartPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  fitTable();
  // The inspector goes with the view: it is about what is picked here.
  if (!event->spontaneous()) explainAgain();
}

void ChartPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitTable();
}

}  // namespace shardscape::ui
