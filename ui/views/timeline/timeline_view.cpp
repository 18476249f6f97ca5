#include "ui/views/timeline/timeline_view.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QShowEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <map>
#include <numeric>

#include "report/timeline_json.h"
#include "ui/plot/chart_notice.h"
#include "ui/plot/chart_table.h"
#include "ui/plot/save_menu.h"
#include "ui/session/comparisons.h"
#include "ui/session/page_settings.h"
#include "ui/session/staleness.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/file_slug.h"
#include "ui/toolkit/search_field.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/timeline/breakdown_bar.h"
#include "ui/views/timeline/gantt_canvas.h"
#include "ui/views/timeline/spans_model.h"

namespace shardscape::ui {
namespace {

constexpr double kTableShare = 0.2;  // of the view's height, at most
constexpr int kLeastTable = 84;
constexpr QSize kLeastPicture(960, 540);
constexpr int kFewRows = 8;  // up to this number of rows, all stages of all designs are shown at first
enum TimeScope { AllStages, ThisStage, CriticalPath };
enum Rows { EveryStage, OneStage };

// Combines the highlights of all steps. A step without its own highlight highlights nothing.
template <typename Of>
TimelineHighlight combinedHighlight(const GanttSteps& steps, const Of& of) {
  std::map<int, TimelineHighlight> each;
  for (const GanttStep& step : steps) each[step.member] = of(step);
  const auto any = [&](const auto& has) {
    return std::any_of(each.begin(), each.end(), [&](const auto& one) { return has(one.second); });
  };
  const auto parts = std::make_shared<const std::map<int, TimelineHighlight>>(each);
  TimelineHighlight out;
  if (any([](const TimelineHighlight& one) { return bool(one.items); }))
    out.items = [parts](const ItemRef& ref) {
      const auto it = parts->find(ref.member);
      return it != parts->end() && it->second.items && it->second.items(ref);
    };
  if (any([](const TimelineHighlight& one) { return bool(one.ops); }))
    out.ops = [parts](int member, int segment, int op, int layer) {
      const auto it = parts->find(member);
      return it != parts->end() && it->second.ops && it->second.ops(member, segment, op, layer);
    };
  return out;
}

}  // namespace

TimelineView::TimelineView(SelectionState* state, QWidget* parent, PageSettings* pages)
    : QWidget(parent),
      state_(state),
      session_(state->session()),
      pages_(pages ? pages : new PageSettings(this)),
      comparison_(
          state->session()->comparisons(), this,
          [](const ComparedDesign& of, int, std::stop_token) {
            return std::make_shared<const Lanes>(of.simulation);
          },
          [this] { placeComparedDesigns(); }) {
  setObjectName(QStringLiteral("timeline_view"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(16, 10, 16, 12);
  layout->setSpacing(0);
  layout->addWidget(makeTop());
  layout->addSpacing(6);
  breakdown_ = new BreakdownBar(this);
  layout->addWidget(breakdown_);
  layout->addSpacing(10);
  layout->addWidget(makeTools());
  layout->addSpacing(8);
  canvas_ = new GanttCanvas(this);
  layout->addWidget(canvas_, 1);
  layout->addSpacing(6);
  caption_ = new ElidedLabel(this, Theme::instance().uiFont());
  layout->addWidget(caption_);
  layout->addSpacing(4);
  table_ = new ChartTable(this);
  table_->setAccessibleName(tr("Table: spans of the selected stage"));
  model_ = new SpansModel(this);
  table_->setTable(model_, {SpansModel::Stage});
  layout->addWidget(table_);
  new ChartNotice(session_, this);

  staleness_ = new Staleness(session_, Staleness::Of::Estimate, this);
  connect(staleness_, &Staleness::changed, this, &TimelineView::fade);
  connect(session_, &Session::estimateChanged, this, &TimelineView::refresh);
  connect(session_, &Session::reportChanged, this, &TimelineView::fade);
  connect(state_, &SelectionState::stageChanged, this, &TimelineView::followStage);
  connect(state_, &SelectionState::selectionChanged, this, &TimelineView::followSelection);
  connect(session_, &Session::unitsChanged, this, [this] {
    if (isVisible()) explain();
  });
  connect(canvas_, &GanttCanvas::itemSelected, this, &TimelineView::selectBox);
  connect(canvas_, &GanttCanvas::cleared, this, [this] {
    state_->selectInAllViews({}, this);
    showSharedSelection();
  });
  connect(canvas_, &GanttCanvas::bookmarksChanged, this, &TimelineView::keepBookmarks);
  connect(pages_, &PageSettings::changed, this, &TimelineView::showBookmarks);
  connect(canvas_, &GanttCanvas::rangeMarked, this, &TimelineView::showRange);
  connect(canvas_, &GanttCanvas::searchRequested, this, &TimelineView::activateSearch);
  connect(breakdown_, &BreakdownBar::categorySelected, this, [this](int category) {
    Selection selection;
    selection.kind = SelectionKind::Time;
    selection.time = static_cast<TimeCategory>(category);
    state_->selectInAllViews(selection, this);
    showSharedSelection();
  });
  connect(canvas_, &GanttCanvas::comparedItemSelected, this, &TimelineView::selectComparedBox);
  connect(time_scope_, &SegmentedControl::chosen, this, &TimelineView::fillBreakdown);
  connect(session_->comparisons(), &Comparisons::changed, this, &TimelineView::fillBreakdown);
  connect(table_, &ChartTable::rowSelected, this, &TimelineView::selectTableRow);
  const auto restyle = [this] { caption_->setInk(Theme::instance().colors().secondary); };
  connect(&Theme::instance(), &Theme::changed, this, restyle);
  restyle();
  canvas_->setMessage(tr("The step is being simulated."));
}

QWidget* TimelineView::makeTop() {
  auto* top = new QWidget(this);
  auto* row = new QHBoxLayout(top);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  heading_ = new QLabel(tr("Where the time goes"), top);
  heading_->setProperty("role", "heading");
  row->addWidget(heading_);
  row->addStretch(1);
  time_scope_ = new SegmentedControl(tr("Seconds of"), {tr("All stages"), tr("Stage 0"), tr("Critical path")},
                                     top);
  time_scope_->setObjectName(QStringLiteral("whose_time"));
  row->addWidget(time_scope_);
  auto* save = new QPushButton(tr("Save"), top);
  save->setAccessibleName(tr("Save the timeline"));
  save_menu_ = new SaveMenu([this] { return picture(); }, session_, save);
  save->setMenu(save_menu_);
  save->setMinimumWidth(74);
  row->addWidget(save);
  return top;
}

QWidget* TimelineView::makeTools() {
  auto* tools = new QWidget(this);
  auto* row = new QHBoxLayout(tools);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  search_field_ = new SearchField({tr("Microbatch, op, collective"), tr("Search")}, tools);
  search_field_->setObjectName(QStringLiteral("timeline_search"));
  search_field_->setAccessibleName(tr("Search in the timeline"));
  search_field_->setToolTip(
      tr("\"9\" or \"microbatch 9\", \"stage 3 backward\", \"all-gather\", \"attention\"\n%1")
          .arg(search_field_->toolTip()));
  search_field_->setMinimumWidth(150);
  search_field_->setMaximumWidth(320);
  connect(search_field_, &SearchField::searched, this, &TimelineView::search);
  connect(search_field_, &SearchField::entered, this, [this](int match) {
    const ItemRef ref = found_[static_cast<size_t>(match)];
    canvas_->select(ref);
    canvas_->reveal(ref);
    applyHighlight();
  });
  connect(search_field_, &SearchField::left, this, [this] { canvas_->setFocus(Qt::OtherFocusReason); });
  row->addWidget(search_field_, 2);
  row->addStretch(1);
  rows_ = new SegmentedControl(tr("Rows of each design"), {tr("All rows"), tr("One row")}, tools);
  rows_->setObjectName(QStringLiteral("timeline_rows"));
  rows_->setToolTip(
      tr("All stages of every design, or the selected stage of the current design with the stages at the "
         "same relative place of the other pipelines"));
  connect(rows_, &SegmentedControl::chosen, this, [this] {
    rows_chosen_ = true;
    showRows();
  });
  rows_->hide();
  row->addWidget(rows_);
  critical_ = new QPushButton(tr("Highlight path"), tools);
  critical_->setObjectName(QStringLiteral("critical_path"));
  critical_->setCheckable(true);
  critical_->setToolTip(
      tr("Highlights the critical path: the longest path through the step, which sets the step time"));
  connect(critical_, &QPushButton::toggled, this, [this](bool on) { canvas_->setCritical(on); });
  row->addWidget(critical_);
  const auto add = [&](const QString& text, const QString& name, const QString& tip, auto action) {
    auto* button = new QPushButton(text, tools);
    button->setObjectName(name);
    button->setAccessibleName(tip);
    button->setToolTip(tip);
    button->setProperty("narrow", text.size() == 1);
    connect(button, &QPushButton::clicked, this, action);
    row->addWidget(button);
  };
  add(QString(QChar(0x2212)), QStringLiteral("timeline_zoom_out"), tr("Zoom out (-)"), [this] { zoomOut(); });
  add(QStringLiteral("+"), QStringLiteral("timeline_zoom_in"), tr("Zoom in (+)"), [this] { zoomIn(); });
  add(tr("Fit"), QStringLiteral("timeline_fit"), tr("The whole step (0)"), [this] { fit(); });
  return tools;
}

void TimelineView::zoomIn() { canvas_->zoomBy(1.5); }
void TimelineView::zoomOut() { canvas_->zoomBy(1 / 1.5); }
void TimelineView::fit() { canvas_->fit(); }

void TimelineView::activateSearch() { search_field_->activate(); }

// An invisible timeline is not updated.
// Bookmarks are kept as parts of the step, so that they keep their places in a step of another length.
void TimelineView::showBookmarks() {
  std::vector<double> seconds;
  for (const double part : pages_->pages().bookmarks) seconds.push_back(part * canvas_->stepSeconds());
  if (canvas_->stepSeconds() > 0 && !keeping_) canvas_->setBookmarks(std::move(seconds));
}

void TimelineView::keepBookmarks() {
  std::vector<double> parts;
  for (const double seconds : canvas_->bookmarks()) parts.push_back(seconds / canvas_->stepSeconds());
  const QScopedValueRollback<bool> guard(keeping_, true);
  pages_->setBookmarks(std::move(parts));
}

void TimelineView::refresh() {
  fade();
  if (!isVisible()) return;
  comparison_.show(0);
  if (session_->estimate() == estimate_) return;
  estimate_ = session_->estimate();
  lanes_ = estimate_ && estimate_->simulation ? std::make_shared<const Lanes>(estimate_->simulation)
                                              : nullptr;
  if (!lanes_ && estimate_) canvas_->setMessage(QString::fromStdString(estimate_->no_time_reason));
  canvas_->setEstimate(lanes_ ? estimate_ : nullptr, lanes_);
  showBookmarks();
  heading_->setText(lanes_ ? tr("Where %1 go").arg(seconds_text(lanes_->simulation().step_seconds))
                           : tr("Where the time goes"));
  filled_stage_ = -1;
  selection_highlight_ = {};
  if (shown_ == Shown::Box || shown_ == Shown::Range) shown_ = Shown::Step;
  canvas_->setSelected({});
  followStage();
  if (!lanes_) search();  // clears the matches
  placeComparedDesigns();
  showSharedSelection();
  explain();
}

void TimelineView::placeComparedDesigns() {
  if (!isVisible() || !lanes_) return;
  const QStringList names = session_->comparisons()->distinguishingNames(session_->design());
  std::vector<GanttStep> steps;
  for (const auto& one : comparison_.all()) {
    const QString& name = session_->comparisons()->all()[static_cast<size_t>(one.member - 1)].name;
    steps.push_back({one.member, names[one.member].isEmpty() ? name : names[one.member], one.design.report,
                     one.result, -1});
  }
  canvas_->setComparedDesigns(names[0].isEmpty() ? Comparisons::nameOf(session_->design()) : names[0],
                              std::move(steps));
  if (selection_highlight_.items)
    selection_highlight_ = estimate_->report == session_->report()
                               ? selectionHighlight()
                               : TimelineHighlight{};  // highlight in the current steps
  if (shown_ == Shown::Box && !canvas_->selected().valid())
    showSharedSelection();  // the selected box's design may have been unpinned
  showRows();
  fillTable();
  search();
  explain();
}

void TimelineView::showRows() {
  const GanttSteps& steps = canvas_->steps();
  const auto add = [](size_t sum, const GanttStep& step) {
    return sum + static_cast<size_t>(step.lanes->stages());
  };
  const size_t rows = std::accumulate(steps.begin(), steps.end(), size_t{0}, add);
  const bool choice = steps.size() > 1 && rows > steps.size();
  if (!rows_chosen_) rows_->setCurrent(rows > kFewRows ? OneStage : EveryStage);
  rows_->setVisible(choice);
  canvas_->setOnly(choice && rows_->current() == OneStage ? state_->stage() : -1);
}

void TimelineView::fade() {
  setDimmed(canvas_, staleness_->stale() && session_->current());  // else the notice dims the whole view
}

void TimelineView::followStage() {
  if (!isVisible()) return;
  if (filled_stage_ == state_->stage()) return;
  filled_stage_ = state_->stage();
  if (auto* button = time_scope_->findChildren<QPushButton*>().value(ThisStage))
    button->setText(tr("Stage %1").arg(filled_stage_));
  showRows();
  fillBreakdown();
  fillTable();
  if (state_->selection().kind == SelectionKind::Time)
    showSharedSelection();  // other rows of the table belong to the category
}

void TimelineView::fillBreakdown() {
  if (!lanes_) return breakdown_->setSeconds({}, 0);
  const auto seconds_of = [this](const Simulation& simulation) {
    std::array<double, kTimeCategoryCount> sum{};
    if (time_scope_->current() == CriticalPath) return simulation.critical_seconds;
    const int stage = Comparisons::sameStagePlace(state_->stage(), lanes_->stages(),
                                                  static_cast<int>(simulation.stages.size()));
    if (time_scope_->current() == ThisStage) return simulation.stages[static_cast<size_t>(stage)].seconds;
    for (const StageTimes& of : simulation.stages)
      for (size_t c = 0; c < sum.size(); ++c)
        sum[c] += of.seconds[c] / static_cast<double>(simulation.stages.size());
    return sum;
  };
  breakdown_->setSeconds(seconds_of(lanes_->simulation()), lanes_->simulation().step_seconds);
  std::vector<BreakdownBar::OtherDesign> others;
  const std::vector<PinnedDesign>& pinned = session_->comparisons()->all();
  for (size_t i = 0; i < pinned.size(); ++i)
    if (const auto& simulation = pinned[i].result.simulation)
      others.push_back({static_cast<int>(i) + 1, seconds_of(*simulation), simulation->step_seconds});
  breakdown_->setComparedDesigns(std::move(others));
}

void TimelineView::fillTable() {
  std::vector<SpansModel::OtherDesign> others;
  for (const GanttStep& step : canvas_->steps())
    if (step.member > 0) others.push_back({step.member, step.lanes});
  model_->setLanes(lanes_, filled_stage_, others);
  if (lanes_ && filled_stage_ < lanes_->stages()) {
    const StageTimes& stage = lanes_->simulation().stages[static_cast<size_t>(filled_stage_)];
    caption_->setText(tr("Stage %1: %2 of communication (%3 exposed), %4 of bubble")
                          .arg(filled_stage_)
                          .arg(seconds_text(stage.communication), seconds_text(stage.exposed),
                               seconds_text(stage.seconds[static_cast<size_t>(TimeCategory::Bubble)])));
  } else {
    caption_->setText({});
  }
  markRows();
  fitTable();
}

void TimelineView::fitTable() {
  const int most = std::max(kLeastTable, static_cast<int>(height() * kTableShare));
  table_->setFixedHeight(std::max(kLeastTable, table_->heightUpTo(most)));
}

TimelineHighlight TimelineView::selectionHighlight() const {
  return combinedHighlight(canvas_->steps(), [&](const GanttStep& step) {
    return highlightOf(resolvedSelectionIn(step), step.lanes);
  });
}

void TimelineView::search() {
  searched_ = lanes_ ? combinedHighlight(canvas_->steps(),
                                         [&](const GanttStep& step) {
                                           return search_timeline(step.report, step.lanes,
                                                                  search_field_->text());
                                         })
                     : TimelineHighlight{};
  found_ = lanes_ ? matches(*lanes_, searched_) : std::vector<ItemRef>();
  search_field_->setMatches(static_cast<int>(found_.size()));
  applyHighlight();
}

void TimelineView::applyHighlight() {
  const TimelineHighlight& of = searched_.items || !search_field_->text().trimmed().isEmpty()
                                    ? searched_
                                    : selection_highlight_;
  canvas_->setHighlight(of.items, of.ops);
}

Picture TimelineView::picture() const {
  Picture picture;
  picture.title = lanes_ ? heading_->text() : tr("Timeline");
  picture.file_name = slug(QString::fromStdString(session_->design().model.preset)) +
                      QStringLiteral("-timeline");
  picture.size = QSize(canvas_->width(), canvas_->height() + breakdown_->height() + 70)
                     .expandedTo(kLeastPicture);
  picture.paint = titled(heading_->text(),
                         [this](QPainter& painter, const QRectF& area, const QColor& ground) {
                           constexpr double kGap = 14;
                           const double height = breakdown_->fullHeight(area.width());
                           breakdown_->paint(painter, area, ground);
                           canvas_->paint(painter, area.adjusted(0, height + kGap, 0, 0), ground);
                         });
  if (!lanes_) return picture;
  picture.csv = [this] {
    SpansModel all;
    all.setLanes(lanes_, SpansModel::kAllStages);
    return csv_text(all);
  };
  picture.trace = [this] { return trace(); };
  return picture;
}

QByteArray TimelineView::trace() const {
  const Estimate* estimate = session_->estimate().get();
  if (!estimate || !estimate->simulation) return {};
  return QByteArray::fromStdString(
      timeline_file(estimate->report, estimate->simulation, session_->design().model.preset).json);
}

void TimelineView::paintEvent(QPaintEvent*) {
  QPainter(this).fillRect(rect(), Theme::instance().colors().ground);
}

void TimelineView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
  followStage();
  placeComparedDesigns();
  fitTable();
  if (event->spontaneous()) return;
  showSharedSelection();
  explain();
}

void TimelineView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitTable();
}

}  // namespace shardscape::ui
