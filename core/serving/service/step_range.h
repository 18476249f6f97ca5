// Consecutive steps of one replica of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/problem.h"
#include "serving/service/service.h"

namespace shardscape {

// Steps of a replica are numbered from 0.
struct StepRange {
  int64_t replica = 0;
  int64_t first = 0, last = 0;  // both are in the range
  friend bool operator==(const StepRange&, const StepRange&) = default;
};

// "10:12": steps 10, 11 and 12. "1.5s:2s": the steps that begin in this time. An empty end is that of the
// run. The Problem is about "replica" or "steps".
Result<StepRange> read_step_range(const ServiceRun& run, int64_t replica, const std::string& text);
// The steps that begin from `from` on and before `to`, in seconds of the run.
Result<StepRange> steps_between(const ServiceRun& run, int64_t replica, double from, double to);
// Indices into RequestSimulation::steps.
std::vector<size_t> steps_in(const ServiceRun& run, const StepRange& range);

}  // namespace shardscape
