#include "graph/ring.h"

#include <algorithm>

namespace shardscape {

RingOps ring_ops(const Segment& segment, OpId attention) {
  RingOps out{attention, {}, {}};
  for (const TensorId in : segment.op(attention).inputs) {
    const OpId producer = segment.tensor(in).producer;
    if (producer >= 0 && segment.op(producer).kind == OpKind::RingPass) out.passes.push_back(producer);
  }
  for (OpId id = attention + 1; id < static_cast<OpId>(segment.ops.size()); ++id) {
    const Op& op = segment.op(id);
    if (op.kind == OpKind::RingSum && segment.tensor(op.inputs[0]).producer == attention)
      out.sums.push_back(id);
  }
  return out;
}

std::vector<RingEvent> ring_events(const RingOps& ring, int64_t ranks) {
  std::vector<RingEvent> out;
  for (int64_t step = 0; step < ranks; ++step) {
    // Each rank sends the next block on while it computes with the present block.
    if (step + 1 < ranks)
      for (const OpId pass : ring.passes) out.push_back({pass, step});
    out.push_back({ring.attention, step});
    for (const OpId sum : ring.sums) out.push_back({sum, step});
  }
  return out;
}

int64_t ring_work(const Op& op, int64_t position, int64_t step) {
  const AttentionAttributes& attributes = attention_attributes(op);
  if (!attributes.causal) return 2;
  if (attributes.ring == Ring::Zigzag) return step == 0 ? 2 : 1;
  return step <= position ? 2 : 0;
}

bool differs_by_position(const Graph& graph) {
  return std::any_of(graph.segments.begin(), graph.segments.end(), [](const Segment& segment) {
    return std::any_of(segment.ops.begin(), segment.ops.end(),
                       [](const Op& op) { return ring_of(op) == Ring::Plain && attention_of(op)->causal; });
  });
}

}  // namespace shardscape
