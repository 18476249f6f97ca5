// What a step takes: the report's schedule simulated on its machine. Made behind the report, which has its
// memory over time.
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
  std::shared_ptr<const Report> report;          // that it is of
  std::shared_ptr<const Simulation> simulation;  // null: see why_no_time
  std::string why_no_time;                       // a sentence for the person
  std::optional<Problem> pass_times;             // a note where the schedule was found for other times
  double elapsed_ms = 0;
};

// Of a valid report. Nothing when stopped; a failure of the program is a sentence.
std::shared_ptr<const Estimate> make_estimate(std::shared_ptr<const Report> report, std::stop_token stop);

}  // namespace shardscape::ui
