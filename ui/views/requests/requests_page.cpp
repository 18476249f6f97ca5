#include "ui/views/requests/requests_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "report/service_report.h"
#include "ui/plot/chart_table.h"
#include "ui/selection/selection_state.h"
#include "ui/session/comparisons.h"
#include "ui/session/page_settings.h"
#include "ui/session/session.h"
#include "ui/session/staleness.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/file_slug.h"
#include "ui/toolkit/flow_layout.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/page_splitter.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"
#include "ui/views/requests/bar_list.h"
#include "ui/views/requests/effects_panel.h"
#include "ui/views/requests/fleet_panel.h"
#include "ui/views/requests/latency_chart.h"
#include "ui/views/requests/latency_model.h"
#include "ui/views/requests/pinned_runs.h"
#include "ui/views/requests/rate_chart.h"
#include "ui/views/requests/rates_model.h"
#include "ui/views/requests/request_inspection.h"
#include "ui/views/requests/request_timeline.h"
#include "ui/views/requests/service_comparison_model.h"
#include "ui/views/requests/service_figures.h"
#include "ui/views/requests/spec_editor.h"
#include "ui/views/requests/workload_chart.h"

namespace shardscape::ui {
namespace {

constexpr int kPatienceMs = 150;
constexpr double kTableShare = 0.4;  // the most of the page's height
constexpr int kLeastTable = 118;
constexpr int kLowPage = 460, kLeastOfLowPage = 74;  // pixels: low pages leave more room for the picture
constexpr double kLowShare = 0.2;
constexpr int kRoomForBoth = 560;  // pixels: narrower pages show the settings on demand

}  // namespace

RequestsPage::RequestsPage(SelectionState* state, QWidget* parent, PageSettings* pages)
    : ViewPage(parent),
      state_(state),
      session_(state->session()),
      pages_(pages ? pages : new PageSettings(this)),
      pinned_(new PinnedRuns(session_, &cache_, this)),
      editor_(new SpecEditor(this)) {
  setObjectName(QStringLiteral("requests_page"));
  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(6);
  rows->addWidget(makeTools());
  issue_ = new IssueLine(this);
  issue_->setVisible(false);
  rows->addWidget(issue_);
  auto* columns = new QHBoxLayout;
  columns->setSpacing(8);
  columns->addWidget(editor_);
  results_ = makeResults();
  columns->addWidget(results_, 1);
  fleet_ = new FleetPanel(session_, pages_, this);
  effects_ = new EffectsPanel(session_, pages_, this);
  for (AnswerPanel* panel : std::initializer_list<AnswerPanel*>{fleet_, effects_}) {
    panel->setVisible(false);
    columns->addWidget(panel, 1);
    connect(panel, &AnswerPanel::settingRefused, editor_,
            [this](const Problem& problem) { editor_->showProblem(&problem); });
    connect(panel, &AnswerPanel::settingRequested, editor_,
            [this](const QString& id) { editor_->focusField(id.toStdString()); });
  }
  rows->addLayout(columns, 1);
  dim_delay_.setSingleShot(true);
  dim_delay_.setInterval(kPatienceMs);
  connectAll();
  followSettings();
  fill();
}

QStringList RequestsPage::pictureNames() {
  return {tr("Workload"), tr("Latencies"), tr("Timeline"), tr("Load"), tr("Fleet"), tr("Effects")};
}

void RequestsPage::showPicture(Shown shown) {
  switch_->setCurrent(shown);
  showState();
  explain();
}

QWidget* RequestsPage::makeTools() {
  auto* tools = new QWidget(this);
  auto* line = new FlowLayout(8, tools);
  tools->setLayout(line);
  switch_ = new SegmentedControl(tr("Picture"), pictureNames(), tools);
  switch_->setObjectName(QStringLiteral("requests_which"));
  const QString tips[] = {tr("Arrivals over time, lengths of prompts and answers"),
                          tr("Cumulative distributions of TTFT and TPOT"),
                          tr("Requests over time, above the steps and the cache of an engine"),
                          tr("Latency against the rate of arrivals"),
                          tr("How many GPUs of which kind keep the service level, and their cost"),
                          tr("What one step of each setting changes")};
  for (int i = 0; i < static_cast<int>(std::size(tips)); ++i) switch_->button(i)->setToolTip(tips[i]);
  line->addWidget(switch_);
  settings_button_ = new QPushButton(tr("Settings"), tools);
  settings_button_->setObjectName(QStringLiteral("requests_settings"));
  settings_button_->setCheckable(true);
  settings_button_->setVisible(false);
  settings_button_->setToolTip(tr("Shows the settings of the service next to the picture"));
  line->addWidget(settings_button_);
  sweep_button_ = new QPushButton(tr("Sweep the rate"), tools);
  sweep_button_->setObjectName(QStringLiteral("sweep_rates"));
  sweep_button_->setToolTip(
      tr("Simulates a dozen rates, from a tenth of the throughput to beyond it, and finds the largest rate "
         "that keeps the service level"));
  line->addWidget(sweep_button_);
  steps_button_ = new QPushButton(tr("Export steps…"), tools);
  steps_button_->setObjectName(QStringLiteral("export_steps"));
  steps_button_->setToolTip(
      tr("Writes the engine steps in the shown range of the timeline as a bundle of Chakra traces"));
  line->addWidget(steps_button_);
  pin_button_ = new QPushButton(tr("Pin"), tools);
  pin_button_->setObjectName(QStringLiteral("pin_service"));
  pin_button_->setToolTip(
      tr("Pins the current design with these settings. Its distributions, its latency against load and its "
         "figures stay next to those of later designs and settings"));
  line->addWidget(pin_button_);
  stop_button_ = new QPushButton(tools);
  stop_button_->setObjectName(QStringLiteral("requests_stop"));
  stop_button_->setProperty("link", true);
  stop_button_->setVisible(false);
  line->addWidget(stop_button_);
  return tools;
}

QWidget* RequestsPage::makeResults() {
  auto* results = new QWidget(this);
  auto* rows = new QVBoxLayout(results);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(4);
  figures_ = new ServiceFigures(results);
  rows->addWidget(figures_);
  splitter_ = new PageSplitter(QStringLiteral("requests"), results);
  stack_ = new QStackedWidget(splitter_);
  workload_ = new WorkloadChart(stack_);
  latencies_ = new LatencyChart(stack_);
  timeline_ = new RequestTimeline(stack_);
  rates_ = new RateChart(stack_);
  for (Canvas* chart : std::initializer_list<Canvas*>{workload_, latencies_, timeline_, rates_})
    stack_->addWidget(chart);
  message_ = new QLabel(stack_);
  message_->setObjectName(QStringLiteral("requests_message"));
  message_->setProperty("role", "secondary");
  message_->setAlignment(Qt::AlignCenter);
  message_->setWordWrap(true);
  stack_->addWidget(message_);
  splitter_->addWidget(stack_);
  splitter_->addWidget(makeTables());
  rows->addWidget(splitter_, 1);
  return results;
}

QWidget* RequestsPage::makeTables() {
  lower_ = new QWidget(splitter_);
  auto* rows = new QVBoxLayout(lower_);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(4);
  rows->addWidget(makeCaption());
  tables_ = new QStackedWidget(lower_);
  latency_table_ = new ChartTable(tables_);
  latency_table_->setAccessibleName(tr("Table: latencies"));
  latency_model_ = new LatencyModel(this);
  latency_table_->setTable(latency_model_);
  comparison_table_ = new ChartTable(tables_);
  comparison_table_->setAccessibleName(tr("Table: figures of the pinned designs"));
  comparison_model_ = new ServiceComparisonModel(this);
  comparison_table_->setTable(comparison_model_);
  rate_table_ = new ChartTable(tables_);
  rate_table_->setAccessibleName(tr("Table: rates"));
  rate_table_->setSelectionMode(QAbstractItemView::SingleSelection);
  rates_model_ = new RatesModel(this);
  rate_table_->setTable(rates_model_);
  for (ChartTable* table : {latency_table_, comparison_table_, rate_table_}) tables_->addWidget(table);
  rows->addWidget(tables_, 1);
  return lower_;
}

// The line below the picture, and what a person does with a selected request or step.
QWidget* RequestsPage::makeCaption() {
  auto* line = new QWidget(lower_);
  auto* row = new QHBoxLayout(line);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(6);
  caption_ = new ElidedLabel(line, Theme::instance().uiFont(12, QFont::DemiBold));
  caption_->setObjectName(QStringLiteral("requests_caption"));
  row->addWidget(caption_, 1);
  const auto button = [&](const QString& text, const char* name, const QString& tip) {
    auto* out = new QPushButton(text, line);
    out->setObjectName(QString::fromLatin1(name));
    out->setProperty("link", true);
    out->setToolTip(tip);
    row->addWidget(out);
    return out;
  };
  const QString open = tr(
      "Shows the timeline and the graph of this part of the step. The design becomes that "
      "of one engine in this step; undo returns to the service");
  step_of_request_ = button(tr("Its first step"), "step_of_request",
                            tr("Selects the step that computes the first chunk of this request (T)"));
  open_prefill_ = button(tr("Open prefill step"), "open_prefill_step", open);
  open_decode_ = button(tr("Open decode step"), "open_decode_step", open);
  return line;
}

void RequestsPage::connectAll() {
  connect(&dim_delay_, &QTimer::timeout, this, &RequestsPage::showState);
  connect(switch_, &SegmentedControl::chosen, this, [this](int shown) { showPicture(Shown(shown)); });
  connect(sweep_button_, &QPushButton::clicked, this, &RequestsPage::startSweep);
  connect(steps_button_, &QPushButton::clicked, this, &RequestsPage::requestSteps);
  connect(stop_button_, &QPushButton::clicked, this, [this] {
    if (working_ || sweeping_) return stop();
    stopped_ = false;
    refresh();
  });
  connect(settings_button_, &QPushButton::toggled, this, &RequestsPage::fitSettings);
  connect(editor_, &SpecEditor::fieldShown, settings_button_, [this] { settings_button_->setChecked(true); });
  connect(editor_, &SpecEditor::changed, this, [this] {
    pages_->setService(editor_->spec());
    refresh();
  });
  connect(pin_button_, &QPushButton::clicked, this, &RequestsPage::pin);
  connect(timeline_, &RequestTimeline::requestSelected, this, &RequestsPage::explain);
  connect(timeline_, &RequestTimeline::stepSelected, this, &RequestsPage::explain);
  connect(timeline_, &RequestTimeline::stepRequested, this, [this] {
    openStep(timeline_->selectedStep()->decode_sequences > 0 ? Mode::Decode : Mode::Prefill);
  });
  connect(step_of_request_, &QPushButton::clicked, this, [this] {
    timeline_->selectStepOfRequest();
    timeline_->setFocus();
  });
  connect(open_prefill_, &QPushButton::clicked, this, [this] { openStep(Mode::Prefill); });
  connect(open_decode_, &QPushButton::clicked, this, [this] { openStep(Mode::Decode); });
  connect(pinned_, &PinnedRuns::changed, this, &RequestsPage::showPinned);
  for (const NewestJob* job : {&job_, &sweep_job_})
    connect(job, &NewestJob::failed, this, &RequestsPage::stop);
  connect(session_->comparisons(), &Comparisons::changed, this, &RequestsPage::showPinned);
  connect(rates_, &RateChart::pointSelected, this, [this](int at) {
    rate_table_->showRow(at);
    explain();
  });
  connect(rate_table_, &ChartTable::rowSelected, this, [this](int row) {
    rates_->setSelected(row);
    explain();
  });
  connect(rates_, &RateChart::rateRequested, this, [this](double rate) {
    ServiceSpec spec = editor_->spec();
    spec.source.rate = rate;
    pages_->setService(spec);
  });
  connect(pages_, &PageSettings::changed, this, &RequestsPage::followSettings);
  connect(session_, &Session::designChanged, this, &RequestsPage::refresh);
  connect(session_, &Session::libraryChanged, this, &RequestsPage::forgetRuns);
  connect(session_, &Session::unitsChanged, this, &RequestsPage::explain);
}

// Another document, or an edit of these settings.
void RequestsPage::followSettings() {
  if (pages_->pages().service == editor_->spec()) return;
  editor_->setSpec(pages_->pages().service);
  refresh();
}

AnswerPanel* RequestsPage::answer() const {
  if (switch_->current() == Fleet) return fleet_;
  return switch_->current() == Effects ? effects_ : nullptr;
}

Canvas* RequestsPage::canvas() const {
  if (const AnswerPanel* panel = answer()) return panel->bars();
  Canvas* const all[] = {workload_, latencies_, timeline_, rates_};
  return all[switch_->current()];
}

ChartTable* RequestsPage::table() const {
  if (const AnswerPanel* panel = answer()) return panel->table();
  if (switch_->current() == Load) return rate_table_;
  return comparison_model_->rowCount() > 0 ? comparison_table_ : latency_table_;
}

void RequestsPage::showStop(bool late) {
  stop_button_->setVisible(late || sweeping_ || stopped_);
  stop_button_->setText(working_ || sweeping_ ? tr("Cancel") : tr("Compute"));
}

void RequestsPage::showState() {
  results_->setVisible(!answer());
  fleet_->setVisible(answer() == fleet_);
  effects_->setVisible(answer() == effects_);
  sweep_button_->setVisible(!answer());
  pin_button_->setVisible(!answer());
  steps_button_->setVisible(switch_->current() == Timeline && shown_);
  if (answer()) return;
  const bool load = switch_->current() == Load, late = working_ && !dim_delay_.isActive();
  const bool any = load ? sweep_ != nullptr : shown_ != nullptr;
  const bool old = load ? any && !sweepIsOf(input()) : late || stopped_ || refused_ || editor_->refused();
  QString message;
  if (load)
    message = sweeping_ ? caption() : tr("\"Sweep the rate\" computes latency against load.");
  else if (working_)
    message = tr("Computing…");
  else if (stopped_)
    message = tr("The simulation was cancelled.");
  else if (refused_)
    message = tr("The service cannot run. Fix the marked setting.");
  message_->setText(message);
  stack_->setCurrentWidget(any ? static_cast<QWidget*>(canvas()) : message_);
  tables_->setCurrentWidget(table());
  lower_->setVisible(any);
  figures_->setVisible(shown_ != nullptr);
  setDimmed(stack_, any && old);
  setDimmed(tables_, any && old);
  pin_button_->setEnabled(!session_->comparisons()->full() && !editor_->refused());
  setDimmed(figures_, shown_ && (late || stopped_ || refused_ || editor_->refused()));
  sweep_button_->setText(sweep_ && !sweepIsOf(input()) ? tr("Sweep again") : tr("Sweep the rate"));
  sweep_button_->setEnabled(!sweeping_ && !editor_->refused());
  showStop(late);
  caption_->setText(caption());
  fitTable();
}

// The largest rates within the limits, of the current design and of the pinned ones.
QString RequestsPage::kneeWords() const {
  const auto rate_of = [](const RateSweep& sweep) {
    return sweep.knee ? text_of(significant(sweep.points[*sweep.knee].rate)) : tr("none");
  };
  QString out = tr("No rate keeps the limits.");
  if (sweep_->knee)
    out = *sweep_->knee + 1 == sweep_->points.size()
              ? tr("All rates up to %1 requests/s keep the limits.").arg(rate_of(*sweep_))
              : tr("%1 requests/s is the largest rate that keeps the limits.").arg(rate_of(*sweep_));
  QStringList pinned;
  for (const RateChart::Other& other : rates_->others())
    pinned << Comparisons::letter(other.member) + u' ' + rate_of(*other.sweep);
  if (!pinned.isEmpty()) out += tr(" Pinned: %1.").arg(pinned.join(QStringLiteral(", ")));
  return out;
}

QString RequestsPage::caption() const {
  if (sweeping_) return of_ > 0 ? tr("Computing: %1 of %2 rates").arg(done_).arg(of_) : tr("Computing…");
  if (switch_->current() == Load) {
    if (!sweep_) return {};
    if (!sweepIsOf(input())) return tr("These rates are for an earlier design or earlier settings.");
    if (rates_->selected() >= 0) return rates_->summary(rates_->selected());
    if (!promised_level(sweep_->spec).any())
      return tr("Set limits in \"%1\" to see the largest rate that keeps them.")
          .arg(text_of(group_label(SettingGroup::Limits)));
    return kneeWords();
  }
  if (!shown_) return {};
  const ServiceRun& run = *shown_->run;
  if (switch_->current() == Timeline) {
    if (const auto step = timeline_->selectedStepIndex()) return step_line(run, *step);
    if (timeline_->selected() >= 0)
      return request_line(run, timeline_->waitOf(timeline_->selected()), timeline_->selected());
  }
  for (const PinnedRuns::Item& item : pinned_->all())
    if (item.problem)
      return tr("%1 cannot run: %2").arg(Comparisons::letter(item.member), text_of(item.problem->what));
  return tr("%1 answered in %2, %3 refused")
      .arg(counted_text(run.results.finished, tr("request"), tr("requests")),
           seconds_text(run.results.seconds), grouped_text(run.results.refused));
}

void RequestsPage::explain() {
  caption_->setText(caption());
  showStepButtons();
  if (!isVisible()) return;
  if (!shown_) return state_->inspect({});
  const ServiceRun& run = *shown_->run;
  const bool timeline = switch_->current() == Timeline;
  const int request = timeline ? timeline_->selected() : -1;
  if (const auto step = timeline ? timeline_->selectedStepIndex() : std::nullopt)
    return state_->inspect(inspect_engine_step(run, *step));
  state_->inspect(request >= 0 ? inspect_request(run, timeline_->waitOf(request), request)
                               : inspect_service(run, session_->units()));
}

void RequestsPage::fitTable() {
  const int least = height() < kLowPage ? kLeastOfLowPage : kLeastTable;
  const int most = std::max(least,
                            static_cast<int>(height() * (height() < kLowPage ? kLowShare : kTableShare)));
  splitter_->suggest({0, lower_->layout()->itemAt(0)->sizeHint().height() + lower_->layout()->spacing() +
                             table()->heightUpTo(most)});
}

void RequestsPage::showEvent(QShowEvent* event) {
  ViewPage::showEvent(event);
  refresh();
  explain();
}

// A hidden page computes nothing: the run that it shows stays, with what is selected in it.
void RequestsPage::hideEvent(QHideEvent* event) {
  ViewPage::hideEvent(event);
  if (!working_) return;
  job_.stop();
  working_ = false;
}

void RequestsPage::resizeEvent(QResizeEvent* event) {
  ViewPage::resizeEvent(event);
  fitSettings();
  QMetaObject::invokeMethod(this, &RequestsPage::fitTable, Qt::QueuedConnection);
}

// A narrow page has room for the settings or for the pictures.
void RequestsPage::fitSettings() {
  const bool narrow = width() < kRoomForBoth;
  settings_button_->setVisible(narrow);
  editor_->setVisible(!narrow || settings_button_->isChecked());
}

void RequestsPage::zoomBy(double factor) { canvas()->zoomBy(factor); }
void RequestsPage::fit() { canvas()->fit(); }

Picture RequestsPage::picture() const {
  if (const AnswerPanel* panel = answer()) return panel->picture();
  const QString name = text_of(session_->design().name);
  const QString titles[] = {tr("%1, workload"), tr("%1, latencies"), tr("%1, requests"),
                            tr("%1, latency against load")};
  const bool load = switch_->current() == Load;
  Picture picture = canvas()->picture(
      titles[switch_->current()].arg(name),
      slug(name) + (load ? QStringLiteral("-load") : QStringLiteral("-requests")));
  if (load && sweep_) {
    picture.csv = [sweep = sweep_] { return text_of(rates_csv(*sweep)); };
    picture.json = [sweep = sweep_] { return QByteArray::fromStdString(rates_json(*sweep)); };
  } else if (const auto run = this->run(); !load && run) {
    picture.csv = [run] { return text_of(requests_csv(*run)); };
    picture.json = [run] { return QByteArray::fromStdString(service_json(*run)); };
    picture.trace = [run] { return QByteArray::fromStdString(service_timeline(*run)); };
  }
  return picture;
}

}  // namespace shardscape::ui
