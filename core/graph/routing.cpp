// Placements of mixture-of-experts routing. Each flattened token row belongs to one rank; Flatten gives the
// tokens the axes of the expert mesh. The table of redistributions then yields the collectives: slots sharded
// by the ranks of their tokens meet expert weights sharded over ep, which is an all-to-all (Lepikhin et al.,
// arXiv 2006.16668; Megatron-core's token dispatchers). Where tokens are sent once per node, tokens first
// become slots per node, rows [nodes, node slots]; the receiving node turns these into slots per expert.
#include <algorithm>

#include "graph/segment_builder.h"

namespace shardscape {

// Placement in which a routing op reads an operand. Partial operands stay Partial along axes that the
// placement does not use, because routing is linear.
Placement SegmentBuilder::routed(OpKind kind, size_t operand, const Tensor& t) const {
  const bool gathers = structure_.dispatcher == Dispatcher::AllGather;
  const MeshAxes& rows = gathers ? expert_rows_ : token_axes_;
  const auto inner = [&](Axis axis) { return axis == Axis::Hidden ? routed_hidden_ : MeshAxes{}; };
  Placement p;
  p.shards.resize(t.axes.size());
  const bool in_node = structure_.ep_nodes && (kind == OpKind::Dispatch || kind == OpKind::Combine);
  switch (kind) {
    case OpKind::Flatten: {
      // Tokens split by hidden need the whole sequence of their cp rank.
      const bool stream = structure_.sequence_parallel && structure_.dispatcher != Dispatcher::AllToAllSeq;
      p.shards[0] = (stream ? stream_rules_ : inner_rules_).of(Axis::Batch);
      p.shards[1] = (stream ? stream_rules_ : inner_rules_).of(Axis::Seq);
      p.shards.back() = inner(t.axes.back());
      break;
    }
    case OpKind::Unflatten:
    case OpKind::SoftmaxTopK:
    case OpKind::SigmoidTopK:
      p.shards[0] = token_axes_;
      p.shards.back() = inner(t.axes.back());
      break;
    default:
      if (in_node || kind == OpKind::CombineNodes) {
        p.shards = (in_node ? at_nodes() : before_nodes()).shards;
      } else if (kind == OpKind::Combine && operand == 0) {
        if (gathers) p.shards[0] = parameter_rules_.of(Axis::Experts);
        p.shards[1] = rows;
      } else {
        p.shards[0] = rows;
      }
      p.shards.back() = inner(t.axes.back());
  }
  p.reduce = t.placement.reduce;
  for (MeshAxis axis : t.placement.partial)
    if (!p.uses(axis)) p.partial.push_back(axis);
  return p;
}

Placement SegmentBuilder::before_nodes() const { return {{{}, token_axes_, {}}, {}, Reduce::Sum}; }
Placement SegmentBuilder::at_nodes() const {
  return {{node_axes(structure_), node_rows_, {}}, {}, Reduce::Sum};
}
Placement SegmentBuilder::at_experts() const {
  return {{parameter_rules_.of(Axis::Experts), expert_rows_, {}}, {}, Reduce::Sum};
}

LetterShards SegmentBuilder::route(OpKind kind, const OpSpec& spec, std::vector<TensorId>& operands,
                                   MeshAxes& partial, const std::string& consumer) {
  LetterShards shards;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (tensor(operands[i]).producer < 0 && tensor(operands[i]).role == TensorRole::Constant)
      continue;  // a balance bias
    operands[i] = redistribute(operands[i], routed(kind, i, tensor(operands[i])), Phase::Forward, consumer);
    const Placement& p = tensor(operands[i]).placement;
    for (size_t d = 0; d < p.shards.size(); ++d) shards[spec.in[i][d]] = p.shards[d];
    partial.insert(partial.end(), p.partial.begin(), p.partial.end());
  }
  std::sort(partial.begin(), partial.end());
  if (kind == OpKind::Flatten) {
    shards[spec.out[0]] = token_axes_;
    shards.erase(spec.in[0][0]);
    shards.erase(spec.in[0][1]);
  } else if (kind == OpKind::Unflatten) {
    const bool stream = structure_.sequence_parallel && structure_.dispatcher != Dispatcher::AllToAllSeq;
    shards[spec.out[0]] = (stream ? stream_rules_ : inner_rules_).of(Axis::Batch);
    shards[spec.out[1]] = (stream ? stream_rules_ : inner_rules_).of(Axis::Seq);
    shards.erase(spec.in[0][0]);
  } else if (kind == OpKind::CombineNodes) {
    shards[spec.out[0]] = token_axes_;
    shards.erase(spec.in[0][0]);
    shards.erase(spec.in[0][1]);
  } else if (kind == OpKind::DispatchNodes) {
    shards[spec.out[0]] = {};
    shards[spec.out[1]] = token_axes_;
  } else if (kind == OpKind::Dispatch && structure_.ep_nodes) {
    shards[spec.out[0]] = node_axes(structure_);
    shards[spec.out[1]] = node_rows_;
  } else if (kind == OpKind::Dispatch) {
    const bool gathers = structure_.dispatcher == Dispatcher::AllGather;
    shards[spec.out[0]] = gathers ? parameter_rules_.of(Axis::Experts) : MeshAxes{};
    shards[spec.out[1]] = gathers ? expert_rows_ : token_axes_;
  }
  return shards;
}

}  // namespace shardscape
