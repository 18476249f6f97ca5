// "Find a layout" for the present design: searches in the background and says how far the design is from the
// best layout found while a person edits.
#pragma once

#include <QObject>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "explore/layout.h"
#include "ui/toolkit/newest_job.h"

namespace shardscape::ui {

class Session;

class LayoutFinder : public QObject {
  Q_OBJECT
 public:
  explicit LayoutFinder(Session* session);

  // Searches layouts of the present design on its GPUs, unless layouts() already answer this.
  void search();
  bool searching() const { return searching_; }
  double seconds() const { return seconds_; }  // of the last search
  // The layouts of the last search. Null: none, or the present design has another model, workload, cluster or
  // number of GPUs.
  std::shared_ptr<const Layouts> layouts() const { return answering_ ? layouts_ : nullptr; }
  // Whether the advice in layouts()->help is for the present design.
  bool helps() const;
  // Notes of a found layout that the searched design does not have ("Megatron-core refuses them"), and
  // whether its memory may not fit under every allocator setting (MemoryMayNotFit). They follow the layouts;
  // empty until then.
  std::vector<Problem> notesOf(const Design& design) const;
  // "12 % slower than the best found"; empty if unknown.
  const QString& distance() const { return distance_; }

 Q_SIGNALS:
  void changed();  // searching(), layouts(), notesOf() or distance()

 private:
  void follow();
  void finish(const Design& design, std::shared_ptr<const Layouts> layouts, double seconds);
  void measure();
  Session* session_;
  std::shared_ptr<const Layouts> layouts_;
  std::optional<Design> searched_;        // the design of layouts_
  std::shared_ptr<Evaluator> evaluator_;  // shares plans between the designs of one search
  std::vector<std::pair<Design, std::vector<Problem>>> notes_;  // of the designs of layouts_ that have some
  bool searching_ = false, answering_ = false;
  double seconds_ = 0;
  QString distance_;
  NewestJob search_{this}, measure_{this};  // last members: their threads use the others
};

}  // namespace shardscape::ui
