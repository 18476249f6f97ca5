#include "ui/charts/chart_page.h"

#include <QHBoxLayout>
#include <QLabel>
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
  heading_ = new QLabel(title, this);
  heading_->setProperty("role", "heading");
  top->addWidget(heading_);
  top->addStretch(1);
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
BarData ChartPage::pairedBars(const Report& report) const {
  BarData data = bars(report);
  const std::vector<PinnedDesign>& pinned = session_->comparisons()->all();
  for (size_t i = 0; i < pinned.size(); ++i)
    if (pinned[i].made.simulation) data.put_beside(bars(*pinned[i].made.report), static_cast<int>(i) + 1);
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

void ChartPage::pickRow(int row) {
  if (rowsAreStages()) return pickBar(row, chart_->pickedSeries());
  shown_ = {Shown::Row, row};
  if (const Report* now = report()) session_->setPick(pickOfRow(*now, row), this);
  explain({Shown::Row, row});
}

std::vector<int> ChartPage::markedSeries() const {
  std::vector<int> out;
  const int stage = session_->stage();
  if (!filled_ || stage >= chart_->data().stages()) return out;
  for (int series = 0; series < static_cast<int>(chart_->data().series.size()); ++series)
    if (marksSeries(*filled_, session_->picked(), stage, series)) out.push_back(series);
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
  if (shown_.what == Shown::Bar && shown_.index >= static_cast<int>(chart_->data().series.size())) {
    shown_.index = StageChart::kWholeStage;
  }
  if (shown_.what == Shown::Row && shown_.index >= table_->model()->rowCount())
    shown_ = {Shown::Bar, StageChart::kWholeStage};
  showSelection(shown_);
  if (shown_.what == Shown::Nothing) return;
  remembered_ = shown_;
  const QScopedValueRollback<bool> guard(showing_, true);
  session_->inspect(shown_.what == Shown::Bar ? inspectBar(*now, session_->stage(), shown_.index)
                                              : inspectRow(*now, shown_.index));
}

void ChartPage::explainAgain() { explain(remembered_); }

void ChartPage::showSelection(const Shown& of) {
  chart_->setPicked(session_->stage(), of.what == Shown::Bar ? of.index : StageChart::kWholeStage);
  chart_->setMarked(markedSeries());
  if (rowsAreStages()) return table_->showRow(session_->stage());
  table_->showRow(of.what == Shown::Row ? of.index : -1, markedRows());
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
