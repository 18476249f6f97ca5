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
#include "ui/session/page_settings.h"
#include "ui/session/session.h"
#include "ui/session/staleness.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/file_slug.h"
#include "ui/toolkit/flow_layout.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/page_splitter.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"
#include "ui/views/requests/latency_chart.h"
#include "ui/views/requests/latency_model.h"
#include "ui/views/requests/rate_chart.h"
#include "ui/views/requests/rates_model.h"
#include "ui/views/requests/request_inspection.h"
#include "ui/views/requests/request_timeline.h"
#include "ui/views/requests/service_figures.h"
#include "ui/views/requests/spec_editor.h"
#include "ui/views/requests/workload_chart.h"

namespace shardscape::ui {
namespace {

constexpr int kPatienceMs = 150;
constexpr double kTableShare = 0.4;  // the most of the page's height
constexpr int kLeastTable = 118;

}  // namespace

RequestsPage::RequestsPage(SelectionState* state, QWidget* parent, PageSettings* pages)
    : ViewPage(parent),
      state_(state),
      session_(state->session()),
      pages_(pages ? pages : new PageSettings(this)),
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
  columns->addWidget(makeResults(), 1);
  rows->addLayout(columns, 1);
  dim_delay_.setSingleShot(true);
  dim_delay_.setInterval(kPatienceMs);
  connectAll();
  followSettings();
  fill();
}

QWidget* RequestsPage::makeTools() {
  auto* tools = new QWidget(this);
  auto* line = new FlowLayout(8, tools);
  tools->setLayout(line);
  switch_ = new SegmentedControl(tr("Picture"), {tr("Workload"), tr("Latencies"), tr("Timeline"), tr("Load")},
                                 tools);
  switch_->setObjectName(QStringLiteral("requests_which"));
  const QString tips[] = {tr("Arrivals over time, lengths of prompts and answers"),
                          tr("Cumulative distributions of TTFT and TPOT"),
                          tr("Requests over time, above the steps and the cache of an engine"),
                          tr("Latency against the rate of arrivals")};
  for (int i = 0; i < static_cast<int>(std::size(tips)); ++i) switch_->button(i)->setToolTip(tips[i]);
  line->addWidget(switch_);
  sweep_button_ = new QPushButton(tr("Sweep the rate"), tools);
  sweep_button_->setObjectName(QStringLiteral("sweep_rates"));
  sweep_button_->setToolTip(
      tr("Simulates a dozen rates, from a tenth of the throughput to beyond it, and finds the largest rate "
         "whose 99th percentiles keep the limits"));
  line->addWidget(sweep_button_);
  steps_button_ = new QPushButton(tr("Export steps…"), tools);
  steps_button_->setObjectName(QStringLiteral("export_steps"));
  steps_button_->setToolTip(
      tr("Writes the engine steps in the shown range of the timeline as a bundle of Chakra traces"));
  line->addWidget(steps_button_);
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
  caption_ = new ElidedLabel(lower_, Theme::instance().uiFont(12, QFont::DemiBold));
  caption_->setObjectName(QStringLiteral("requests_caption"));
  rows->addWidget(caption_);
  tables_ = new QStackedWidget(lower_);
  latency_table_ = new ChartTable(tables_);
  latency_table_->setAccessibleName(tr("Table: latencies"));
  latency_model_ = new LatencyModel(this);
  latency_table_->setTable(latency_model_);
  rate_table_ = new ChartTable(tables_);
  rate_table_->setAccessibleName(tr("Table: rates"));
  rate_table_->setSelectionMode(QAbstractItemView::SingleSelection);
  rates_model_ = new RatesModel(this);
  rate_table_->setTable(rates_model_);
  tables_->addWidget(latency_table_);
  tables_->addWidget(rate_table_);
  rows->addWidget(tables_, 1);
  return lower_;
}

void RequestsPage::connectAll() {
  connect(&dim_delay_, &QTimer::timeout, this, &RequestsPage::showState);
  connect(switch_, &SegmentedControl::chosen, this, [this] {
    showState();
    explain();
  });
  connect(sweep_button_, &QPushButton::clicked, this, &RequestsPage::startSweep);
  connect(steps_button_, &QPushButton::clicked, this, &RequestsPage::requestSteps);
  connect(stop_button_, &QPushButton::clicked, this, [this] {
    if (working_ || sweeping_) return stop();
    stopped_ = false;
    refresh();
  });
  connect(editor_, &SpecEditor::changed, this, [this] {
    pages_->setService(editor_->spec());
    refresh();
  });
  connect(timeline_, &RequestTimeline::requestSelected, this, &RequestsPage::explain);
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
  connect(session_, &Session::unitsChanged, this, &RequestsPage::explain);
}

// Another document, or an edit of these settings.
void RequestsPage::followSettings() {
  if (pages_->pages().service == editor_->spec()) return;
  editor_->setSpec(pages_->pages().service);
  refresh();
}

RequestsPage::Input RequestsPage::input() const { return {session_->design(), editor_->spec()}; }

bool RequestsPage::ready() const {
  return run_ && !working_ && !stopped_ && !refused_ && !editor_->refused() && shown_input_ == input();
}

// A sweep does not depend on the rate of the requests.
bool RequestsPage::sweepIsOf(const Input& input) const {
  Input other = input;
  other.spec.source.rate = sweep_input_.spec.source.rate;
  return sweep_ && sweep_input_ == other;
}

void RequestsPage::refresh() {
  if (!isVisible()) return;
  if (editor_->refused()) return showState();  // the last accepted run stays
  const Input now = input();
  if (run_ && !refused_ && shown_input_ == now) {
    job_.stop();
    working_ = stopped_ = false;
    editor_->showProblem(nullptr);
    issue_->setVisible(false);
    return fill();
  }
  if (!(working_ && input_ == now)) start(now);
  showState();
}

void RequestsPage::start(const Input& input) {
  input_ = input;
  working_ = true;
  stopped_ = false;
  dim_delay_.start();
  job_.start([this, input, plans = session_->plans()](const NewestJob::Post& post, std::stop_token stop) {
    auto made = run_service(input.design, input.spec, stop, plans);
    if (stop.stop_requested()) return;
    post([this, input, made = std::move(made)] {
      const auto* problem = std::get_if<Problem>(&made);
      problem ? refuse(*problem) : accept(input, std::get<0>(made));
    });
  });
}

void RequestsPage::accept(const Input& input, std::shared_ptr<const ServiceRun> run) {
  working_ = refused_ = false;
  run_ = std::move(run);
  shown_input_ = input;
  editor_->showProblem(nullptr);
  issue_->setVisible(false);
  fill();
}

// The last picture stays, dimmed.
void RequestsPage::refuse(const Problem& problem) {
  working_ = false;
  refused_ = true;
  issue_->setVisible(false);
  if (!editor_->showProblem(&problem)) showProblem(problem);
  showState();
}

void RequestsPage::showProblem(const Problem& problem) {
  const Knob* knob = find_knob(problem.where);
  issue_->show(text_of(problem.what), text_of(problem.accepted),
               knob ? tr("Go to %1").arg(knobName(*knob)) : QString(),
               [this, id = text_of(problem.where)] { session_->requestField(id); });
}

void RequestsPage::stop() {
  stopped_ = working_;
  job_.stop();
  sweep_job_.stop();
  working_ = sweeping_ = false;
  showState();
}

void RequestsPage::startSweep() {
  if (editor_->refused()) return;
  switch_->setCurrent(Load);
  sweeping_ = true;
  done_ = of_ = 0;
  issue_->setVisible(false);
  sweep_job_.start(
      [this, input = input(), plans = session_->plans()](const NewestJob::Post& post, std::stop_token stop) {
        auto made = sweep_rates(input.design, input.spec, {}, stop, plans, [&](size_t done, size_t of) {
          post([this, done, of] {
            done_ = done;
            of_ = of;
            showState();
          });
        });
        if (stop.stop_requested()) return;
        post([this, input, made = std::move(made)] {
          sweeping_ = false;
          if (const auto* problem = std::get_if<Problem>(&made)) {
            showProblem(*problem);
            return showState();
          }
          sweep_ = std::get<0>(made);
          sweep_input_ = input;
          rates_->setSweep(sweep_);
          rates_model_->setSweep(*sweep_);
          showState();
          explain();
        });
      });
  showState();
}

void RequestsPage::requestSteps() {
  const RequestTimeline::View& view = timeline_->view();
  const auto range = steps_between(*run_, timeline_->replica(), view.from, view.to);
  if (const auto* problem = std::get_if<Problem>(&range)) return showProblem(*problem);
  Q_EMIT exportStepsRequested(run_, std::get<StepRange>(range));
}

void RequestsPage::fill() {
  if (run_ && timeline_->run() != run_.get()) {
    figures_->setRun(*run_);
    latency_model_->setRun(*run_);
    workload_->setRun(run_);
    latencies_->setRun(run_);
    timeline_->setRun(run_);
  }
  showState();
  explain();
}

Canvas* RequestsPage::canvas() const {
  Canvas* all[] = {workload_, latencies_, timeline_, rates_};
  return all[switch_->current()];
}

ChartTable* RequestsPage::table() const { return switch_->current() == Load ? rate_table_ : latency_table_; }

void RequestsPage::showStop(bool late) {
  stop_button_->setVisible(late || sweeping_ || stopped_);
  stop_button_->setText(working_ || sweeping_ ? tr("Cancel") : tr("Compute"));
}

void RequestsPage::showState() {
  const bool load = switch_->current() == Load, late = working_ && !dim_delay_.isActive();
  const bool any = load ? sweep_ != nullptr : run_ != nullptr;
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
  figures_->setVisible(run_ != nullptr);
  setDimmed(stack_, any && old);
  setDimmed(tables_, any && old);
  setDimmed(figures_, run_ && (late || stopped_ || refused_ || editor_->refused()));
  sweep_button_->setText(sweep_ && !sweepIsOf(input()) ? tr("Sweep again") : tr("Sweep the rate"));
  sweep_button_->setEnabled(!sweeping_ && !editor_->refused());
  steps_button_->setVisible(switch_->current() == Timeline && run_);
  showStop(late);
  caption_->setText(caption());
  fitTable();
}

QString RequestsPage::caption() const {
  if (sweeping_) return of_ > 0 ? tr("Computing: %1 of %2 rates").arg(done_).arg(of_) : tr("Computing…");
  if (switch_->current() == Load) {
    if (!sweep_) return {};
    if (!sweepIsOf(input())) return tr("These rates are for an earlier design or earlier settings.");
    if (rates_->selected() >= 0) return rates_->summary(rates_->selected());
    if (!sweep_->spec.limits.any())
      return tr("Set limits in \"%1\" to see the largest rate that keeps them.")
          .arg(text_of(group_label(SettingGroup::Limits)));
    if (!sweep_->knee) return tr("No rate keeps the limits.");
    const bool all = *sweep_->knee + 1 == sweep_->points.size();
    const QString rate = text_of(significant(sweep_->points[*sweep_->knee].rate));
    return all ? tr("All rates up to %1 requests/s keep the limits.").arg(rate)
               : tr("%1 requests/s is the largest rate whose 99th percentiles keep the limits.").arg(rate);
  }
  if (!run_) return {};
  if (switch_->current() == Timeline && timeline_->selected() >= 0)
    return request_line(*run_, timeline_->waitOf(timeline_->selected()), timeline_->selected());
  return tr("%1 answered in %2, %3 refused")
      .arg(counted_text(run_->results.finished, tr("request"), tr("requests")),
           seconds_text(run_->results.seconds), grouped_text(run_->results.refused));
}

void RequestsPage::explain() {
  caption_->setText(caption());
  if (!isVisible()) return;
  if (!run_) return state_->inspect({});
  const int request = switch_->current() == Timeline ? timeline_->selected() : -1;
  state_->inspect(request >= 0 ? inspect_request(*run_, timeline_->waitOf(request), request)
                               : inspect_service(*run_, session_->units()));
}

void RequestsPage::fitTable() {
  const int most = std::max(kLeastTable, static_cast<int>(height() * kTableShare));
  splitter_->suggest(
      {0, caption_->sizeHint().height() + lower_->layout()->spacing() + table()->heightUpTo(most)});
}

void RequestsPage::showEvent(QShowEvent* event) {
  ViewPage::showEvent(event);
  refresh();
  explain();
}

void RequestsPage::resizeEvent(QResizeEvent* event) {
  ViewPage::resizeEvent(event);
  QMetaObject::invokeMethod(this, &RequestsPage::fitTable, Qt::QueuedConnection);
}

void RequestsPage::zoomBy(double factor) { canvas()->zoomBy(factor); }
void RequestsPage::fit() { canvas()->fit(); }

Picture RequestsPage::picture() const {
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
  } else if (!load && run_) {
    picture.csv = [run = run_] { return text_of(requests_csv(*run)); };
    picture.json = [run = run_] { return QByteArray::fromStdString(service_json(*run)); };
    picture.trace = [run = run_] { return QByteArray::fromStdString(service_timeline(*run)); };
  }
  return picture;
}

}  // namespace shardscape::ui
