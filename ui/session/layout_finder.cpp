#include "ui/session/layout_finder.h"

#include <QElapsedTimer>

#include "ui/session/session.h"

namespace shardscape::ui {

LayoutFinder::LayoutFinder(Session* session) : QObject(session), session_(session) {
  connect(session, &Session::designChanged, this, &LayoutFinder::follow);
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
    post([this, design, layouts = std::move(layouts), seconds] { finish(design, layouts, seconds); });
  });
  Q_EMIT changed();
}

void LayoutFinder::finish(const Design& design, std::shared_ptr<const Layouts> layouts, double seconds) {
  searching_ = false;
  searched_ = design;
  layouts_ = std::move(layouts);
  seconds_ = seconds;
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
