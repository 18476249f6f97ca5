// An estimate: the schedule of a report, simulated on the machine of the design. The worker makes the report
// first and then the estimate.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "memory/memory_timeline.h"
#include "plan/report.h"
#include "timing/simulation.h"

namespace shardscape::ui {

struct Estimate {
  std::shared_ptr<const Report> report;          // the simulated report
  std::shared_ptr<const Simulation> simulation;  // null: see no_time_reason
  std::string no_time_reason;                    // a sentence that the window shows
  std::optional<Problem> pass_times;  // a note if the schedule was optimized for other pass durations
  double elapsed_ms = 0;
};

// report: valid. Returns null if stopped. A failure of the program is reported in no_time_reason.
std::shared_ptr<const Estimate> make_estimate(std::shared_ptr<const Report> report, std::stop_token stop);

}  // namespace shardscape::ui
