#include "ui/session/layout_finder.h"

#include <QElapsedTimer>
#include <algorithm>

#include "design/validate/validate.h"
#include "memory/allocator_use.h"
#include "memory/estimate.h"
#include "report/memory_report.h"
#include "ui/session/memory_problem.h"
#include "ui/session/session.h"

namespace shardscape::ui {

namespace {

// Notes of a layout that the given design lacks. Empty if stopped.
std::vector<Problem> new_notes(const Design& layout, const std::vector<Problem>& given,
                               const std::shared_ptr<PlanCache>& plans, const std::stop_token& stop) {
  std::vector<Problem> out;
  for (const Problem& problem : validate(layout))
    if (problem.severity == Severity::Note &&
        std::none_of(given.begin(), given.end(), [&](const Problem& of) { return of.code == problem.code; }))
      out.push_back(problem);
  const auto report = estimate(layout, plans, stop);
  if (!report || !report->valid()) return out;
  const auto segments = fragmentation(*report, stop);
  if (!segments) return out;
  if (const auto warning = segments_warning(*report->memory, *segments)) out.push_back(memoryNote(*warning));
  return out;
}

}  // namespace

LayoutFinder::LayoutFinder(Session* session) : QObject(session), session_(session) {
  connect(session, &Session::designChanged, this, &LayoutFinder::follow);
  connect(&search_, &NewestJob::failed, this, [this] {
    searching_ = false;
    Q_EMIT changed();
  });
}

std::vector<Problem> LayoutFinder::notesOf(const Design& design) const {
  const auto of = std::find_if(notes_.begin(), notes_.end(),
                               [&](const auto& entry) { return entry.first == design; });
  return of == notes_.end() ? std::vector<Problem>() : of->second;
}

bool LayoutFinder::helps() const { return answering_ && searched_ && *searched_ == session_->design(); }

void LayoutFinder::search() {
  const auto report = session_->report();
  const bool fits = session_->current() && report->memory->fits;
  if (searching_ || (layouts() && (fits || helps()))) return;
  searching_ = true;
  search_.start([this, design = session_->design()](const NewestJob::Post& post, std::stop_token stop) {
    QElapsedTimer timer;
    timer.start();
    std::optional<Layouts> found = find_layouts(design, {}, stop);
    if (!found) return;
    auto layouts = std::make_shared<const Layouts>(std::move(*found));
    const double seconds = static_cast<double>(timer.elapsed()) / 1000;
    post([this, design, layouts, seconds] { finish(design, layouts, seconds); });
    const std::vector<Problem> given = validate(design);
    const auto plans = std::make_shared<PlanCache>();
    std::vector<const FoundLayout*> all;
    for (const FoundLayout& of : layouts->found) all.push_back(&of);
    if (layouts->at_fewest) all.push_back(&*layouts->at_fewest);
    for (const FoundLayout* of : all) {
      auto notes = new_notes(of->design, given, plans, stop);
      if (stop.stop_requested()) return;
      if (!notes.empty())
        post([this, layouts, design = of->design, notes = std::move(notes)] {
          if (layouts != layouts_) return;
          notes_.emplace_back(design, notes);
          Q_EMIT changed();
        });
    }
  });
  Q_EMIT changed();
}

void LayoutFinder::finish(const Design& design, std::shared_ptr<const Layouts> layouts, double seconds) {
  searching_ = false;
  searched_ = design;
  layouts_ = std::move(layouts);
  seconds_ = seconds;
  notes_.clear();
  evaluator_ = std::make_shared<Evaluator>();
  follow();
}

// An edit that the layouts do not answer ends the search: its result would be of an earlier design.
void LayoutFinder::follow() {
  if (searching_) {
    search_.stop();
    searching_ = false;
  }
  answering_ = layouts_ && answers(*layouts_, session_->design());
  if (answering_) {
    measure();
  } else {
    measure_.stop();
    distance_.clear();
  }
  Q_EMIT changed();
}

void LayoutFinder::measure() {
  measure_.start([this, design = session_->design(), layouts = layouts_, evaluator = evaluator_](
                     const NewestJob::Post& post, std::stop_token stop) {
    const Evaluation evaluation = evaluator->evaluate(design, {}, stop);
    if (stop.stop_requested()) return;
    const QString text = evaluation.feasibility == Feasibility::Fits
                             ? QString::fromStdString(distance_text(*layouts, evaluation))
                             : QString();
    post([this, text] {
      if (text == distance_) return;
      distance_ = text;
      Q_EMIT changed();
    });
  });
}

}  // namespace shardscape::ui
