#include "ui/views/requests/pinned_runs.h"

#include <algorithm>
#include <utility>

#include "ui/session/comparisons.h"
#include "ui/session/session.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

// A sweep does not depend on the rate of the requests.
ServiceInput sweep_input(ServiceInput input) {
  input.spec.source.rate = RequestSource().rate;
  return input;
}

bool contains(const std::vector<ServiceInput>& all, const ServiceInput& input) {
  return std::find(all.begin(), all.end(), input) != all.end();
}

}  // namespace

QString differing_settings(const ServiceSpec& of, const ServiceSpec& page) {
  QStringList words;
  for (const ServiceSetting& setting : service_settings()) {
    if (check_engine(of, setting) || setting.text(of) == setting.text(page)) continue;
    const QString value = text_of(setting.text(of));
    words << text_of(setting.label) + u' ' + (value.isEmpty() ? PinnedRuns::tr("none") : value);
  }
  return words.join(QStringLiteral(" · "));
}

PinnedRuns::PinnedRuns(Session* session, RunCache* cache, QObject* parent)
    : QObject(parent), session_(session), comparisons_(session->comparisons()), cache_(cache) {
  connect(&job_, &NewestJob::failed, this, &PinnedRuns::stop);
}

ServiceInput PinnedRuns::inputOf(size_t pinned) const {
  const PinnedDesign& of = comparisons_->all()[pinned];
  return service_input(of.design, of.service.value_or(spec_));
}

const RunOutcome* PinnedRuns::outcomeOf(const ServiceInput& input) const {
  for (const auto& [of, outcome] : runs_)
    if (of == input) return &outcome;
  return nullptr;
}

const PinnedRuns::Sweep* PinnedRuns::sweepOf(const ServiceInput& input) const {
  for (const Sweep& sweep : swept_)
    if (sweep.input == sweep_input(input)) return &sweep;
  return nullptr;
}

void PinnedRuns::show(const ServiceSpec& spec) {
  spec_ = spec;
  prune();
  computeMissing();
}

void PinnedRuns::sweep(const ServiceSpec& spec) {
  sweeps_ = true;
  show(spec);
}

void PinnedRuns::stop() {
  job_.stop();
  requested_.clear();
  working_ = sweeps_ = false;
}

void PinnedRuns::forget() {
  stop();
  runs_.clear();
  swept_.clear();
}

// Drops the results of designs that are not pinned any more, or have other settings.
void PinnedRuns::prune() {
  std::vector<ServiceInput> runs, sweeps;
  for (size_t i = 0; i < comparisons_->all().size(); ++i) {
    runs.push_back(inputOf(i));
    sweeps.push_back(sweep_input(runs.back()));
  }
  std::erase_if(runs_, [&](const auto& entry) { return !contains(runs, entry.first); });
  std::erase_if(swept_, [&](const Sweep& entry) { return !contains(sweeps, entry.input); });
  for (const ServiceInput& input : runs) {
    if (outcomeOf(input)) continue;
    if (const RunOutcome* known = cache_->find(input)) runs_.emplace_back(input, *known);
  }
}

void PinnedRuns::computeMissing() {
  std::vector<ServiceInput> runs, sweeps;
  for (size_t i = 0; i < comparisons_->all().size(); ++i) {
    const ServiceInput input = inputOf(i);
    if (!outcomeOf(input) && !contains(runs, input)) runs.push_back(input);
    if (sweeps_ && !sweepOf(input) && !contains(sweeps, sweep_input(input)))
      sweeps.push_back(sweep_input(input));
  }
  std::vector<ServiceInput> left = runs;
  left.insert(left.end(), sweeps.begin(), sweeps.end());
  if (left.empty()) {
    const bool sweeping = sweeps_;
    stop();
    if (sweeping) Q_EMIT changed();
    return;
  }
  if (working_ && std::all_of(left.begin(), left.end(),
                              [&](const ServiceInput& input) { return contains(requested_, input); }))
    return;
  requested_ = std::move(left);
  working_ = true;
  job_.start([this, runs = std::move(runs), sweeps = std::move(sweeps), plans = session_->plans()](
                 const NewestJob::Post& post, std::stop_token stop) {
    for (const ServiceInput& input : runs) {
      const RunOutcome outcome = make_outcome(input, stop, plans);
      if (!outcome.made()) return;
      post([this, input, outcome] {
        runs_.emplace_back(input, outcome);
        cache_->keep(input, outcome);
        Q_EMIT changed();
      });
    }
    for (const ServiceInput& input : sweeps) {
      auto made = sweep_rates(input.design, input.spec, {}, stop, plans);
      if (stop.stop_requested()) return;
      post([this, input, made = std::move(made)] {
        const auto* sweep = std::get_if<std::shared_ptr<const RateSweep>>(&made);
        swept_.push_back({input, sweep ? *sweep : nullptr});
        Q_EMIT changed();
      });
    }
    post([this] {
      working_ = sweeps_ = false;
      requested_.clear();
      Q_EMIT changed();
    });
  });
}

std::vector<PinnedRuns::Item> PinnedRuns::all() const {
  std::vector<Item> out;
  for (size_t i = 0; i < comparisons_->all().size(); ++i) {
    const PinnedDesign& pinned = comparisons_->all()[i];
    const ServiceInput input = inputOf(i);
    Item item;
    item.member = static_cast<int>(i) + 1;
    item.name = pinned.name;
    if (pinned.service) item.settings = differing_settings(*pinned.service, spec_);
    if (const RunOutcome* outcome = outcomeOf(input)) {
      item.run = outcome->run;
      item.problem = outcome->problem;
    }
    if (const Sweep* sweep = sweepOf(input)) item.sweep = sweep->made;
    out.push_back(std::move(item));
  }
  return out;
}

bool PinnedRuns::ready() const {
  for (size_t i = 0; i < comparisons_->all().size(); ++i)
    if (!outcomeOf(inputOf(i))) return false;
  return true;
}

}  // namespace shardscape::ui
