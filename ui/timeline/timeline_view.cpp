#include "ui/timeline/timeline_view.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QShowEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "simulate/timeline_json.h"
#include "ui/charts/chart_notice.h"
#include "ui/charts/save_menu.h"
#include "ui/dialogs/export_target.h"
#include "ui/graph_view/inspect.h"
#include "ui/graph_view/segments.h"
#include "ui/state/comparisons.h"
#include "ui/state/relations.h"
#include "ui/state/staleness.h"
#include "ui/theme/theme.h"
#include "ui/timeline/breakdown_bar.h"
#include "ui/timeline/counterpart.h"
#include "ui/timeline/gantt_canvas.h"
#include "ui/timeline/span_text.h"
#include "ui/timeline/spans_model.h"
#include "ui/widgets/chart_table.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/search_field.h"

namespace shardscape::ui {
namespace {

constexpr double kTableShare = 0.2;  // of the view's height, at most
constexpr int kLeastTable = 84;
constexpr QSize kLeastPicture(960, 540);
constexpr int kFewRows = 8;          // of stages of all designs: these are all shown at first
enum Whose { AllStages, ThisStage, CriticalPath };
enum Rows { EveryStage, OneStage };

// What stands out in each of the steps, each asked for its own; nothing in one that has nothing of it.
template <typename Of>
StandsOut everywhere(const GanttSteps& steps, const Of& of) {
  std::map<int, StandsOut> each;
  for (const GanttStep& step : steps) each[step.member] = of(step);
  const auto any = [&](const auto& has) { return std::any_of(each.begin(), each.end(), [&](const auto& one) { return has(one.second); }); };
  const auto parts = std::make_shared<const std::map<int, StandsOut>>(each);
  StandsOut out;
  if (any([](const StandsOut& one) { return bool(one.items); }))
    out.items = [parts](const ItemRef& ref) {
      const auto it = parts->find(ref.member);
      return it != parts->end() && it->second.items && it->second.items(ref);
    };
  if (any([](const StandsOut& one) { return bool(one.ops); }))
    out.ops = [parts](int member, int segment, int op, int layer) {
      const auto it = parts->find(member);
      return it != parts->end() && it->second.ops && it->second.ops(member, segment, op, layer);
    };
  return out;
}

}  // namespace

TimelineView::TimelineView(Session* session, QWidget* parent)
    : QWidget(parent), session_(session),
      beside_(session->comparisons(), this, [](const ComparedDesign& of, int, std::stop_token) { return std::make_shared<const Lanes>(of.simulation); },
              [this] { placeBeside(); }) {
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
  table_->setAccessibleName(tr("Table: spans of the picked stage"));
  model_ = new SpansModel(this);
  table_->setTable(model_, {SpansModel::Stage});
  layout->addWidget(table_);
  new ChartNotice(session_, this);

  staleness_ = new Staleness(session_, Staleness::Of::Estimate, this);
  connect(staleness_, &Staleness::changed, this, &TimelineView::fade);
  connect(session_, &Session::estimateChanged, this, &TimelineView::refresh);
  connect(session_, &Session::reportChanged, this, &TimelineView::fade);
  connect(session_, &Session::stageChanged, this, &TimelineView::followStage);
  connect(session_, &Session::pickChanged, this, &TimelineView::followPick);
  connect(session_, &Session::unitsChanged, this, [this] {
    if (isVisible()) explain();
  });
  connect(canvas_, &GanttCanvas::picked, this, &TimelineView::pickBox);
  connect(canvas_, &GanttCanvas::cleared, this, [this] {
    session_->setPick({}, this);
    showPick();
  });
  connect(canvas_, &GanttCanvas::searchRequested, this, &TimelineView::activateSearch);
  connect(breakdown_, &BreakdownBar::picked, this, [this](int category) {
    Pick pick;
    pick.kind = PickKind::Time;
    pick.time = static_cast<TimeCategory>(category);
    session_->setPick(pick, this);
    showPick();
  });
  connect(canvas_, &GanttCanvas::pickedBeside, this, &TimelineView::pickBesideBox);
  connect(whose_, &Segments::chosen, this, &TimelineView::fillBreakdown);
  connect(session_->comparisons(), &Comparisons::changed, this, &TimelineView::fillBreakdown);
  connect(table_, &ChartTable::rowPicked, this, &TimelineView::pickRow);
  const auto restyle = [this] { caption_->setInk(Theme::instance().colors().secondary); };
  connect(&Theme::instance(), &Theme::changed, this, restyle);
  restyle();
  canvas_->setMessage(tr("The step is being played."));
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
  whose_ = new Segments(tr("Whose time"), {tr("All stages"), tr("Stage 0"), tr("Critical path")}, top);
  whose_->setObjectName(QStringLiteral("whose_time"));
  row->addWidget(whose_);
  auto* save = new QPushButton(tr("Save"), top);
  save->setAccessibleName(tr("Save the timeline"));
  save_menu_ = new SaveMenu([this] { return picture(); }, save);
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
  search_field_->setToolTip(tr("\"9\" or \"microbatch 9\", \"stage 3 backward\", \"all-gather\", \"attention\"\n%1").arg(search_field_->toolTip()));
  search_field_->setMinimumWidth(150);
  search_field_->setMaximumWidth(320);
  connect(search_field_, &SearchField::searched, this, &TimelineView::search);
  connect(search_field_, &SearchField::entered, this, [this](int match) {
    const ItemRef ref = found_[static_cast<size_t>(match)];
    canvas_->select(ref);
    canvas_->reveal(ref);
    applyStandsOut();
  });
  connect(search_field_, &SearchField::left, this, [this] { canvas_->setFocus(Qt::OtherFocusReason); });
  row->addWidget(search_field_, 2);
  row->addStretch(1);
  rows_ = new Segments(tr("Rows of each design"), {tr("All stages"), tr("One stage")}, tools);
  rows_->setObjectName(QStringLiteral("timeline_rows"));
  rows_->setToolTip(tr("All stages of every design, or the picked stage of the present one above those in the same place of the other pipelines"));
  connect(rows_, &Segments::chosen, this, [this] {
    rows_chosen_ = true;
    showRows();
  });
  rows_->hide();
  row->addWidget(rows_);
  critical_ = new QPushButton(tr("Highlight critical path"), tools);
  critical_->setObjectName(QStringLiteral("critical_path"));
  critical_->setCheckable(true);
  critical_->setToolTip(tr("What the step waits for: the longest path through it stands out"));
  connect(critical_, &QPushButton::toggled, this, [this](bool on) { canvas_->setCritical(on); });
  row->addWidget(critical_);
  const auto add = [&](const QString& text, const QString& name, const QString& tip, auto action) {
    auto* button = new QPushButton(text, tools);
    button->setObjectName(name);
    button->setAccessibleName(tip);
    button->setToolTip(tip);
    if (text.size() == 1) button->setStyleSheet(QStringLiteral("QPushButton { padding: 0; min-width: 28px; max-width: 28px; }"));
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

// A timeline that nobody looks at is not laid out.
void TimelineView::refresh() {
  fade();
  if (!isVisible()) return;
  beside_.show(0);
  if (session_->estimate() == estimate_) return;
  estimate_ = session_->estimate();
  lanes_ = estimate_ && estimate_->simulation ? std::make_shared<const Lanes>(estimate_->simulation) : nullptr;
  if (!lanes_ && estimate_) canvas_->setMessage(QString::fromStdString(estimate_->why_no_time));
  canvas_->setEstimate(lanes_ ? estimate_ : nullptr, lanes_);
  heading_->setText(lanes_ ? tr("Where %1 go").arg(seconds_text(lanes_->simulation().step_seconds)) : tr("Where the time goes"));
  filled_stage_ = -1;
  linked_ = {};
  if (shown_ == Shown::Box) shown_ = Shown::Step;
  canvas_->setSelected({});
  followStage();
  if (!lanes_) search();  // finds nothing
  placeBeside();
  showPick();
  explain();
}

void TimelineView::placeBeside() {
  if (!isVisible() || !lanes_) return;
  const QStringList apart = session_->comparisons()->namesApart(session_->design());
  std::vector<GanttStep> steps;
  for (const auto& one : beside_.all()) {
    const QString& name = session_->comparisons()->all()[static_cast<size_t>(one.member - 1)].name;
    steps.push_back({one.member, apart[one.member].isEmpty() ? name : apart[one.member], one.design.report, one.made, -1});
  }
  canvas_->setBeside(apart[0].isEmpty() ? Comparisons::nameOf(session_->design()) : apart[0], std::move(steps));
  if (linked_.items) linked_ = estimate_->report == session_->report() ? linked() : StandsOut{};  // of the steps that there are now
  if (shown_ == Shown::Box && !canvas_->selected().valid()) showPick();  // it was a box of a design that may have gone
  showRows();
  fillTable();
  search();
  explain();
}

void TimelineView::showRows() {
  const GanttSteps& steps = canvas_->steps();
  const auto add = [](size_t sum, const GanttStep& step) { return sum + static_cast<size_t>(step.lanes->stages()); };
  const size_t rows = std::accumulate(steps.begin(), steps.end(), size_t{0}, add);
  const bool choice = steps.size() > 1 && rows > steps.size();
  if (!rows_chosen_) rows_->setCurrent(rows > kFewRows ? OneStage : EveryStage);
  rows_->setVisible(choice);
  canvas_->setOnly(choice && rows_->current() == OneStage ? session_->stage() : -1);
}

void TimelineView::fade() {
  canvas_->setDimmed(staleness_->stale() && session_->current());  // else the notice dims all of the view
}

void TimelineView::followStage() {
  if (!isVisible()) return;
  if (filled_stage_ == session_->stage()) return;
  filled_stage_ = session_->stage();
  if (auto* button = whose_->findChildren<QPushButton*>().value(ThisStage)) button->setText(tr("Stage %1").arg(filled_stage_));
  showRows();
  fillBreakdown();
  fillTable();
  if (session_->pick().kind == PickKind::Time) showPick();  // its rows are others
}

void TimelineView::fillBreakdown() {
  if (!lanes_) return breakdown_->setSeconds({}, 0);
  const auto seconds_of = [this](const Simulation& simulation) {
    std::array<double, kTimeCategoryCount> sum{};
    if (whose_->current() == CriticalPath) return simulation.critical_seconds;
    const int stage = Comparisons::counterpart(session_->stage(), lanes_->stages(), static_cast<int>(simulation.stages.size()));
    if (whose_->current() == ThisStage) return simulation.stages[static_cast<size_t>(stage)].seconds;
    for (const StageTimes& of : simulation.stages)
      for (size_t c = 0; c < sum.size(); ++c) sum[c] += of.seconds[c] / static_cast<double>(simulation.stages.size());
    return sum;
  };
  breakdown_->setSeconds(seconds_of(lanes_->simulation()), lanes_->simulation().step_seconds);
  std::vector<BreakdownBar::Beside> beside;
  const std::vector<PinnedDesign>& pinned = session_->comparisons()->all();
  for (size_t i = 0; i < pinned.size(); ++i)
    if (const auto& simulation = pinned[i].made.simulation) beside.push_back({static_cast<int>(i) + 1, seconds_of(*simulation), simulation->step_seconds});
  breakdown_->setBeside(std::move(beside));
}

void TimelineView::fillTable() {
  std::vector<SpansModel::Beside> beside;
  for (const GanttStep& step : canvas_->steps())
    if (step.member > 0) beside.push_back({step.member, step.lanes});
  model_->setLanes(lanes_, filled_stage_, beside);
  if (lanes_ && filled_stage_ < lanes_->stages()) {
    const StageTimes& stage = lanes_->simulation().stages[static_cast<size_t>(filled_stage_)];
    caption_->setText(tr("Stage %1: %2 of communication, %3 of it exposed, %4 of bubble")
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

void TimelineView::pickBox(int stage, int span, int op) {
  shown_ = Shown::Box;
  Pick pick;
  pick.kind = PickKind::Span;
  pick.stage = stage;
  pick.span = span;
  const ItemRef ref = lanes_->of_span(stage, span);
  if (const auto ops = canvas_->opsShown(ref); op >= 0 && op < static_cast<int>(ops.size())) {
    pick.kind = PickKind::Op;
    pick.unit = unit_of(*estimate_->report, ops[static_cast<size_t>(op)].segment, ops[static_cast<size_t>(op)].layer);
    pick.op = ops[static_cast<size_t>(op)].op;
    pick.kernel = true;
  }
  // While the next step is played, boxes are of the one before: its places are other things in the graph of today.
  if (estimate_->report == session_->report()) session_->setPick(pick, this);
  linked_ = {};
  applyStandsOut();
  markBreakdown();
  markRows();
  explain();
}

// Of another design: the same of the present one is selected, in all views.
void TimelineView::pickBesideBox() {
  shown_ = Shown::Box;
  linked_ = {};
  const ItemRef ref = canvas_->selected();
  const auto same = std::find_if(canvas_->alike().begin(), canvas_->alike().end(), [](const ItemRef& one) { return one.member == 0; });
  const ItemRef here = same == canvas_->alike().end() ? ItemRef() : *same;
  if (estimate_->report == session_->report()) session_->setPick(pickOfBeside(ref, here), this);
  applyStandsOut();
  markBreakdown();
  markRows();
  explain();
}

Pick TimelineView::pickOfBeside(const ItemRef& ref, const ItemRef& here) const {
  Pick pick;
  const GanttStep& step = canvas_->stepOf(ref);
  const auto ops = canvas_->opsShown(ref);
  if (const int op = canvas_->selectedOp(); op >= 0 && op < static_cast<int>(ops.size())) {
    pick.kind = PickKind::Op;
    pick.stage = ref.stage;
    pick.unit = unit_of(*step.report, ops[static_cast<size_t>(op)].segment, ops[static_cast<size_t>(op)].layer);
    pick.op = ops[static_cast<size_t>(op)].op;
    pick.kernel = true;
    return pick_beside(pick, {step.report.get(), nullptr}, {session_->report().get(), nullptr}, session_->stage());
  }
  if (!here.valid()) return pick;
  pick.kind = PickKind::Span;
  pick.stage = here.stage;
  pick.span = lanes_->span_index(here);
  return pick;
}

void TimelineView::pickRow(int row) {
  const ItemRef ref = model_->at(row);
  canvas_->select(ref);
  canvas_->reveal(ref);
}

void TimelineView::followPick(const QObject* by) {
  if (by != this && isVisible()) showPick();
}

// What is selected, here or elsewhere.
void TimelineView::showPick() {
  const Pick& pick = session_->pick();
  if (!lanes_ || estimate_->report != session_->report()) return;
  markBreakdown();
  if (pick.kind == PickKind::Span) {
    const ItemRef ref = lanes_->of_span(pick.stage, pick.span);
    if (!ref.valid()) return;
    linked_ = {};
    shown_ = Shown::Box;
    canvas_->setSelected(ref);
    canvas_->reveal(ref);
    markRows();
    applyStandsOut();
    explain();
    return;
  }
  if (pick.kind == PickKind::Op && pick.span >= 0 && canvas_->selected().valid()) return;  // made here
  linked_ = linked();
  canvas_->setSelected({});
  shown_ = pick.kind == PickKind::Time ? Shown::Category : Shown::Step;
  applyStandsOut();
  markRows();
  explain();
}

// The row of the selected box, or of the same one of the present design; or all that belong to what is selected elsewhere.
void TimelineView::markRows() {
  if (const ItemRef& box = canvas_->selected(); box.valid()) {
    const auto same = std::find_if(canvas_->alike().begin(), canvas_->alike().end(), [](const ItemRef& one) { return one.member == 0; });
    const ItemRef here = box.member == 0 ? box : same == canvas_->alike().end() ? ItemRef() : *same;
    return table_->showRow(here.valid() ? model_->rowOf(here) : -1);
  }
  std::vector<int> rows;
  const int all = model_->rowCount();
  for (int row = 0; linked_.items && row < all; ++row)
    if (linked_.items(model_->at(row))) rows.push_back(row);
  table_->showRow(-1, static_cast<int>(rows.size()) < all ? rows : std::vector<int>());
}

StandsOut TimelineView::linked() const {
  return everywhere(canvas_->steps(), [&](const GanttStep& step) { return stands_out_for(pickedIn(step), step.lanes); });
}

// The same in a design that stands below: of its stage in the same place, nodes of the graph in the same layer.
std::shared_ptr<const Picked> TimelineView::pickedIn(const GanttStep& step) const {
  if (step.member == 0) return session_->sharedPicked();
  auto estimate = std::make_shared<Estimate>();
  estimate->report = step.report;
  estimate->simulation = step.lanes->shared_simulation();
  const int stage = Comparisons::counterpart(session_->pick().stage, lanes_->stages(), step.lanes->stages());
  const Pick there = pick_beside(session_->pick(), {estimate_->report.get(), estimate_->simulation.get()}, {step.report.get(), estimate->simulation.get()}, stage);
  return std::make_shared<const Picked>(there, step.report, std::move(estimate));
}

void TimelineView::markBreakdown() {
  const Picked& picked = session_->picked();
  category_ = picked.pick().kind == PickKind::Time ? static_cast<int>(picked.pick().time) : -1;
  std::vector<int> marked;
  for (int c = 0; c < kTimeCategoryCount; ++c)
    if (picked.time(static_cast<TimeCategory>(c))) marked.push_back(c);
  breakdown_->setSelected(category_);
  breakdown_->setMarked(std::move(marked));
}

void TimelineView::search() {
  searched_ = lanes_ ? everywhere(canvas_->steps(), [&](const GanttStep& step) { return search_timeline(step.report, step.lanes, search_field_->text()); }) : StandsOut{};
  found_ = lanes_ ? matches(*lanes_, searched_) : std::vector<ItemRef>();
  search_field_->setMatches(static_cast<int>(found_.size()));
  applyStandsOut();
}

void TimelineView::applyStandsOut() {
  const StandsOut& of = searched_.items || !search_field_->text().trimmed().isEmpty() ? searched_ : linked_;
  canvas_->setStandsOut(of.items, of.ops);
}

// What the other designs have in the place of a box.
void TimelineView::addBeside(Inspection& to, const ItemRef& ref) const {
  if (canvas_->steps().size() < 2) return;
  const Lanes& lanes = *canvas_->stepOf(ref).lanes;
  to.title = tr("%1: %2").arg(Comparisons::letter(ref.member), to.title);
  to.more_title = tr("The same in the other designs");
  for (const GanttStep& step : canvas_->steps())
    if (step.member != ref.member) to.more.append({Comparisons::letter(step.member), beside_text(lanes, ref, *step.lanes, canvas_->counterpart(ref, step))});
  if (ref.member == 0) return;
  // Links lead into the present design.
  for (const InspectedLink& link : std::exchange(to.links, {})) to.rows.append({link.label, link.text});
}

Inspection TimelineView::inspectSelected() const {
  const ItemRef& ref = canvas_->selected();
  const GanttStep& step = canvas_->stepOf(ref);
  const Report& report = *step.report;
  Inspection box = inspect_item(report, *step.lanes, canvas_->detail(ref.member), ref, session_->units());
  const auto ops = canvas_->opsShown(ref);
  const int op = canvas_->selectedOp();
  if (op < 0 || op >= static_cast<int>(ops.size())) {
    addBeside(box, ref);
    return box;
  }
  const PlacedOp& of = ops[static_cast<size_t>(op)];
  const Outline outline(step.report);
  Inspection out = inspect_node(outline, outline.op_node(unit_of(report, of.segment, of.layer), of.op, ref.stage), 1, Passes::Both, session_->units());
  out.title = placed_op_title(report, of);
  QVector<QPair<QString, QString>> times{{tr("starts"), seconds_text(of.begin)}, {tr("takes"), seconds_text(of.end - of.begin)},
                                         {tr("in"), item_title(*step.lanes, ref).toLower()}};
  if (is_collective(outline.segment(of.segment).op(of.op).kind)) times.append({tr("exposed"), seconds_text(of.end - of.begin)});
  out.rows = times + out.rows;
  if (ref.member == 0) {
    Pick up;
    up.kind = PickKind::Span;
    up.stage = ref.stage;
    up.span = lanes_->span_index(ref);
    out.links = {{tr("part of"), box.title, up}};
  }
  addBeside(out, ref);
  return out;
}

void TimelineView::explain() {
  if (!isVisible()) return;
  if (!lanes_) return session_->inspect({});
  if (shown_ == Shown::Box && canvas_->selected().valid()) return session_->inspect(inspectSelected());
  const GanttSteps& steps = canvas_->steps();
  if (shown_ == Shown::Category && category_ >= 0) {
    Inspection out = inspect_category(lanes_->simulation(), static_cast<TimeCategory>(category_));
    if (steps.size() > 1) out.more_title = tr("The same in the other designs");
    for (const GanttStep& step : steps)
      if (step.member > 0) out.more.append({Comparisons::letter(step.member), category_text(step.lanes->simulation(), static_cast<TimeCategory>(category_))});
    return session_->inspect(out);
  }
  Inspection out = inspect_step(lanes_->simulation());
  for (const GanttStep& step : steps)
    if (step.member > 0) out.rows.append({tr("step of %1").arg(Comparisons::letter(step.member)), step_beside_text(lanes_->simulation(), step.lanes->simulation())});
  session_->inspect(out);
}

Picture TimelineView::picture() const {
  Picture picture;
  picture.title = lanes_ ? heading_->text() : tr("Timeline");
  picture.file_name = slug(QString::fromStdString(session_->design().model.preset)) + QStringLiteral("-timeline");
  picture.size = QSize(canvas_->width(), canvas_->height() + breakdown_->height() + 70).expandedTo(kLeastPicture);
  picture.paint = titled(heading_->text(), [this](QPainter& painter, const QRectF& area, const QColor& ground) {
    constexpr double kGap = 14;
    const double height = breakdown_->paint(&painter, QRectF(area.left(), area.top(), area.width(), 0), ground);
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
  return QByteArray::fromStdString(timeline_file(estimate->report, estimate->simulation, session_->design().model.preset).json);
}

void TimelineView::paintEvent(QPaintEvent*) { QPainter(this).fillRect(rect(), Theme::instance().colors().ground); }

void TimelineView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
  followStage();
  placeBeside();
  fitTable();
  if (event->spontaneous()) return;
  showPick();
  explain();
}

void TimelineView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitTable();
}

}  // namespace shardscape::ui
