// A schedule in time: actions of every stage in order, messages that couple stages.
#pragma once

#include <functional>
#include <stop_token>

#include "pipeline/schedule.h"
#include "timing/timeline.h"

namespace shardscape {

// What the stages of a schedule do. Actions of one stage are asked for in order.
class ScheduleWork {
 public:
  virtual ~ScheduleWork() = default;
  // Puts the action on the stage's streams, after what has arrived for it; returns the node whose end lets
  // the message behind it go.
  virtual NodeId compute(Timeline& timeline, int stage, const Action& action, NodeId arrived) = 0;
  // These two actions of the stage come next, and run at once.
  virtual void overlap(int /*stage*/, const Action& /*forward*/, const Action& /*backward*/) {}
  // Seconds of a message between stages.
  virtual double message(int from, int to) const = 0;
};

// Sends do not block; a message waits for the one before it on the sender's link. Throws std::logic_error
// where the schedule never ends. GradReduce and Optimizer go to compute as all others do, without anything
// that arrived.
void simulate_schedule(const Schedule& schedule, ScheduleWork& work, Timeline& timeline,
                       const std::stop_token& stop = {});

// Given seconds of actions, one for all stages and chunks. A whole backward is both parts.
struct ActionSeconds {
  double forward = 0, backward_input = 0, backward_weight = 0, message = 0;
};
Simulation simulate_schedule(const Schedule& schedule, const ActionSeconds& seconds);

}  // namespace shardscape
