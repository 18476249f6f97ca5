// Simulates a schedule with given action durations. Independent of core/timing, so that each checks the
// other.
#pragma once

#include <vector>

#include "pipeline/schedule.h"

namespace shardscape::test {

// Durations in any one unit: forward of a chunk, both parts of its backward, a message in transit. Stages
// spend no time on sends and do not wait for their completion.
struct ActionTimes {
  double forward = 1, backward_input = 1, backward_weight = 1, message = 0;
  double both = -1;  // forward and backward overlapped; negative: the sum of both
};

struct TimedSchedule {
  struct Span {
    double begin = 0, end = 0;
  };
  std::vector<std::vector<Span>> spans;  // per stage and action
  std::vector<double> busy;              // per stage
  // stage_time: from the first forward to the last backward of the stage that takes longest. makespan: the
  // same over all stages. A step costs stage_time if stages start the next step without a barrier (arXiv
  // 2401.10241, section 4).
  double stage_time = 0, makespan = 0;
  // Idle share of the busiest stage.
  double bubble() const { return rate(stage_time); }
  double synchronous_bubble() const { return rate(makespan); }

 private:
  double rate(double time) const;
};

// The schedule has no violations.
TimedSchedule time_schedule(const Schedule& schedule, const ActionTimes& times);

}  // namespace shardscape::test
