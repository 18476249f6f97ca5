// Ring attention (Liu et al., arXiv 2310.01889), unrolled into steps: the work and the messages of a rank in
// each step. The graph stores a ring as one attention op, the passes of K and V before it, and the sums of
// their gradients behind it. This file lists the steps in order of issue.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace shardscape {

// The ops of one ring.
struct RingOps {
  OpId attention = -1;
  std::vector<OpId> passes;  // of K, of V
  std::vector<OpId> sums;    // of dK, of dV; backward only
};
RingOps ring_ops(const Segment& segment, OpId attention);

// In step s a rank works on the block that the rank s positions before it owns. Attention: computes with the
// block. Pass: sends the block on and receives the next block. Sum: sends the gradient summed so far for this
// block and receives that of the next block.
struct RingEvent {
  OpId op;
  int64_t step;
};
std::vector<RingEvent> ring_events(const RingOps& ring, int64_t ranks);

// Scores that the rank at this ring position computes for an attention in a step, in halves of a block.
// Masked scores of a computed block count; skipped blocks do not.
int64_t ring_work(const Op& op, int64_t position, int64_t step);
// Whether ranks of one stage have different programs: in a plain ring under a causal mask, ranks have unequal
// work.
bool differs_by_position(const Graph& graph);

}  // namespace shardscape
