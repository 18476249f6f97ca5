#include <algorithm>
#include <stdexcept>

#include "graph/graph.h"
#include "graph/op_traits.h"
#include "model/kernel_profile.h"

namespace shardscape {

bool applies(const Structure& structure, const KernelStat& stat) {
  const bool gathers = structure.dispatcher == Dispatcher::AllGather;
  const std::pair<const char*, bool> known[] = {
      {"dropout", structure.dropout},  {"b>1", structure.many_microbatch},
      {"grouped", structure.grouped},  {"allgather", gathers},
      {"alltoall", !gathers},          {"local_experts>1", structure.local_experts},
      {"no ring", !structure.ring},    {"at_once", !structure.ep_nodes},
      {"by_node", structure.ep_nodes}, {"unpadded", !structure.padded_slots}};
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = stat.when.find('&', begin);
    for (const auto& [name, holds] : known)
      if (!holds && stat.when.compare(begin, end - begin, name) == 0) return false;
  }
  return true;
}

bool is_cache_view(const Segment& segment, const Op& op) {
  const auto cached = [&](TensorId id) { return segment.tensor(id).role == TensorRole::Cache; };
  return op.kind == OpKind::Concat && cached(op.outputs[0]);
}

bool is_buffer(const Segment& segment, TensorId tensor) {
  return std::any_of(segment.buffers.begin(), segment.buffers.end(),
                     [&](const Buffer& buffer) { return buffer.tensor == tensor; });
}

Expr seen_of_cache(const Segment& segment, const Op& op) {
  static const Expr context{Symbol::intern("C")}, tokens{Symbol::intern("Wce")}, chunks{Symbol::intern("Wn")};
  const AttentionAttributes* attention = attention_of(op);
  // The keys of a prompt, under its mask, begin with the chunk of the first query.
  if (!attention || !attention->chunk || attention->causal ||
      segment.tensor(op.inputs[1]).role != TensorRole::Cache)
    return Expr(1);
  const Expr chunk = segment.scope.of(tokens);
  return (context - segment.scope.of(chunks) * chunk) / chunk;
}

bool values_in_keys(const Segment& segment, const Op& op) {
  return op_traits(op.kind).family == OpFamily::Attention && op.grad == GradRole::None &&
         segment.tensor(op.inputs[1]).axes.size() == 3;
}

TensorId picked_keys(const Segment& segment, const Op& forward) {
  if (op_traits(forward.kind).family != OpFamily::Attention) return -1;
  for (size_t i = 3; i < forward.inputs.size(); ++i)
    if (segment.tensor(forward.inputs[i]).axes.back() == Axis::Picked) return forward.inputs[i];
  return -1;
}

Expr picked_per_query(const Segment& segment, const Op& forward) {
  static const Expr in_blocks{Symbol::intern("Kt")};
  return attention_attributes(forward).block ? in_blocks
                                             : segment.tensor(picked_keys(segment, forward)).sizes.back();
}

TensorId compressed_keys(const Segment& segment, const Op& forward) {
  if (op_traits(forward.kind).family != OpFamily::Attention) return -1;
  for (size_t i = 3; i < forward.inputs.size(); ++i) {
    const std::vector<Axis>& axes = segment.tensor(forward.inputs[i]).axes;
    if (axes.size() == 3 && is_compressed(axes[1])) return forward.inputs[i];
  }
  return -1;
}

Expr compressed_per_query(const Segment& segment, const Op& forward) {
  return picked_keys(segment, forward) >= 0 ? picked_per_query(segment, forward)
                                            : segment.tensor(compressed_keys(segment, forward)).sizes[1];
}

Expr window_width(const Segment& segment) {
  static const Expr width{Symbol::intern("W")};
  return segment.scope.of(width);
}

Expr window_per_query(const Segment& segment, const Op& forward) {
  static const Expr window{Symbol::intern("We")};
  return attention_attributes(forward).window ? segment.scope.of(window)
                                              : segment.tensor(forward.inputs[1]).sizes[1];
}

Expr compressed_pairs(const Segment& segment, const Expr& length, const Expr& keys) {
  static const Expr ratio{Symbol::intern("Cr")};
  const Expr block = segment.scope.of(ratio);
  return block * keys * (keys - Expr(1)) / Expr(2) + keys * (length - block * keys + Expr(1));
}

Expr rising_pairs(const Expr& rising, const Expr& others, const Expr& length) {
  return rising * (rising + Expr(1)) / Expr(2) + (length - rising) * others;
}

Expr chunk_pairs(const Expr& chunk, const Expr& whole, const Expr& length) {
  const Expr rest = length - whole * chunk;
  return (whole * chunk * (chunk + Expr(1)) + rest * (rest + Expr(1))) / Expr(2);
}

std::optional<Expr> pairs_after_cached(const Segment& segment, const Op& forward) {
  static const Expr all{Symbol::intern("C")}, tokens{Symbol::intern("S")};
  const auto symbol = [&](const char* name) { return segment.scope.of(Expr(Symbol::intern(name))); };
  const AttentionAttributes& masks = attention_attributes(forward);
  const Tensor& keys = segment.tensor(forward.inputs[1]);
  if (!masks.causal || masks.block || !is_context(keys.axes[1]) || is_compressed(keys.axes[1]))
    return std::nullopt;
  const Expr before = all - tokens;
  if (picked_keys(segment, forward) >= 0)
    return rising_pairs(symbol("Kp"), symbol("Kp"), all) - rising_pairs(symbol("Kb"), symbol("Kb"), before);
  // The first Wb tokens see fewer keys than a window has, if there are as many.
  if (masks.window)
    return rising_pairs(symbol("We"), symbol("We"), all) -
           rising_pairs(symbol("Wb"), symbol("Wb") + Expr(1), before);
  if (masks.chunk)
    return chunk_pairs(symbol("Wce"), symbol("Wn"), all) - chunk_pairs(symbol("Wce"), symbol("Wp"), before);
  return tokens * (Expr(2) * all - tokens + Expr(1)) / Expr(2);
}

TensorId forward_original(const Segment& segment, TensorId id) {
  while (id >= 0 && segment.tensor(id).repeat_of >= 0) id = segment.tensor(id).repeat_of;
  return id;
}

bool runs(const Op& op, CheckpointPolicy checkpoint_policy) {
  return op.scope == OpScope::Always || checkpoint_policy == CheckpointPolicy::Input ||
         (op.scope == OpScope::Recomputed && checkpoint_policy == CheckpointPolicy::Nothing);
}

std::vector<SavedStorage> saved_by(const Segment& segment, CheckpointPolicy checkpoint_policy) {
  const bool full = segment.replay_end > segment.backward_begin;
  if (checkpoint_policy == CheckpointPolicy::Activations)
    return full ? segment.saved_without_recompute : segment.saved;
  if (checkpoint_policy == CheckpointPolicy::Input) return segment.saved;
  // Only the replay reads the checkpoint (or this rank's share). Layers inside a group save everything else
  // like other layers.
  std::vector<SavedStorage> out;
  for (const SavedStorage& s : segment.saved)
    if (!holds_input(segment, s.storage)) out.push_back(s);
  return out;
}

const std::vector<SavedStorage>& deferred_in(const Segment& segment, CheckpointPolicy checkpoint_policy) {
  const bool full = segment.replay_end > segment.backward_begin;
  return full && checkpoint_policy == CheckpointPolicy::Activations ? segment.deferred_without_recompute
                                                                    : segment.deferred;
}

bool holds_input(const Segment& segment, StorageId storage) {
  return std::any_of(segment.tensors.begin(), segment.tensors.end(), [&](const Tensor& t) {
    const bool checkpoint = t.producer >= 0 && segment.op(t.producer).scope == OpScope::Checkpoint;
    return t.storage == storage && (checkpoint || &t == &segment.tensor(segment.input));
  });
}

bool is_carried(const Segment& segment, TensorId tensor) {
  return tensor >= 0 &&
         std::any_of(segment.carried.begin(), segment.carried.end(), [&](const Carried& carried) {
           return tensor == carried.in || tensor == carried.out || tensor == carried.in_grad ||
                  tensor == carried.out_grad;
         });
}

bool holds_earlier(const Segment& segment, StorageId storage) {
  return std::any_of(segment.carried.begin(), segment.carried.end(), [&](const Carried& carried) {
    return carried.in >= 0 && !carried.held && segment.tensor(carried.in).storage == storage;
  });
}

std::vector<Axis> ungrown(std::vector<Axis> axes) {
  std::replace(axes.begin(), axes.end(), Axis::GrownBlocks, Axis::ResidualBlocks);
  return axes;
}

Expr vectors_per_token(const Tensor& stream) {
  Expr out(1);
  for (size_t d = 0; d < stream.axes.size(); ++d)
    if (ungrown({stream.axes[d]}).front() == Axis::ResidualBlocks) out = out * stream.sizes[d];
  return out;
}

Expr local_size(const Tensor& tensor, int dim) {
  const auto d = static_cast<size_t>(dim);
  Expr size = tensor.sizes[d];
  for (MeshAxis axis : tensor.placement.shards[d]) size = size / mesh_axis_degree(axis);
  return size;
}

Expr local_elements(const Tensor& tensor) {
  if (tensor.sizes.empty()) return Expr(1);
  Expr out = tensor.sizes[0];
  for (size_t d = 1; d < tensor.sizes.size(); ++d) out = out * tensor.sizes[d];
  Expr ranks;  // that share the tensor; none: 0
  for (const auto& shards : tensor.placement.shards)
    for (MeshAxis axis : shards)
      ranks = ranks.is_zero() ? mesh_axis_degree(axis) : ranks * mesh_axis_degree(axis);
  return ranks.is_zero() ? out : out / ranks;
}

Expr local_bytes(const Tensor& tensor) { return local_elements(tensor) * dtype_size(tensor.dtype); }

std::string local_shape_text(const Tensor& tensor) {
  std::string out = "[";
  for (size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (d) out += ", ";
    out += local_size(tensor, static_cast<int>(d)).text();
  }
  return out + "]";
}

Expr ring_messages(const Op& op) {
  const Expr ranks = group_size(redistribution(op).group);
  return op.kind == OpKind::RingPass ? ranks - Expr(1) : ranks;
}

Expr ring_message_elements(const Segment& segment, const Op& op) {
  return local_elements(segment.tensor(op.kind == OpKind::RingPass ? op.inputs[0] : op.outputs[0]));
}

Expr collective_elements(const Segment& segment, const Op& op) {
  const auto elements = [&](const std::vector<TensorId>& of) {
    return local_elements(segment.tensor(of[0]));
  };
  switch (collective_of(op.kind)) {
    case CollectiveKind::AllReduce:
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::Reduce:
    case CollectiveKind::Broadcast: return elements(op.inputs);
    case CollectiveKind::AllGather: return elements(op.outputs);
    // Without dim_to, a rank sends as many copies as it receives.
    case CollectiveKind::AllToAll: return elements(redistribution(op).dim_to < 0 ? op.outputs : op.inputs);
    case CollectiveKind::SendRecv: return ring_messages(op) * ring_message_elements(segment, op);
  }
  throw std::logic_error("no such kind of collective");
}

Expr collective_bytes(const Segment& segment, const Op& op) {
  return collective_elements(segment, op) * dtype_size(segment.tensor(op.inputs[0]).dtype);
}

MeshAxes cp_axes(const Structure& s) {
  if (!s.cp) return {};
  return s.ring && s.ulysses ? MeshAxes{MeshAxis::CpRing, MeshAxis::CpUlysses} : MeshAxes{MeshAxis::Cp};
}

MeshAxes mixer_cp_axes(const Structure& s) {
  return s.ssm_shared ? MeshAxes{MeshAxis::CpGroups, MeshAxis::CpHeads} : cp_axes(s);
}

MeshAxes tp_axes(const Structure& s) {
  if (!s.tp) return {};
  if (s.dcp_groups) return {MeshAxis::TpOuter, MeshAxis::TpContext};
  if (s.kv_split == 0 || s.dcp) return {MeshAxis::Tp};
  const KvSplit& split = kKvSplits.at(static_cast<size_t>(s.kv_split) - 1);
  return {split.heads, split.copies};
}

MeshAxes kv_axes(const Structure& s) {
  MeshAxes out = tp_axes(s);
  if (s.dcp || out.size() > 1) out.pop_back();
  return out;
}

MeshAxes dcp_axes(const Structure& s) {
  if (!s.dcp) return {};
  return {s.dcp_groups ? MeshAxis::TpContext : MeshAxis::Tp};
}

MeshAxes ring_axes(const Structure& s) {
  if (!s.ring) return {};
  return {s.ulysses ? MeshAxis::CpRing : MeshAxis::Cp};
}

MeshAxes ulysses_axes(const Structure& s) {
  if (!s.ulysses) return {};
  return {s.ring ? MeshAxis::CpUlysses : MeshAxis::Cp};
}

MeshAxes ep_axes(const Structure& s) {
  if (!s.ep) return {};
  return s.ep_nodes && s.ep_local ? MeshAxes{MeshAxis::EpNode, MeshAxis::EpLocal} : MeshAxes{MeshAxis::Ep};
}

MeshAxes node_axes(const Structure& s) {
  if (!s.ep_nodes) return {};
  return {ep_axes(s).front()};
}

Expr group_size(const Structure& s, const MeshAxes& axes) {
  static const Symbol dp = Symbol::intern("dp"), cp = Symbol::intern("cp"), tp = Symbol::intern("tp"),
                      ep = Symbol::intern("ep"), etp = Symbol::intern("etp");
  Expr out = group_size(axes);
  for (const auto& [there, degree] :
       {std::pair{s.dp, dp}, {s.cp, cp}, {s.tp, tp}, {s.ep, ep}, {!s.folded || s.etp, etp}})
    if (!there) out = out.substitute(degree, Expr(1));
  return out;
}

}  // namespace shardscape
