// Simplify and account: drops what nothing uses, then fills FLOPs, bytes and the set of storages kept for backward.
#include <algorithm>
#include <set>

#include "graph/segment_builder.h"

namespace shardscape {
namespace {

void drop_unused(Segment& s) {
  std::vector<bool> wanted(s.tensors.size(), false), keep(s.ops.size(), false);
  auto want = [&](TensorId id) {
    if (id >= 0) wanted[static_cast<size_t>(id)] = true;
  };
  want(s.output);
  want(s.input_grad);
  for (const Param& p : s.params) want(p.gradient);
  for (size_t i = s.ops.size(); i-- > 0;) {
    const Op& op = s.ops[i];
    // A replay runs as a whole, whether or not the backward reads its last results.
    keep[i] = op.phase == Phase::Recompute || std::any_of(op.outputs.begin(), op.outputs.end(), [&](TensorId id) { return wanted[static_cast<size_t>(id)]; });
    if (keep[i])
      for (TensorId id : op.inputs) want(id);
  }
  std::vector<OpId> renumbered(s.ops.size(), -1);
  std::vector<Op> ops;
  OpId backward_begin = 0;
  for (size_t i = 0; i < s.ops.size(); ++i) {
    if (static_cast<OpId>(i) == s.backward_begin) backward_begin = static_cast<OpId>(ops.size());
    if (!keep[i]) continue;
    renumbered[i] = static_cast<OpId>(ops.size());
    ops.push_back(std::move(s.ops[i]));
  }
  if (s.backward_begin == static_cast<OpId>(renumbered.size())) backward_begin = static_cast<OpId>(ops.size());
  for (Op& op : ops)
    if (op.forward >= 0) op.forward = renumbered[static_cast<size_t>(op.forward)];
  for (Tensor& t : s.tensors)
    if (t.producer >= 0) t.producer = renumbered[static_cast<size_t>(t.producer)];
  s.ops = std::move(ops);
  s.backward_begin = backward_begin;
}

// Product of the local sizes of every letter of the op: its index space on one rank.
Expr index_space(const Segment& s, const Op& op) {
  const OpSpec spec = *parse_op_spec(op.spec);
  std::set<char> seen;
  Expr out(1);
  auto take = [&](const std::string& letters, TensorId id) {
    for (size_t d = 0; d < letters.size(); ++d)
      if (seen.insert(letters[d]).second) out = out * local_size(s.tensor(id), static_cast<int>(d));
  };
  for (size_t i = 0; i < spec.in.size(); ++i) take(spec.in[i], op.inputs[i]);
  take(spec.out, op.outputs[0]);
  return out;
}

// Scores of one head: queries x keys; KV heads are no dimension of their own in it.
Expr attention_space(const Segment& s, const Op& op) {
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  const Tensor &q = s.tensor(forward.inputs[0]), &k = s.tensor(forward.inputs[1]);
  return local_elements(q) * local_size(k, 1);
}

// Share of the scores that the kernels of a ring compute: whole blocks of keys, and none where all lie behind the queries.
// Rank ic of n visits ic + 1 of them; under zigzag its own and half of each other one (Llama team, arXiv 2407.21783,
// section 3.3.2, for the layout).
Expr ring_part(const Segment& s, const Op& op) {
  static const Expr position{Symbol::intern("ic")};
  const Tensor& q = s.tensor((op.forward >= 0 ? s.op(op.forward) : op).inputs[0]);
  if (op.ring == Ring::None || !op.causal) return Expr(1);
  const Expr ranks = q.sizes[1] / local_size(q, 1);
  return op.ring == Ring::Zigzag ? (ranks + Expr(1)) / (Expr(2) * ranks) : (position + Expr(1)) / ranks;
}

// Share of the scores under a causal mask, exactly: (S + 1) / (2 S) of all pairs; with a window of We <= S tokens the
// first We queries see 1, 2, ..., We keys and the others We.
Expr causal_part(const Segment& s, const Op& op, const Expr& all) {
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  const Tensor &q = s.tensor(forward.inputs[0]), &k = s.tensor(forward.inputs[1]);
  if (!forward.causal || q.sizes[1] != k.sizes[1]) return all;
  const Expr length = k.sizes[1];  // where ranks hold parts of the queries, the mean over them
  if (forward.window) {
    static const Expr reach{Symbol::intern("We")};
    return all * (Expr(2) * reach * length - reach * reach + reach) / (Expr(2) * length * length);
  }
  if (forward.ring == Ring::Plain) {  // all of the keys before this rank's block, and its own under the mask
    static const Expr position{Symbol::intern("ic")};
    const Expr block = local_size(q, 1);
    return all * (Expr(2) * position * block + block + Expr(1)) / (Expr(2) * length);
  }
  return all * (length + Expr(1)) / (Expr(2) * length);
}

void count_flops(const Segment& s, Op& op, const KernelProfile& profile) {
  const bool backward = op.phase == Phase::Backward;
  switch (op.kind) {
    case OpKind::AllReduce: case OpKind::AllGather: case OpKind::ReduceScatter: case OpKind::AllToAll: case OpKind::Slice: case OpKind::RingPass: case OpKind::RingSum:
    case OpKind::Optimizer: return;
    case OpKind::Einsum: op.flops = Expr(2) * index_space(s, op); break;
    case OpKind::Attention: {
      // Forward: scores and values. Backward: scores again, then four products (Dao et al., arXiv 2205.14135, alg. 4).
      const Expr space = attention_space(s, op);
      const KernelRule* rule = profile.rule("attention");
      op.flops = Expr(backward ? 2 * (rule ? rule->backward_products : 5) : 4) * space * ring_part(s, op);
      op.useful_flops = causal_part(s, op, Expr(backward ? 8 : 4) * space);
      return;
    }
    case OpKind::Add: op.flops = Expr(static_cast<int64_t>(op.inputs.size()) - 1) * local_elements(s.tensor(op.outputs[0])); break;
    default: {
      const KernelRule* rule = profile.rule(std::string(template_name(op.kind)));
      if (!rule) return;
      const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
      // A table lookup touches the rows of its tokens, not the table.
      const Expr space = op.kind == OpKind::Embed || op.kind == OpKind::PositionAdd ? local_elements(s.tensor(forward.outputs[0]))
                                                                                    : index_space(s, forward);
      op.flops = Expr(backward ? rule->backward_flops : rule->flops) * space;
    }
  }
  op.useful_flops = op.flops;
}


void count_bytes(const Segment& s, Op& op) {
  const bool lookup = op.kind == OpKind::Embed || op.kind == OpKind::PositionAdd;
  std::set<TensorId> read, written(op.outputs.begin(), op.outputs.end());
  for (TensorId id : op.inputs) {
    if (!read.insert(id).second) continue;
    const Tensor& t = s.tensor(id);
    if (lookup && t.role == TensorRole::Parameter)  // rows of the tokens only
      op.read_bytes += op.kind == OpKind::Embed ? local_bytes(s.tensor(op.outputs[0])) : local_size(s.tensor(op.inputs[0]), 1) * local_size(t, 1) * Expr(dtype_bytes(t.dtype));
    else
      op.read_bytes += local_bytes(t);
  }
  for (TensorId id : written) {
    const Tensor& t = s.tensor(id);
    Expr bytes = local_bytes(t);
    if (op.kind == OpKind::Embed && t.role == TensorRole::ParameterGradient)
      bytes = local_elements(s.tensor(op.inputs[0])) * Expr(dtype_bytes(t.dtype));
    op.written_bytes += bytes;
    // Gradients of parameters accumulate over microbatches.
    if (t.role == TensorRole::ParameterGradient) op.read_bytes += bytes;
  }
}

void collect_saved(Segment& s) {
  std::set<StorageId> seen, replayed;
  for (size_t i = static_cast<size_t>(s.backward_begin); i < s.ops.size(); ++i) {
    for (TensorId id : s.ops[i].inputs) {
      const Tensor& t = s.tensor(id);
      if (t.role == TensorRole::Parameter || t.role == TensorRole::ParameterGradient || t.role == TensorRole::Gradient) continue;
      if (t.producer >= s.backward_begin) {  // gathered or computed again: what it was made from is kept
        const Op& maker = s.op(t.producer);
        if (maker.phase == Phase::Recompute && s.ops[i].phase == Phase::Backward && replayed.insert(t.storage).second)
          s.replayed.push_back({t.storage, maker.forward});
        continue;
      }
      OpId saver = s.ops[i].forward >= 0 ? s.ops[i].forward : t.producer;
      if (is_collective(s.ops[i].kind)) {
        // The reader behind the collective names the saver.
        for (const Op& reader : s.ops)
          if (std::find(reader.inputs.begin(), reader.inputs.end(), s.ops[i].outputs[0]) != reader.inputs.end()) saver = reader.forward;
      }
      if (seen.insert(t.storage).second) s.saved.push_back({t.storage, saver});
    }
  }
  std::stable_sort(s.saved.begin(), s.saved.end(), [](const SavedStorage& a, const SavedStorage& b) { return a.saver < b.saver; });
}

}  // namespace

void finish_segment(SegmentBuilder& builder) {
  Segment& s = builder.segment();
  drop_unused(s);
  for (Op& op : s.ops) {
    count_flops(s, op, builder.profile());
    if (op.phase == Phase::Recompute) op.useful_flops = Expr();  // done before
    count_bytes(s, op);
  }
  collect_saved(s);
}

}  // namespace shardscape
