// Activation recomputation: before its backward, a segment runs chosen forward ops again from what was kept, collectives
// included, so that their results need not be kept (Chen et al., arXiv 1604.06174; Korthikanti et al., arXiv 2205.05198).
#include <algorithm>
#include <map>

#include "graph/segment_builder.h"

namespace shardscape {
namespace {

bool replayed(const Op& op, Recompute policy) {
  // Selective: the core of the attention, whose scores are large and cheap to make again, with what cp ranks exchange for it.
  const bool exchange = is_collective(op.kind) && std::all_of(op.group.begin(), op.group.end(), is_cp_axis);
  return policy == Recompute::Full || op.kind == OpKind::Attention || exchange;
}

}  // namespace

void recompute(SegmentBuilder& builder) {
  Segment& s = builder.segment();
  const Recompute policy = builder.structure().recompute;
  if (policy == Recompute::None || s.kind != SegmentKind::Layer) return;
  const std::vector<Op> forward(s.ops.begin(), s.ops.begin() + s.backward_begin);
  std::vector<Op> backward(s.ops.begin() + s.backward_begin, s.ops.end());
  s.ops.resize(static_cast<size_t>(s.backward_begin));

  std::map<TensorId, TensorId> again;       // forward tensor -> its second self
  std::map<StorageId, StorageId> storages;  // views of one storage stay so
  const auto current = [&](TensorId id) {
    const auto it = again.find(id);
    return it == again.end() ? id : it->second;
  };
  const OpId forward_end = s.backward_begin;
  if (builder.structure().split_checkpoints && policy == Recompute::Full) {
    // Every tp rank keeps its share of the segment's input, which all hold alike, and gathers the whole again.
    const Placement whole = s.tensor(s.input).placement;
    Placement share = whole;
    const MeshAxes& tp = builder.parameter_rules().of(Axis::Heads);
    share.shards[1].insert(share.shards[1].end(), tp.begin(), tp.end());
    builder.begin_backward();
    const TensorId kept = builder.redistribute(s.input, share, Phase::Forward, "the checkpoint of the " + s.name);
    s.backward_begin = static_cast<OpId>(s.ops.size());
    again[s.input] = builder.redistribute(kept, whole, Phase::Backward, "the replay of the " + s.name);
  }
  for (OpId id = 0; id < forward_end; ++id) {
    if (!replayed(forward[static_cast<size_t>(id)], policy)) continue;
    Op op = forward[static_cast<size_t>(id)];
    op.phase = Phase::Recompute;
    op.name += ".again";
    op.label += ", again";
    op.forward = id;
    for (TensorId& in : op.inputs) in = current(in);
    for (TensorId& out : op.outputs) {
      const Tensor first = s.tensor(out);
      const TensorId second = builder.add_tensor(first.name + ".again", first.axes, first.placement, first.dtype, first.role);
      const StorageId fresh = s.tensor(second).storage;
      s.storages[static_cast<size_t>(fresh)].bytes = s.storages[static_cast<size_t>(first.storage)].bytes;
      builder.tensor(second).storage = storages.try_emplace(first.storage, fresh).first->second;
      again[out] = second;
      out = second;
    }
    builder.add_op(std::move(op));
  }
  // The backward's ops keep their order behind the replay and read its results.
  const OpId shift = static_cast<OpId>(s.ops.size()) - forward_end;
  for (Op& op : backward) {
    const bool reads_again = policy == Recompute::Full || replayed(op.forward >= 0 ? s.op(op.forward) : op, policy);
    if (reads_again)
      for (TensorId& in : op.inputs) in = current(in);
    for (TensorId out : op.outputs) s.tensors[static_cast<size_t>(out)].producer += shift;
    s.ops.push_back(std::move(op));
  }
}

}  // namespace shardscape
