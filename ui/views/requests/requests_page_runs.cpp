// The runs and the sweeps of the page Requests, and the pinned designs next to them.
#include <QPushButton>
#include <utility>

#include "serving/service/step_designs.h"
#include "ui/selection/selection_state.h"
#include "ui/session/comparisons.h"
#include "ui/session/session.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/requests/latency_chart.h"
#include "ui/views/requests/latency_model.h"
#include "ui/views/requests/pinned_runs.h"
#include "ui/views/requests/rate_chart.h"
#include "ui/views/requests/rates_model.h"
#include "ui/views/requests/request_timeline.h"
#include "ui/views/requests/requests_page.h"
#include "ui/views/requests/service_comparison_model.h"
#include "ui/views/requests/service_figures.h"
#include "ui/views/requests/spec_editor.h"
#include "ui/views/requests/workload_chart.h"

namespace shardscape::ui {

ServiceInput RequestsPage::input() const { return service_input(session_->design(), editor_->spec()); }

bool RequestsPage::ready() const {
  return shown_ && !working_ && !stopped_ && !refused_ && !editor_->refused() && shown_input_ == input();
}

// A sweep does not depend on the rate of the requests.
bool RequestsPage::sweepIsOf(const ServiceInput& input) const {
  ServiceInput other = input;
  other.spec.source.rate = sweep_input_.spec.source.rate;
  return sweep_ && sweep_input_ == other;
}

void RequestsPage::refresh() {
  if (!isVisible()) return;
  if (editor_->refused()) return showState();  // the last accepted run stays
  pinned_->show(editor_->spec());
  const ServiceInput now = input();
  if (const RunOutcome* known = cache_.find(now)) {
    job_.stop();
    stopped_ = false;
    return take(now, *known);
  }
  if (!(working_ && input_ == now)) start(now);
  showState();
}

void RequestsPage::start(const ServiceInput& input) {
  input_ = input;
  working_ = true;
  stopped_ = false;
  dim_delay_.start();
  job_.start([this, input, plans = session_->plans()](const NewestJob::Post& post, std::stop_token stop) {
    const RunOutcome outcome = make_outcome(input, stop, plans);
    if (!outcome.made()) return;
    post([this, input, outcome] {
      cache_.keep(input, outcome);
      take(input, outcome);
    });
  });
}

void RequestsPage::take(const ServiceInput& input, const RunOutcome& outcome) {
  working_ = false;
  if (outcome.problem) return refuse(*outcome.problem);
  // The mark of a question (fleet, effects) stays until its field changes.
  if (std::exchange(refused_, false)) editor_->showProblem(nullptr);
  shown_ = outcome.run;
  shown_input_ = input;
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
  pinned_->stop();
  working_ = sweeping_ = false;
  showState();
}

void RequestsPage::forgetRuns() {
  job_.stop();
  sweep_job_.stop();
  working_ = sweeping_ = false;
  cache_ = {};
  pinned_->forget();
  shown_input_ = sweep_input_ = {};
  refresh();
}

void RequestsPage::startSweep() {
  if (editor_->refused()) return;
  switch_->setCurrent(Load);
  sweeping_ = true;
  done_ = of_ = 0;
  issue_->setVisible(false);
  pinned_->sweep(editor_->spec());
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
  const auto range = steps_between(*shown_->run, timeline_->replica(), view.from, view.to);
  if (const auto* problem = std::get_if<Problem>(&range)) return showProblem(*problem);
  Q_EMIT exportStepsRequested(shown_->run, std::get<StepRange>(range));
}

void RequestsPage::fill() {
  if (shown_ && timeline_->run() != shown_->run.get()) {
    figures_->setRun(*shown_->run);
    latency_model_->setRun(*shown_->run);
    workload_->setRun(shown_);
    timeline_->setRun(shown_);
  }
  showPinned();
  explain();
}

// The pinned designs in the pictures and in the table of differences.
void RequestsPage::showPinned() {
  if (isVisible()) pinned_->show(editor_->spec());
  std::vector<LatencyChart::Other> latencies;
  std::vector<RateChart::Other> rates;
  std::vector<ServiceComparisonModel::Other> figures;
  for (const PinnedRuns::Item& item : pinned_->all()) {
    if (item.sweep) rates.push_back({item.member, item.sweep});
    if (!item.run) continue;
    latencies.push_back({item.member, item.run});
    figures.push_back({item.member, item.settings.isEmpty() ? item.name : item.name + u'\n' + item.settings,
                       item.run->run});
  }
  latencies_->setRun(shown_, std::move(latencies));
  rates_->setOthers(std::move(rates));
  if (shown_ && !figures.empty())
    comparison_model_->setRuns(*shown_->run, figures);
  else
    comparison_model_->clear();
  showState();
}

void RequestsPage::pin() {
  const ServiceSpec& spec = editor_->spec();
  QString name = Comparisons::nameOf(session_->design());
  if (const QString settings = differing_settings(spec, ServiceSpec()); !settings.isEmpty())
    name += QStringLiteral(" · ") + settings;
  session_->comparisons()->add(session_->design(), name, spec);
}

void RequestsPage::showStepButtons() {
  const StepRecord* step = shown_ && switch_->current() == Timeline ? timeline_->selectedStep() : nullptr;
  const bool request = shown_ && switch_->current() == Timeline && timeline_->selected() >= 0;
  step_of_request_->setVisible(request && !step);
  open_prefill_->setVisible(step && step->prefill_tokens > 0);
  open_decode_->setVisible(step && step->decode_sequences > 0);
}

void RequestsPage::openStep(Mode part) {
  const auto at = timeline_->selectedStepIndex();
  if (!shown_ || !at) return;
  const ServiceRun& run = *shown_->run;
  const auto made = step_designs(run, *at);
  if (const auto* problem = std::get_if<Problem>(&made)) return showProblem(*problem);
  const StepDesigns& designs = std::get<StepDesigns>(made);
  const std::optional<Design>& design = part == Mode::Decode ? designs.decode : designs.prefill;
  if (!design) return;
  const StepRecord& step = run.simulation.steps[*at];
  const QString time = seconds_text(step.begin);
  const QString words = part == Mode::Decode
                            ? tr("decode of %1 with a mean context of %2 tokens")
                                  .arg(counted_text(step.decode_sequences, tr("sequence"), tr("sequences")),
                                       grouped_text(design->workload.context_length))
                            : tr("prefill of %1")
                                  .arg(counted_text(step.prefill_tokens, tr("token"), tr("tokens")));
  Q_EMIT stepOpened(*design,
                    part == Mode::Decode ? tr("open the decode of the step at %1").arg(time)
                                         : tr("open the prefill of the step at %1").arg(time),
                    tr("This is one engine in the step at %1: %2. The step took %3 in the service.")
                        .arg(time, words, seconds_text(step.seconds)));
}

}  // namespace shardscape::ui
