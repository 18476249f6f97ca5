// The max-plus transfer of an action, for FSDP: gathers and reductions of units run concurrently with the
// layers. A node begins at the latest end of the nodes that it waits for. Every end is therefore a maximum of
// sums: a time before the action (enum Start) plus a constant. A dry run of the action gives the constants
// (StepSimulator::action_transfer). An action waits for all its gathers, so later actions depend only on the
// ends of its streams and on the gathered units. Times are in seconds.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "timing/timeline.h"

namespace shardscape {

struct ActionTransfer {
  // Times before the action: the end of the compute stream, of collectives over replicas, of the host's
  // launches, and of the message that the action waits for.
  enum Start : int { Compute, Data, Launched, Message, kStarts };
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  using Row = std::array<double, kStarts>;  // seconds after each Start; kNever: no dependency

  Row compute{}, data{};              // to the end of the stream after the action
  Row first_layer{};                  // to the begin of the first layer, if no message is awaited
  double host = 0;                    // host seconds for launches
  double seconds = 0;                 // seconds of all nodes on the compute stream
  double exposed = 0;                 // part of `seconds`: communication
  bool message_before_layer = false;  // the all-gather of the scattered message runs before the first layer
  size_t units = 0;                   // gathered units after the action; index, set by SteadySimulation

  ActionTransfer() { compute = data = first_layer = {kNever, kNever, kNever, kNever}; }
  // A dry run of an action, with all start times 0: its nodes and their recorded dependencies.
  struct SimulatedAction {
    const Timeline& timeline;
    size_t first;                      // first node of the action
    NodeId compute, data, message;     // nodes before the action; kNoNode: no message
    const std::vector<NodeId>& waits;  // Timeline::record_dependencies
  };
  explicit ActionTransfer(const SimulatedAction& action);

  // The end that a row gives for these start times.
  static double end_of(const Row& row, const std::array<double, kStarts>& starts) {
    static_assert(kStarts == 4);
    return std::max(std::max(row[0] + starts[0], row[1] + starts[1]),
                    std::max(row[2] + starts[2], row[3] + starts[3]));
  }
};

}  // namespace shardscape
