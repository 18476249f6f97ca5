// Placements of mixture-of-experts routing. Each flattened token row belongs to one rank; Flatten gives the
// tokens the axes of the expert mesh. The table of redistributions then yields the collectives: slots sharded
// by the ranks of their tokens meet expert weights sharded over ep, which is an all-to-all (Lepikhin et al.,
// arXiv 2006.16668; Megatron-core's token dispatchers). Where tokens are sent once per node, tokens first
// become slots per node, rows [nodes, node slots]; the receiving node turns these into slots per expert.
//
// Inference without sequence parallelism may share experts among tensor-parallel ranks, which have the same
// tokens: etp is not tp, and ep x etp covers tp (vLLM: "EP_SIZE = TP_SIZE x DP_SIZE",
// docs.vllm.ai/en/latest/serving/expert_parallel_deployment; SGLang: ep_size up to tp_size, etp = tp / ep,
// docs.sglang.io/advanced_features/expert_parallelism.html).
// - alltoall, flex: a rank of tp sends its part of the tokens, and the results are gathered over tp
//   (vLLM's sequence_parallel_chunk, pull requests 24134 and 24982: otherwise each rank of tp would send a
//   copy of each token to DeepEP).
// - allgather: a rank has the tokens of all ranks that share its experts: those of its own tp group, or the
//   gathered tokens of dp x cp. The results are Partial over tp and reduce-scattered over dp x cp (vLLM's
//   allgather_reducescatter with tensor_model_parallel_all_reduce; SGLang's moe_a2a_backend "none").
#include <algorithm>

#include "graph/segment_builder.h"

namespace shardscape {

void SegmentBuilder::shard_experts(const MeshAxes& batch) {
  const Structure& s = structure_;
  const auto append = [](MeshAxes& to, const MeshAxes& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  const MeshAxes tp = tp_axes(s), ep = ep_axes(s);
  const MeshAxes etp = !s.folded ? tp : s.etp ? MeshAxes{MeshAxis::Etp} : MeshAxes{};
  parameter_rules_.set(Axis::Experts, ep);
  parameter_rules_.set(Axis::ExpertFfn, etp);
  parameter_rules_.set(Axis::SharedFfn, tp);
  // Tokens split by hidden need the whole sequence of their cp rank.
  const bool by_hidden = s.dispatcher == Dispatcher::AllToAllSeq;
  if (by_hidden) routed_hidden_ = tp;
  routed_rules_ = s.sequence_parallel && !by_hidden ? stream_rules_ : inner_rules_;
  MeshAxes sequences = batch;
  if (!one_token_) append(sequences, cp_axes(s));
  if (repeats_tokens()) {
    token_axes_ = sequences;
    if (s.edp) expert_rows_ = sequences;  // ep x etp is one group of tp; otherwise it is the whole stage
    return;
  }
  if (experts_share_tp()) {
    const Axis split = one_token_ ? Axis::Batch : Axis::Seq;
    MeshAxes parts = routed_rules_.of(split);
    append(parts, tp);
    routed_rules_.set(split, parts);
  }
  if (!s.ep && !s.folded)
    expert_rows_ = sequences;
  else if (s.edp)
    expert_rows_ = {s.folded ? MeshAxis::EdpFolded : MeshAxis::Edp};
  append(token_axes_, expert_rows_);
  if (!by_hidden && (s.sequence_parallel || s.folded)) append(token_axes_, etp);
  // The axis that is exchanged first is innermost. A rank's own tokens do not depend on the order of axes.
  node_rows_ = token_axes_;
  if (s.ep_local) node_rows_.push_back(MeshAxis::EpLocal);
  if (s.ep_nodes) token_axes_ = node_rows_;
  append(token_axes_, s.ep_nodes ? node_axes(s) : ep);
}

// Placement in which a routing op reads an operand. Partial operands stay Partial along axes that the
// placement does not use, because routing is linear.
Placement SegmentBuilder::routed(RoutingRule rule, size_t operand, const Tensor& t) const {
  const bool gathers = structure_.dispatcher == Dispatcher::AllGather;
  const MeshAxes& rows = gathers ? expert_rows_ : token_axes_;
  Placement p;
  p.shards.resize(t.axes.size());
  switch (rule) {
    case RoutingRule::StreamToTokens:
      p.shards[0] = routed_rules_.of(Axis::Batch);
      p.shards[1] = routed_rules_.of(Axis::Seq);
      break;
    case RoutingRule::TokensToStream:
    case RoutingRule::Tokens: p.shards[0] = token_axes_; break;
    case RoutingRule::TokensToNodes: p.shards[0] = rows; break;
    case RoutingRule::NodesToTokens: p.shards = before_nodes().shards; break;
    case RoutingRule::ToExperts:
    case RoutingRule::FromExperts:
      if (structure_.ep_nodes) {
        p.shards = at_nodes().shards;
      } else if (rule == RoutingRule::FromExperts && operand == 0) {
        if (gathers) p.shards[0] = parameter_rules_.of(Axis::Experts);
        p.shards[1] = rows;
      } else {
        p.shards[0] = rows;
      }
      break;
  }
  if (t.axes.back() == Axis::Hidden || t.axes.back() == Axis::LatentWidth) p.shards.back() = routed_hidden_;
  p.reduce = t.placement.reduce;
  for (MeshAxis axis : t.placement.partial)
    if (!p.uses(axis)) p.partial.push_back(axis);
  return p;
}

MeshAxes SegmentBuilder::copies_of(const Tensor& parameter) const {
  if (std::find(parameter.axes.begin(), parameter.axes.end(), Axis::Experts) != parameter.axes.end())
    return expert_rows_;
  MeshAxes out;
  for (const Axis axis : {Axis::Batch, Axis::Seq})
    for (const MeshAxis split : inner_rules_.of(axis))
      if (!parameter.placement.uses(split)) out.push_back(split);
  std::sort(out.begin(), out.end());
  return out;
}

Placement SegmentBuilder::before_nodes() const { return {{{}, token_axes_, {}}, {}, Reduce::Sum}; }
Placement SegmentBuilder::at_nodes() const {
  return {{node_axes(structure_), node_rows_, {}}, {}, Reduce::Sum};
}
Placement SegmentBuilder::at_experts() const {
  return {{parameter_rules_.of(Axis::Experts), expert_rows_, {}}, {}, Reduce::Sum};
}

void SegmentBuilder::sum_by_stream_axes(Placement& combined) const {
  if (!repeats_tokens()) return;
  MeshAxes every = parameter_rules_.of(Axis::Experts);
  for (MeshAxis axis : parameter_rules_.of(Axis::ExpertFfn)) every.push_back(axis);
  std::sort(every.begin(), every.end());
  if (combined.partial != every) return;
  combined.partial = tp_axes(structure_);
  if (!structure_.edp)
    combined.partial.insert(combined.partial.end(), token_axes_.begin(), token_axes_.end());
  std::sort(combined.partial.begin(), combined.partial.end());
}

TensorId SegmentBuilder::whole_sum(TensorId combined) {
  Placement whole = tensor(combined).placement;
  const bool by_experts = std::any_of(whole.partial.begin(), whole.partial.end(), is_expert_axis);
  if (!repeats_tokens() || !by_experts) return combined;
  whole.partial.clear();
  return redistribute(combined, whole, Phase::Forward, "the tokens of all ranks");
}

LetterShards SegmentBuilder::route(RoutingRule rule, const OpSpec& spec, std::vector<TensorId>& operands,
                                   MeshAxes& partial, const std::string& consumer) {
  LetterShards shards;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (rule == RoutingRule::Tokens && tensor(operands[i]).producer < 0 &&
        tensor(operands[i]).role == TensorRole::Constant)
      continue;  // a balance bias, or a table of expert ids
    operands[i] = redistribute(operands[i], routed(rule, i, tensor(operands[i])), Phase::Forward, consumer);
    const Placement& p = tensor(operands[i]).placement;
    for (size_t d = 0; d < p.shards.size(); ++d) shards[spec.in[i][d]] = p.shards[d];
    partial.insert(partial.end(), p.partial.begin(), p.partial.end());
  }
  std::sort(partial.begin(), partial.end());
  // made: shards of the first letters of the result. dropped: how many letters of operand 0 the result lacks.
  const auto replace = [&](const std::vector<MeshAxes>& made, size_t dropped) {
    for (size_t d = 0; d < made.size(); ++d) shards[spec.out[d]] = made[d];
    for (size_t d = 0; d < dropped; ++d) shards.erase(spec.in[0][d]);
  };
  switch (rule) {
    case RoutingRule::StreamToTokens: replace({token_axes_}, 2); break;
    case RoutingRule::TokensToStream:
      replace({routed_rules_.of(Axis::Batch), routed_rules_.of(Axis::Seq)}, 1);
      break;
    case RoutingRule::NodesToTokens: replace({token_axes_}, 2); break;
    case RoutingRule::TokensToNodes: replace({{}, token_axes_}, 0); break;
    case RoutingRule::ToExperts:
      if (structure_.ep_nodes)
        replace({node_axes(structure_), node_rows_}, 0);
      else if (structure_.dispatcher == Dispatcher::AllGather)
        replace({parameter_rules_.of(Axis::Experts), expert_rows_}, 0);
      else
        replace({{}, token_axes_}, 0);
      break;
    case RoutingRule::Tokens:
    case RoutingRule::FromExperts: break;
  }
  return shards;
}

}  // namespace shardscape
