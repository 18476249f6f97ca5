// An action beside whose layers FSDP's units are gathered and reduced, as a whole. When a node begins is the
// latest of some ends, each so much later than one that was there before the action: a map of maxima of sums,
// which a play of the action tells (StepSimulator::action_transfer). What is gathered in an action is used in
// it, so that later ones find nothing else of it than how long its streams run, and which units are whole.
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
  using Row = std::array<double, kFroms>;  // seconds from each of these; kNever: it is not waited for

  Row compute{}, data{};       // until the streams are through
  Row gathered{};              // until the first layer has its parameters; kNever: it had them
  double host = 0;             // of launches
  double seconds = 0;          // of all that runs on the compute stream
  double exposed = 0;          // communication of this
  bool message_first = false;  // something runs between the message and the first layer
  size_t units = 0;            // which ones are whole afterwards; see SteadySimulation

  ActionTransfer() { compute = data = gathered = {kNever, kNever, kNever, kNever}; }
  // The action has been played on the timeline, all else at 0: its nodes, and what each was said to wait for.
  struct Play {
    const Timeline& timeline;
    size_t first;                      // of its nodes
    NodeId compute, data, message;     // what was there before; kNoNode: no message
    const std::vector<NodeId>& waits;  // Timeline::note_waits
  };
  explicit ActionTransfer(const Play& play);

  static double after(const Row& row, const std::array<double, kFroms>& ends) {
    double out = kNever;
    for (size_t i = 0; i < ends.size(); ++i) out = std::max(out, row[i] + ends[i]);
    return out;
  }
};

}  // namespace shardscape
