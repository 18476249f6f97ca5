// Ring attention, unrolled: which rank computes and sends what in which step. The graph holds a ring as its attention with
// the passes of K and V before it and the sums of their gradients behind it; here are its steps, in the order of issue.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace shardscape {

struct RingOps {
  OpId attention = -1;
  std::vector<OpId> passes;  // of K, of V
  std::vector<OpId> sums;    // of dK, of dV; backward only
};
RingOps ring_ops(const Segment& segment, OpId attention);

// In step s a rank works on the block that the rank s before it owns. Of the attention: it computes; of a pass: it sends the
// block on and receives the next one; of a sum: it sends what has gathered for the block and receives that of the next.
struct RingEvent {
  OpId op;
  int64_t step;
};
std::vector<RingEvent> ring_events(const RingOps& ring, int64_t ranks);

// Scores that the rank at this position computes in a step, in halves of a block: masked ones count, skipped ones do not.
int64_t ring_work(const Op& attention, int64_t position, int64_t step);
// Ranks of one stage whose programs differ: those of a ring whose causal mask leaves them unequally much to do.
bool differs_by_position(const Graph& graph);

}  // namespace shardscape
