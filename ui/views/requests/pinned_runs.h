// The runs and the rate sweeps of the pinned designs: each with the settings that it is pinned with, else
// with those of the page. A thread computes them one after the other.
#pragma once

#include <QObject>
#include <memory>
#include <vector>

#include "serving/service/rate_sweep.h"
#include "ui/toolkit/newest_job.h"
#include "ui/views/requests/run_cache.h"

namespace shardscape::ui {

class Comparisons;
class Session;

class PinnedRuns : public QObject {
  Q_OBJECT
 public:
  struct Item {
    int member = 1;  // Comparisons::letter
    QString name;
    QString settings;  // in which its settings differ from those of the page: "Sequences 128"; may be empty
    std::shared_ptr<const ShownRun> run;     // null: not yet, or a problem
    std::shared_ptr<const RateSweep> sweep;  // null: not asked for, not yet, or a problem
    std::optional<Problem> problem;          // of the run
  };
  // cache: outlives this object; has the runs of the page.
  PinnedRuns(Session* session, RunCache* cache, QObject* parent);
  void show(const ServiceSpec& spec);   // the settings of the page; computes what lacks
  void sweep(const ServiceSpec& spec);  // also the sweeps
  void stop();
  void forget();                  // drops all results
  std::vector<Item> all() const;  // in the order of the pinned designs
  bool ready() const;             // every pinned design has its run or its problem
  bool sweeping() const { return working_ && sweeps_; }

 Q_SIGNALS:
  void changed();  // all() may have changed

 private:
  struct Sweep {
    ServiceInput input;
    std::shared_ptr<const RateSweep> made;  // null: a problem
  };
  ServiceInput inputOf(size_t pinned) const;
  const RunOutcome* outcomeOf(const ServiceInput& input) const;
  const Sweep* sweepOf(const ServiceInput& input) const;
  void prune();
  void computeMissing();
  Session* session_;
  Comparisons* comparisons_;
  RunCache* cache_;
  ServiceSpec spec_;
  std::vector<std::pair<ServiceInput, RunOutcome>> runs_;
  std::vector<Sweep> swept_;
  std::vector<ServiceInput> requested_;  // of the running job
  bool sweeps_ = false, working_ = false;
  NewestJob job_{this};  // last member: the thread ends before what it posts to
};

// The settings of `of` that differ from those of `page`, of the engine of `of`: "Sequences 128 · Rate 4".
QString differing_settings(const ServiceSpec& of, const ServiceSpec& page);

}  // namespace shardscape::ui
