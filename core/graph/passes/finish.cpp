// Simplify and account: drops unused ops, then fills FLOPs, bytes and the storages saved for the backward.
#include <algorithm>
#include <set>

#include "graph/op_traits.h"
#include "graph/segment_builder.h"
#include "graph/useful_flops.h"

namespace shardscape {
namespace {

constexpr int64_t kQuantizeFlops = 2;  // per element: largest absolute value, scaling
constexpr int64_t kMergeFlops = 3;     // per part of a softmax: maximum, exponential, sum
// Per element of a clamped SwiGLU: three comparisons, a multiplication, an addition; as many in the backward.
constexpr int64_t kClampFlops = 5;
// Copies written: one scaled along the contraction of this GEMM, one along that of the weight gradient.
constexpr int64_t kQuantizedCopies = 2;

void drop_unused(Segment& s) {
  std::vector<bool> needed(s.tensors.size(), false), keep(s.ops.size(), false);
  auto want = [&](TensorId id) {
    if (id >= 0) needed[static_cast<size_t>(id)] = true;
  };
  want(s.output);
  want(s.input_grad);
  for (TensorId id : s.caches) want(id);
  for (const Param& p : s.params) want(p.gradient);
  for (size_t i = s.ops.size(); i-- > 0;) {
    const Op& op = s.ops[i];
    // A replay runs as a whole, even if the backward does not read its last results.
    keep[i] = op.phase == Phase::Recompute ||
              std::any_of(op.outputs.begin(), op.outputs.end(),
                          [&](TensorId id) { return needed[static_cast<size_t>(id)]; });
    if (keep[i])
      for (TensorId id : op.inputs) want(id);
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

// FLOPs of `with_keys` products with keys and `with_values` products with values, over all scores (queries x
// keys x heads). KV heads are not a separate dimension of the scores.
Expr attention_products(const Segment& s, const Op& op, int64_t with_keys, int64_t with_values) {
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  const Tensor &q = s.tensor(forward.inputs[0]), &k = s.tensor(forward.inputs[1]),
               &v = s.tensor(forward.inputs[2]);
  const Expr scores = local_size(q, 0) * local_size(q, 1) * local_size(q, 2) * local_size(k, 1);
  return Expr(2) * scores *
         (Expr(with_keys) * local_size(k, last_dim(k)) + Expr(with_values) * local_size(v, last_dim(v)));
}

// Share of the scores that the kernels of a ring compute: whole blocks of keys; blocks behind all queries are
// skipped. Rank ic of n computes ic + 1 blocks. Under zigzag it computes its own block and half of each other
// one (Llama team, arXiv 2407.21783, section 3.3.2, for the layout).
Expr ring_part(const Segment& s, const Op& op) {
  static const Expr position{Symbol::intern("ic")};
  const Tensor& q = s.tensor((op.forward >= 0 ? s.op(op.forward) : op).inputs[0]);
  const AttentionAttributes& attributes = attention_attributes(op);
  if (attributes.ring == Ring::None || !attributes.causal) return Expr(1);
  const Expr ranks = q.sizes[1] / local_size(q, 1);
  return attributes.ring == Ring::Zigzag ? (ranks + Expr(1)) / (Expr(2) * ranks)
                                         : (position + Expr(1)) / ranks;
}

// Exact share of the scores under a causal mask: (S + 1) / (2 S) of all pairs. With a window of We <= S
// tokens, the first We queries see 1, 2, ..., We keys and the others We.
Expr causal_part(const Segment& s, const Op& op, const Expr& all) {
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  const Tensor &q = s.tensor(forward.inputs[0]), &k = s.tensor(forward.inputs[1]);
  const AttentionAttributes& attributes = attention_attributes(forward);
  if (!attributes.causal || q.sizes[1] != k.sizes[1]) return all;
  const Expr length = k.sizes[1];  // if ranks hold parts of the queries, the result is the mean over ranks
  if (attributes.window) {
    static const Expr reach{Symbol::intern("We")};
    return all * (Expr(2) * reach * length - reach * reach + reach) / (Expr(2) * length * length);
  }
  // All keys before this rank's block, and its own block under the mask.
  if (attributes.ring == Ring::Plain) {
    static const Expr position{Symbol::intern("ic")};
    const Expr block = local_size(q, 1);
    return all * (Expr(2) * position * block + block + Expr(1)) / (Expr(2) * length);
  }
  return all * (length + Expr(1)) / (Expr(2) * length);
}

// SSD: a scan in chunks of Qe tokens as matrix products (Dao and Gu, arXiv 2405.21060, section 6), with B and
// C per group and x per head. Forward: C·B within a chunk, its product with x, states of chunks from B and x,
// results from C and states. Backward: C·B and states again, and two products for each of the four.
void count_ssd(const Segment& s, Op& op) {
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  const Tensor &x = s.tensor(forward.inputs[0]), &b = s.tensor(forward.inputs[3]);
  static const Expr chunk{Symbol::intern("Qe")};
  const bool backward = op.grad != GradRole::None;
  const Expr scores = Expr(2) * local_elements(b) * chunk, values = Expr(2) * local_elements(x) * chunk;
  const Expr states = Expr(2) * local_elements(x) * local_size(b, static_cast<int>(b.axes.size()) - 1);
  op.flops = Expr(backward ? 3 : 1) * scores + Expr(backward ? 2 : 1) * values +
             Expr(backward ? 5 : 2) * states;
  // Exact: unmasked scores only, and nothing twice.
  op.useful_flops = Expr(backward ? 2 : 1) *
                    ((scores + values) * (chunk + Expr(1)) / (Expr(2) * chunk) + Expr(2) * states);
}

void count_attention(const Segment& s, Op& op, const KernelProfile& profile) {
  const bool backward = op.grad != GradRole::None;
  // Forward: scores and values. Backward: scores again, then the gradients of values and weights, of queries
  // and keys (Dao et al., arXiv 2205.14135, alg. 4).
  const KernelRule* rule = profile.rule("attention");
  op.flops = (backward ? attention_products(s, op, (rule ? rule->backward_products : 5) - 2, 2)
                       : attention_products(s, op, 1, 1)) *
             ring_part(s, op);
  op.useful_flops = causal_part(s, op,
                                backward ? attention_products(s, op, 2, 2) : attention_products(s, op, 1, 1));
}

void count_flops(const Segment& s, Op& op, const KernelProfile& profile) {
  const Op& forward = op.forward >= 0 ? s.op(op.forward) : op;
  const auto per_element = [&](const Expr& elements) {
    const KernelRule* rule = profile.rule(std::string(template_name(op.kind)));
    if (!rule) return;
    const SwiGluAttributes* gate = swiglu_of(op);
    op.flops = Expr((op.grad != GradRole::None ? rule->backward_flops : rule->flops) +
                    (gate && gate->clamp ? kClampFlops : 0)) *
               elements;
  };
  switch (op_traits(op.kind).flops) {
    case FlopsRule::None: return;
    case FlopsRule::Attention: return count_attention(s, op, profile);
    case FlopsRule::Scan: return count_ssd(s, op);
    case FlopsRule::Letters: per_element(index_space(s, forward)); break;
    case FlopsRule::OwnLetters: per_element(index_space(s, op)); break;
    case FlopsRule::Result: per_element(local_elements(s.tensor(forward.outputs[0]))); break;
    case FlopsRule::FirstOperand: per_element(local_elements(s.tensor(forward.inputs[0]))); break;
    case FlopsRule::Contraction: op.flops = Expr(2) * index_space(s, op); break;
    case FlopsRule::Sum:
      op.flops = Expr(static_cast<int64_t>(op.inputs.size()) - 1) * local_elements(s.tensor(op.outputs[0]));
      break;
    case FlopsRule::Merge:
      op.flops = local_elements(s.tensor(op.inputs[0])) +
                 Expr(kMergeFlops) * local_elements(s.tensor(op.inputs[2]));
      break;
    case FlopsRule::Quantize: op.flops = Expr(kQuantizeFlops) * local_elements(s.tensor(op.inputs[0])); break;
  }
  op.useful_flops = op.flops;
}

// Bytes written to a cache. Decode: the part of the new token. Prefill: the part of the prompt that the cache
// holds.
void count_cache_write(const Segment& s, Op& op) {
  const Tensor &made = s.tensor(op.inputs[0]), &cache = s.tensor(op.outputs[0]);
  const Expr elements = op.inputs.size() > 1 ? local_elements(made) : local_elements(cache);
  op.read_bytes = elements * dtype_size(made.dtype);
  op.written_bytes = elements * dtype_size(cache.dtype);
}

void count_bytes(const Segment& s, Op& op) {
  if (is_relabelling(op.kind) || is_cache_view(s, op)) return;
  if (op.kind == OpKind::CacheWrite) return count_cache_write(s, op);
  if (op.kind == OpKind::LastToken) {
    op.read_bytes = op.written_bytes = local_bytes(s.tensor(op.outputs[0]));
    return;
  }
  const bool lookup = op.kind == OpKind::Embed || op.kind == OpKind::PositionAdd;
  std::set<TensorId> read, written(op.outputs.begin(), op.outputs.end());
  for (TensorId id : op.inputs) {
    if (!read.insert(id).second) continue;
    const Tensor& t = s.tensor(id);
    if (values_in_keys(s, op) && id == op.inputs[2]) continue;
    if (lookup && t.role == TensorRole::Parameter)  // only the rows of the tokens
      op.read_bytes += op.kind == OpKind::Embed ? local_bytes(s.tensor(op.outputs[0]))
                                                : local_size(s.tensor(op.inputs[0]), 1) * local_size(t, 1) *
                                                      Expr(dtype_bytes(t.dtype));
    else
      op.read_bytes += t.role == TensorRole::Parameter && is_quantized(op.compute)
                           ? local_elements(t) * dtype_size(op.compute)
                           : local_bytes(t);
  }
  for (TensorId id : written) {
    const Tensor& t = s.tensor(id);
    Expr bytes = local_bytes(t);
    if (op.kind == OpKind::Embed && t.role == TensorRole::ParameterGradient)
      bytes = local_elements(s.tensor(op.inputs[0])) * Expr(dtype_bytes(t.dtype));
    op.written_bytes += op.kind == OpKind::Quantize ? Expr(kQuantizedCopies) * bytes : bytes;
    // Gradients of parameters accumulate over microbatches, so they are also read.
    if (t.role == TensorRole::ParameterGradient) op.read_bytes += bytes;
  }
}

// The forward op whose backward reads the result of a collective: the saver of the collective's input.
// Collectives may follow each other, for example where heads are exchanged before a ring.
OpId reader_behind(const Segment& s, const Op& collective) {
  OpId out = -1;
  for (const Op& reader : s.ops) {
    if (std::find(reader.inputs.begin(), reader.inputs.end(), collective.outputs[0]) == reader.inputs.end())
      continue;
    if (const OpId named = reader.forward < 0 && is_collective(reader.kind) ? reader_behind(s, reader)
                                                                            : reader.forward;
        named >= 0)
      out = named;
  }
  return out;
}

// Forward storages that the backward of a layer with this checkpoint policy reads. replays: if not null,
// receives the storages of the replay that the backward reads.
std::vector<SavedStorage> collect_saved(const Segment& s, CheckpointPolicy checkpoint_policy,
                                        std::vector<SavedStorage>* replays) {
  std::set<StorageId> seen, replayed;
  std::vector<SavedStorage> saved;
  for (size_t i = static_cast<size_t>(s.backward_begin); i < s.ops.size(); ++i) {
    if (!runs(s.ops[i], checkpoint_policy)) continue;
    for (TensorId read : s.ops[i].inputs) {
      const TensorId id = checkpoint_policy == CheckpointPolicy::Activations ? forward_original(s, read)
                                                                             : read;
      const Tensor& t = s.tensor(id);
      if (t.role == TensorRole::Parameter || t.role == TensorRole::ParameterGradient ||
          t.role == TensorRole::Gradient)
        continue;
      if (t.producer >= s.backward_begin) {  // recomputed or gathered again: its source is saved instead
        const Op& producer = s.op(t.producer);
        const bool recomputed = is_recomputation(producer) || producer.scope == OpScope::Checkpoint;
        if (replays && recomputed && s.ops[i].phase == Phase::Backward && replayed.insert(t.storage).second)
          replays->push_back({t.storage, producer.forward >= 0 ? producer.forward : s.ops[i].forward});
        continue;
      }
      OpId saver = s.ops[i].forward >= 0 ? s.ops[i].forward : t.producer;
      if (is_collective(s.ops[i].kind))
        if (const OpId named = reader_behind(s, s.ops[i]); named >= 0) saver = named;
      if (seen.insert(t.storage).second) saved.push_back({t.storage, saver});
    }
  }
  std::stable_sort(saved.begin(), saved.end(),
                   [](const SavedStorage& a, const SavedStorage& b) { return a.saver < b.saver; });
  return saved;
}

// Sets Op::deferrable: backward ops that the gradient of the segment's input does not depend on. Replays run
// before all other ops, so they are never deferred.
void split_backward(Segment& s) {
  std::vector<bool> needed(s.tensors.size(), false);
  if (s.input_grad >= 0) needed[static_cast<size_t>(s.input_grad)] = true;
  for (size_t i = s.ops.size(); i-- > static_cast<size_t>(s.backward_begin);) {
    Op& op = s.ops[i];
    op.deferrable = op.phase != Phase::Recompute &&
                    std::none_of(op.outputs.begin(), op.outputs.end(),
                                 [&](TensorId id) { return needed[static_cast<size_t>(id)]; });
    if (op.deferrable) continue;
    for (TensorId id : op.inputs)
      if (id >= 0) needed[static_cast<size_t>(id)] = true;
  }
}

std::vector<SavedStorage> collect_deferred(const Segment& s, CheckpointPolicy checkpoint_policy) {
  std::set<StorageId> seen;
  std::vector<SavedStorage> out;
  for (const Op& op : s.ops) {
    if (!op.deferrable || !runs(op, checkpoint_policy)) continue;
    for (TensorId read : op.inputs) {
      if (read < 0) continue;
      const TensorId id = checkpoint_policy == CheckpointPolicy::Activations ? forward_original(s, read)
                                                                             : read;
      const Tensor& t = s.tensor(id);
      if (t.role == TensorRole::Parameter || t.role == TensorRole::ParameterGradient) continue;
      if (t.producer >= 0 && s.op(t.producer).deferrable) continue;
      const OpId named = op.forward >= 0 ? op.forward : reader_behind(s, op);
      if (seen.insert(t.storage).second) out.push_back({t.storage, named >= 0 ? named : 0});
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const SavedStorage& a, const SavedStorage& b) { return a.saver < b.saver; });
  return out;
}

}  // namespace

void finish_segment(SegmentBuilder& builder) {
  Segment& s = builder.segment();
  drop_unused(s);
  for (Op& op : s.ops) {
    count_flops(s, op, builder.profile());
    // A recomputed op does no useful work
    op.useful_flops = is_recomputation(op) ? Expr() : useful_flops_of(s, op.useful_flops);
    count_bytes(s, op);
  }
  fuse(builder);
  // Selective recompute has no op scopes: every layer replays the same ops.
  const bool full = s.replay_end > s.backward_begin;
  s.saved = collect_saved(s, CheckpointPolicy::Input, &s.replayed);
  if (full) s.saved_without_recompute = collect_saved(s, CheckpointPolicy::Activations, nullptr);
  split_backward(s);
  s.deferred = collect_deferred(s, CheckpointPolicy::Input);
  if (full) s.deferred_without_recompute = collect_deferred(s, CheckpointPolicy::Activations);
}

}  // namespace shardscape
