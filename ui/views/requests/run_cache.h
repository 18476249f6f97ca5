// Runs of the page Requests by their input, so that undo, and a design that is pinned, need no new run. No
// widgets.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/views/requests/shown_run.h"

namespace shardscape::ui {

// What a run depends on.
struct ServiceInput {
  Design design;  // its mode, batch and lengths are those of a default design: they have no effect
  ServiceSpec spec;
  std::vector<int64_t> files;  // size and time of the files that the settings name
  friend bool operator==(const ServiceInput&, const ServiceInput&) = default;
};
ServiceInput service_input(const Design& design, const ServiceSpec& spec);

struct RunOutcome {
  std::shared_ptr<const ShownRun> run;  // null: a problem
  std::optional<Problem> problem;
  bool made() const { return run || problem; }
};
// In the thread of a job. Neither a run nor a problem if it was stopped.
RunOutcome make_outcome(const ServiceInput& input, std::stop_token stop,
                        const std::shared_ptr<PlanCache>& plans);

class RunCache {
 public:
  const RunOutcome* find(const ServiceInput& input);  // null: unknown. Valid until the next keep()
  void keep(const ServiceInput& input, const RunOutcome& outcome);
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    ServiceInput input;
    RunOutcome outcome;
  };
  std::list<Entry> entries_;  // the last used first
};

}  // namespace shardscape::ui
