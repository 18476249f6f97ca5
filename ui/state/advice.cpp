#include "ui/state/advice.h"

#include <algorithm>

#include "design/knobs.h"

namespace shardscape::ui {
namespace {

struct Candidate {
  QString label;
  std::vector<std::pair<std::string, std::string>> settings;
};

std::vector<Candidate> candidates(const Design& design) {
  const ParallelSpec& p = design.parallel;
  std::vector<Candidate> out;
  const auto number = [](int64_t value) { return std::to_string(value); };
  const auto add = [&](const QString& label, std::vector<std::pair<std::string, std::string>> settings) { out.push_back({label, std::move(settings)}); };
  add(Advice::tr("selective recompute"), {{"recompute", "selective"}});
  add(Advice::tr("full recompute"), {{"recompute", "full"}});
  if (!p.sequence_parallel && p.tp > 1) add(Advice::tr("sequence parallel"), {{"sequence_parallel", "true"}});
  if (p.virtual_stages > 1) add(QStringLiteral("v = 1"), {{"virtual_stages", "1"}});
  if (p.dp > 1) {
    add(Advice::tr("distributed optimizer"), {{"sync", "distributed-optimizer"}});
    add(Advice::tr("FSDP2"), {{"sync", "fsdp2"}});
  }
  if (p.dp % 2 == 0) {
    for (const auto& [id, degree] : {std::pair<const char*, int64_t>{"tp", p.tp}, {"cp", p.cp}, {"pp", p.pp}})
      add(QStringLiteral("%1 = %2, dp = %3").arg(QLatin1String(id)).arg(2 * degree).arg(p.dp / 2),
          {{id, number(2 * degree)}, {"dp", number(p.dp / 2)}});
  }
  if (design.workload.microbatch > 1)
    add(QStringLiteral("microbatch = %1").arg(design.workload.microbatch / 2), {{"microbatch", number(design.workload.microbatch / 2)}});
  return out;
}

int64_t most(const MemoryTimeline& memory) { return memory.stages[static_cast<size_t>(memory.peak_stage)].in_use; }

}  // namespace

QVector<Suggestion> suggestions(const Estimate& estimate, std::stop_token stop) {
  QVector<Suggestion> out;
  if (!estimate.memory) return out;
  for (const Candidate& candidate : candidates(estimate.report->design)) {
    Design design = estimate.report->design;
    bool taken = true;
    for (const auto& [id, text] : candidate.settings) {
      const Knob* knob = find_knob(id);
      taken = taken && knob && !set_knob(design, *knob, text);
    }
    if (!taken || design == estimate.report->design) continue;
    const std::shared_ptr<const Report> report = make_report(design, stop);
    if (!report || stop.stop_requested()) return {};
    if (!report->valid()) continue;
    const auto with = make_estimate(report, stop);
    if (!with) return {};
    if (!with->memory) continue;
    Suggestion suggestion{candidate.label, {candidate.label.toStdString(), candidate.settings}, most(*estimate.memory) - most(*with->memory), 0, false};
    if (estimate.simulation && with->simulation && estimate.simulation->step_seconds > 0) {
      suggestion.slower = with->simulation->step_seconds / estimate.simulation->step_seconds - 1;
      suggestion.timed = true;
    }
    constexpr double kWorthNaming = 0.01;  // of what is in use
    if (static_cast<double>(suggestion.saved) > kWorthNaming * static_cast<double>(most(*estimate.memory))) out.append(suggestion);
  }
  std::stable_sort(out.begin(), out.end(), [](const Suggestion& a, const Suggestion& b) { return a.saved > b.saved; });
  return out;
}

Advice::~Advice() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Advice::ask(std::shared_ptr<const Estimate> estimate) {
  if (!estimate || estimate == asked_for_) return;
  asked_for_ = estimate;
  thread_ = std::jthread([this, estimate](std::stop_token stop) {
    QVector<Suggestion> found = suggestions(*estimate, stop);
    if (stop.stop_requested()) return;
    QMetaObject::invokeMethod(this, [this, estimate, found] {
      if (estimate != asked_for_) return;
      given_for_ = estimate;
      given_ = found;
      Q_EMIT ready();
    }, Qt::QueuedConnection);
  });
}

}  // namespace shardscape::ui
