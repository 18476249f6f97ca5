// Simulates a schedule in time: the actions of every stage in order, and the messages that couple stages.
#pragma once

#include <functional>
#include <stop_token>

#include "pipeline/schedule.h"
#include "timing/timeline.h"

namespace shardscape {

// The work of a schedule's actions. Calls for one stage come in the order of its actions.
class ScheduleWork {
 public:
  virtual ~ScheduleWork() = default;
  // Adds the action to the stage's streams, after the message `arrived`. Returns the node after which the
  // action's message can be sent.
  virtual NodeId compute(Timeline& timeline, int stage, const Action& action, NodeId arrived) = 0;
  // The next two actions of the stage overlap.
  virtual void overlap(int /*stage*/, const Action& /*forward*/, const Action& /*backward*/) {}
  // Seconds of a message between two stages.
  virtual double message(int from, int to) const = 0;
  // Adds the message of an action to `to`, after the node `made`. Returns what the receiver waits for.
  virtual NodeId send(Timeline& timeline, int stage, const Action& action, StagePlace to, NodeId made);
};

// Simulates the schedule. Sends do not block. A message waits for the previous message on the sender's link.
// GradReduce and Optimizer also go to compute(), without a message. Throws std::logic_error for a schedule
// that deadlocks.
void simulate_schedule(const Schedule& schedule, ScheduleWork& work, Timeline& timeline,
                       const std::stop_token& stop = {});

// Seconds of actions, equal for all stages and chunks. A whole backward takes the sum of both parts.
struct ActionSeconds {
  double forward = 0, backward_input = 0, backward_weight = 0, message = 0;
};
Simulation simulate_schedule(const Schedule& schedule, const ActionSeconds& seconds);

}  // namespace shardscape
