// Simulates the streams of one collective event by event. Events of one nanosecond run in the order in which
// ASTRA-sim runs them.
//
// In a dimension, a rank runs its streams in the order in which they reach the dimension, some at a time.
// Messages at a time: a rank sends the next message when it has handled a received one. In an all-reduce, it
// sends the sums after all messages have arrived.
// Double binary tree: a leaf sends its stream to its parent. Other ranks reduce what they receive from their
// children, send the sum up, and send what they receive from their parent down.
//
// Sources: astra-sim/astra-sim, astra-sim/system (Sys.cc, StreamBaseline.cc, PacketBundle.cc, astraccl)
// @518bd51.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "astra_sim/collective_phase.h"

namespace shardscape {

class SimNetwork;

struct StreamPlan {
  std::vector<CollectivePhase> phases = {};
  std::vector<std::vector<CollectiveParty>> parties = {};  // by phase
  int64_t streams = 1;
  int64_t active = 1;   // streams of a dimension at a time
  int64_t earlier = 0;  // number of earlier streams that chose a tree
};

// times: ns per member; in: start, out: end of the collective. arrivals: indices of the members in the order
// in which they start; empty: ascending. Returns false if streams wait for each other for ever, or if
// stopped.
bool simulate_streams(const SimNetwork& network, const StreamPlan& plan, const std::vector<size_t>& arrivals,
                      std::vector<int64_t>& times, const std::stop_token& stop);

}  // namespace shardscape
