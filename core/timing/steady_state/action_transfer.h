// The max-plus transfer of an action, for FSDP: gathers and reductions of units run concurrently with its
// layers. A node begins at the latest of several ends, so all ends are maxima of sums of the times before the
// action. A dry run of the action gives the sums (StepSimulator::action_transfer). An action uses everything
// that it gathers. Later actions therefore see only how long its streams run and which units are gathered.
// Times are in seconds.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "timing/timeline.h"

namespace shardscape {

struct ActionTransfer {
  enum From : int { Compute, Data, Launched, Message, kFroms };
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  using Row = std::array<double, kFroms>;  // seconds after each start time; kNever: no dependency

  Row compute{}, data{};  // until the stream ends
  Row gathered{};         // until the parameters of the first layer; kNever: they were gathered before
  double host = 0;        // host seconds for launches
  double seconds = 0;     // seconds of all nodes on the compute stream
  double exposed = 0;     // communication among them
  bool message_before_layer = false;  // another node runs between the message and the first layer
  size_t units = 0;                   // units that are gathered afterwards; see SteadySimulation

  ActionTransfer() { compute = data = gathered = {kNever, kNever, kNever, kNever}; }
  // The action has been simulated on the timeline, with all start times 0. The struct has its nodes and their
  // recorded dependencies.
  struct Play {
    const Timeline& timeline;
    size_t first;                      // first node of the action
    NodeId compute, data, message;     // nodes before the action; kNoNode: no message
    const std::vector<NodeId>& waits;  // Timeline::record_dependencies
  };
  explicit ActionTransfer(const Play& play);

  static double after(const Row& row, const std::array<double, kFroms>& ends) {
    static_assert(kFroms == 4);
    return std::max(std::max(row[0] + ends[0], row[1] + ends[1]),
                    std::max(row[2] + ends[2], row[3] + ends[3]));
  }
};

}  // namespace shardscape
