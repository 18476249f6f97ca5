// A schedule in time, by given durations: a player of its own beside that of core/simulate, so that one
// checks the other.
#pragma once

#include <vector>

#include "pipeline/schedule.h"

namespace shardscape::test {

// In any one unit of time. Of a chunk's forward, of the two parts of its backward, and of a message on its
// way; stages neither wait for what they send nor work to send it.
struct ActionTimes {
  double forward = 1, backward_input = 1, backward_weight = 1, message = 0;
  double both = -1;  // a forward and a backward at once; negative: as long as one after the other
};

struct TimedSchedule {
  struct Span {
    double begin = 0, end = 0;
  };
  std::vector<std::vector<Span>> spans;  // of every action
  std::vector<double> busy;              // of every stage
  // From its first forward to its last backward, of the stage that takes longest, and of all together. A step
  // costs the former where stages start the next one without waiting for each other (arXiv 2401.10241,
  // section 4).
  double stage_time = 0, makespan = 0;
  // Share of the time that the busiest stage idles.
  double bubble() const { return rate(stage_time); }
  double synchronous_bubble() const { return rate(makespan); }

 private:
  double rate(double time) const;
};

// Of a schedule without violations.
TimedSchedule time_schedule(const Schedule& schedule, const ActionTimes& times);

}  // namespace shardscape::test
