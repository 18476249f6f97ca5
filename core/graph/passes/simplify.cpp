// Simplify: drops ops whose results are not used.
#include <algorithm>

#include "graph/segment_builder.h"

namespace shardscape {

void simplify(SegmentBuilder& builder) {
  Segment& s = builder.segment();
  std::vector<bool> needed(s.tensors.size(), false), keep(s.ops.size(), false);
  auto need = [&](TensorId id) {
    if (id >= 0) needed[static_cast<size_t>(id)] = true;
  };
  need(s.output);
  need(s.input_grad);
  for (const Carried& carried : s.carried) {
    need(carried.out);
    need(carried.in_grad);
  }
  for (TensorId id : s.caches) need(id);
  for (const Param& p : s.params) need(p.gradient);
  for (size_t i = s.ops.size(); i-- > 0;) {
    const Op& op = s.ops[i];
    // A replay runs as a whole, even if the backward does not read its last results.
    keep[i] = op.phase == Phase::Recompute ||
              std::any_of(op.outputs.begin(), op.outputs.end(),
                          [&](TensorId id) { return needed[static_cast<size_t>(id)]; });
    if (keep[i])
      for (TensorId id : op.inputs) need(id);
  }
  std::vector<OpId> renumbered(s.ops.size(), -1);
  const auto kept_before = [&](OpId id) {
    return static_cast<OpId>(std::count(keep.begin(), keep.begin() + id, true));
  };
  const OpId backward_begin = kept_before(s.backward_begin), replay_end = kept_before(s.replay_end);
  std::vector<Op> ops;
  for (size_t i = 0; i < s.ops.size(); ++i) {
    if (!keep[i]) continue;
    renumbered[i] = static_cast<OpId>(ops.size());
    ops.push_back(std::move(s.ops[i]));
  }
  for (Op& op : ops)
    if (op.forward >= 0) op.forward = renumbered[static_cast<size_t>(op.forward)];
  for (Tensor& t : s.tensors)
    if (t.producer >= 0) t.producer = renumbered[static_cast<size_t>(t.producer)];
  s.ops = std::move(ops);
  s.backward_begin = backward_begin;
  s.replay_end = replay_end;
}

}  // namespace shardscape
