#include "graph/segment_builder.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "graph/op_traits.h"

namespace shardscape {
namespace {

bool contains_axis(const Tensor& t, Axis axis) {
  return std::find(t.axes.begin(), t.axes.end(), axis) != t.axes.end();
}

}  // namespace

SegmentBuilder::SegmentBuilder(const Structure& structure, const KernelProfile& profile, SymbolScope scope,
                               SegmentKind kind, std::vector<Axis> axes_of_stream)
    : structure_(structure), profile_(profile), stream_axes_(std::move(axes_of_stream)) {
  segment_.scope = std::move(scope);
  segment_.kind = kind;
  if (kind == SegmentKind::Tower) {
    set_tower_rules();
    return;
  }
  const MeshAxes tp = tp_axes(structure), kv = kv_axes(structure);
  const MeshAxes dp = structure.dp ? MeshAxes{MeshAxis::Dp} : MeshAxes{};
  parameter_rules_.set(Axis::Heads, tp);
  parameter_rules_.set(Axis::KvHeads, kv);
  parameter_rules_.set(Axis::OutputGroups, tp);
  parameter_rules_.set(Axis::Ffn, tp);
  parameter_rules_.set(Axis::Vocab, tp);
  parameter_rules_.set(Axis::SsmInner, tp);
  parameter_rules_.set(Axis::SsmGroups, tp);
  parameter_rules_.set(Axis::LinearKeyHeads, tp);
  parameter_rules_.set(Axis::LinearNormGroups, tp);
  const MeshAxes cp = cp_axes(structure);
  one_token_ = structure.mode == Mode::Decode;
  // Axes that split the sequences of a microbatch. Where cp splits decoded sequences, each rank of cp has the
  // stream of some sequences and a part of the context of all sequences (LoongServe, arXiv 2404.09526,
  // section 4.2: several masters decode).
  MeshAxes batch = dp;
  if (structure.cp_sequences) batch.insert(batch.end(), cp.begin(), cp.end());
  // Axes that split the residual stream; sequence parallelism appends tp. In decode they split the tokens of
  // several sequences.
  MeshAxes stream = one_token_ ? batch : cp;
  if (structure.sequence_parallel) stream.insert(stream.end(), tp.begin(), tp.end());
  // Mixers run on the whole sequence of some of their heads: cp moves from the sequence to groups, or to the
  // heads of a rank's only group (Megatron-core, MambaContextParallel).
  MeshAxes groups = tp, heads;
  if (!one_token_) {
    const MeshAxes mixer_cp = mixer_cp_axes(structure);
    const auto first_of_heads = structure.ssm_heads    ? mixer_cp.begin()
                                : structure.ssm_shared ? mixer_cp.end() - 1
                                                       : mixer_cp.end();
    groups.insert(groups.end(), mixer_cp.begin(), first_of_heads);
    heads.insert(heads.end(), first_of_heads, mixer_cp.end());
  }
  scan_rules_.set(Axis::SsmGroups, groups);
  scan_rules_.set(Axis::SsmGroupHeads, heads);
  MeshAxes of_linear = tp;  // linear attention: whole key heads, or whole groups of heads
  if (!one_token_) of_linear.insert(of_linear.end(), cp.begin(), cp.end());
  scan_rules_.set(Axis::LinearKeyHeads, of_linear);
  scan_rules_.set(Axis::LinearNormGroups, of_linear);
  inner_rules_.set(Axis::Batch, batch);
  inner_rules_.set(Axis::Images, batch);
  inner_rules_.set(Axis::Seq, one_token_ ? MeshAxes{} : cp);
  stream_rules_.set(Axis::Batch, one_token_ ? stream : dp);
  stream_rules_.set(Axis::Seq, one_token_ ? MeshAxes{} : stream);
  cache_rules_ = parameter_rules_;
  cache_rules_.set(Axis::Batch, dp);
  MeshAxes context = cp;
  for (MeshAxis axis : dcp_axes(structure)) context.push_back(axis);
  cache_rules_.set(Axis::Context, context);
  if (!one_token_) cache_rules_.set(Axis::Seq, cp);
  shard_experts(batch);
}

void SegmentBuilder::set_tower_rules() {
  const MeshAxes tp = tp_axes(structure_), cp = cp_axes(structure_);
  MeshAxes images = structure_.dp ? MeshAxes{MeshAxis::Dp} : MeshAxes{};
  if (structure_.tower_data) {
    images.insert(images.end(), cp.begin(), cp.end());
    images.insert(images.end(), tp.begin(), tp.end());
  } else {
    for (const Axis axis : {Axis::Heads, Axis::KvHeads, Axis::Ffn, Axis::ProjectorFfn, Axis::ProjectorWidth,
                            Axis::DoubledChannels})
      parameter_rules_.set(axis, tp);
  }
  inner_rules_.set(Axis::Batch, images);
  stream_rules_.set(Axis::Batch, images);
}

Expr SegmentBuilder::extent_in_model(Axis axis) const {
  static const Expr replicas{Symbol::intern("dp")}, capacity{Symbol::intern("Cx")};
  static const Expr cp{Symbol::intern("cp")}, tp{Symbol::intern("tp")}, etp{Symbol::intern("etp")};
  static const Expr before_window{Symbol::intern("Wb")}, chunks_before{Symbol::intern("Wp")};
  if (axis == Axis::Slots && structure_.derived_slots) return capacity * group_size(token_axes_);
  if (axis == Axis::Nodes) return group_size(node_axes(structure_));
  if (axis == Axis::NodeSlots) return axis_size(axis) * group_size(token_axes_);
  if (axis == Axis::ResidualBlocks) return Expr(structure_.vectors);
  if (axis == Axis::GrownBlocks) return Expr(structure_.vectors + 1);
  if (axis == Axis::Parts) return group_size(cache_rules_.of(Axis::Context));
  if ((axis == Axis::Seq || axis == Axis::Compressed) && one_token_) return Expr(1);
  if (axis == Axis::Context && structure_.mode == Mode::Prefill && !structure_.cached_tokens)
    return axis_size(Axis::Seq);
  if (structure_.cached_tokens && axis == Axis::WindowContext) return axis_size(Axis::Seq) + before_window;
  if (structure_.cached_tokens && axis == Axis::ChunkContext)
    return axis_size(Axis::Context) - chunks_before * axis_size(axis);
  const bool routed = axis == Axis::Tokens || axis == Axis::Slots;
  const bool folded = contains(token_axes_, MeshAxis::EdpFolded);
  static const Symbol tokens = Symbol::intern("S");
  Expr size = one_token_ && routed ? axis_size(axis).substitute(tokens, Expr(1)) : axis_size(axis);
  if (axis == Axis::Slots && routes_to_nothing())
    size = size * axis_size(Axis::Routes) / axis_size(Axis::AllRoutes);
  if (routed && (folded || contains(token_axes_, MeshAxis::Edp))) {
    // The degree of edp contains cp, tp and etp. Degrees that are 1 in this structure also multiply the
    // number of tokens, so that they cancel in a rank's share.
    if (!structure_.cp) size = size * cp;
    if (folded && !structure_.tp) size = size * tp;
    if (folded && !structure_.etp) size = size / etp;
  } else if ((routed || axis == Axis::Batch || axis == Axis::Images) && !structure_.dp) {
    size = size / replicas;
  }
  return size;
}

bool SegmentBuilder::routes_to_nothing() const {
  return std::any_of(segment_.tensors.begin(), segment_.tensors.end(),
                     [](const Tensor& t) { return contains_axis(t, Axis::AllRoutes); });
}

Placement SegmentBuilder::stream_placement(const std::vector<Axis>& axes) const {
  return (in_stream(axes) ? stream_rules_ : inner_rules_).place(axes);
}

bool SegmentBuilder::in_stream(const std::vector<Axis>& axes) const {
  return ungrown(axes) == stream_axes_ || axes == std::vector<Axis>{Axis::Batch, Axis::Seq, Axis::Hidden};
}

void SegmentBuilder::hold_last_vector(TensorId list) {
  const Tensor& t = tensor(list);
  segment_.storages[static_cast<size_t>(t.storage)].bytes = local_bytes(t) / vectors_per_token(t);
}

std::string SegmentBuilder::unique(std::set<std::string>& used_names, const std::string& name) {
  std::string candidate = name;
  for (int i = 2; !used_names.insert(candidate).second; ++i) candidate = name + "_" + std::to_string(i);
  return candidate;
}

TensorId SegmentBuilder::add_tensor(std::string name, std::vector<Axis> axes, Placement placement,
                                    DType dtype, TensorRole role) {
  Tensor t;
  t.name = unique(tensor_names_, name);
  for (Axis axis : axes) t.sizes.push_back(axis_extent(axis));
  t.axes = std::move(axes);
  t.placement = std::move(placement);
  t.placement.shards.resize(t.axes.size());
  t.dtype = dtype;
  t.role = role;
  t.storage = static_cast<StorageId>(segment_.storages.size());
  segment_.storages.push_back({t.name, local_bytes(t)});
  segment_.tensors.push_back(std::move(t));
  return static_cast<TensorId>(segment_.tensors.size()) - 1;
}

OpId SegmentBuilder::add_op(Op op) {
  const OpId id = static_cast<OpId>(segment_.ops.size());
  op.name = unique(op_names_, op.name);
  if (!is_quantized(op.compute)) op.compute = structure_.dtype;
  if (op.attributes.index() != default_attributes(op.kind).index())
    throw std::logic_error(op.name + " lacks the attributes of its kind");
  for (TensorId out : op.outputs) tensor(out).producer = id;
  segment_.ops.push_back(std::move(op));
  return id;
}

bool SegmentBuilder::has_statistic(const KernelStat& stat) const { return applies(structure_, stat); }

Placement SegmentBuilder::result_placement(const std::string& letters, const LetterShards& shards,
                                           const MeshAxes& also_partial) const {
  Placement p;
  for (char letter : letters) {
    const auto it = shards.find(letter);
    p.shards.push_back(it == shards.end() ? MeshAxes{} : it->second);
  }
  p.partial = also_partial;
  for (const auto& [letter, axes] : shards)
    for (MeshAxis axis : axes)
      if (p.shard_dim(axis) < 0 && !contains(p.partial, axis)) p.partial.push_back(axis);
  if (structure_.one_kv_head) {
    const KvSplit& split = kKvSplits.at(static_cast<size_t>(structure_.kv_split) - 1);
    if (!contains(p.partial, split.copies)) std::erase(p.partial, split.heads);
  }
  std::sort(p.partial.begin(), p.partial.end());
  return p;
}

TensorId SegmentBuilder::redistribute(TensorId from, const Placement& target, Phase phase,
                                      const std::string& consumer) {
  if (tensor(from).placement == target) return from;
  const std::pair key{from, target};
  for (const auto& [known, result] : redistributed_)
    if (known == key) return result;

  TensorId at = structure_.ssm_shared ? exchange_shared(from, target, phase, consumer) : from;
  // First, Partial: each declared group becomes a reduce-scatter where the target shards by the group,
  // otherwise an all-reduce.
  MeshAxes open;
  for (MeshAxis axis : tensor(at).placement.partial)
    if (!contains(target.partial, axis)) open.push_back(axis);
  for (const MeshAxes& group : declared_groups(open)) {
    Placement next = tensor(at).placement;
    std::erase_if(next.partial, [&](MeshAxis axis) { return contains(group, axis); });
    const Reduce reduce = next.reduce;
    if (next.partial.empty()) next.reduce = Reduce::Sum;
    int dim = -1;
    for (size_t d = 0; d < target.shards.size() && dim < 0; ++d) {
      MeshAxes with = next.shards[d];
      with.insert(with.end(), group.begin(), group.end());
      const bool prefix = with.size() <= target.shards[d].size() &&
                          std::equal(with.begin(), with.end(), target.shards[d].begin());
      if (prefix && reduce == Reduce::Sum) dim = static_cast<int>(d);
    }
    if (dim >= 0)
      next.shards[static_cast<size_t>(dim)].insert(next.shards[static_cast<size_t>(dim)].end(), group.begin(),
                                                   group.end());
    at = move(at, dim >= 0 ? OpKind::ReduceScatter : OpKind::AllReduce, {group, dim}, next, phase, consumer,
              target);
  }
  // Second, shards that the target lacks: an all-to-all where another dimension takes the axes, otherwise an
  // all-gather.
  for (size_t d = 0; d < target.shards.size(); ++d) {
    while (true) {
      const MeshAxes have = tensor(at).placement.shards[d];
      size_t common = 0;
      while (common < have.size() && common < target.shards[d].size() &&
             have[common] == target.shards[d][common])
        ++common;
      if (common == have.size()) break;
      // The innermost axes that another dimension takes; otherwise all axes at once.
      size_t remaining = common;
      int to = -1;
      for (size_t first = common; first < have.size() && to < 0; ++first)
        for (size_t e = 0; e < target.shards.size() && to < 0; ++e) {
          MeshAxes with = tensor(at).placement.shards[e];
          with.insert(with.end(), have.begin() + static_cast<std::ptrdiff_t>(first), have.end());
          if (e == d || with != target.shards[e]) continue;
          to = static_cast<int>(e);
          remaining = first;
        }
      Placement next = tensor(at).placement;
      next.shards[d].resize(remaining);
      if (to >= 0) next.shards[static_cast<size_t>(to)] = target.shards[static_cast<size_t>(to)];
      const MeshAxes leave(have.begin() + static_cast<std::ptrdiff_t>(remaining), have.end());
      at = move(at, to >= 0 ? OpKind::AllToAll : OpKind::AllGather, {leave, static_cast<int>(d), to}, next,
                phase, consumer, target);
    }
  }
  // Third, local slices.
  for (size_t d = 0; d < target.shards.size(); ++d) {
    const MeshAxes have = tensor(at).placement.shards[d];
    if (have == target.shards[d]) continue;
    const MeshAxes take(target.shards[d].begin() + static_cast<std::ptrdiff_t>(have.size()),
                        target.shards[d].end());
    Placement next = tensor(at).placement;
    next.shards[d] = target.shards[d];
    at = move(at, OpKind::Slice, {take, static_cast<int>(d)}, next, phase, consumer, target);
  }
  redistributed_.push_back({key, at});
  return at;
}

// Mixers whose groups are shared by several ranks: one all-to-all moves cp from the sequence to the groups
// and to the heads of each group, or back. B and C have no heads: each rank of a group gets a copy, and the
// gradients of the copies are added on the way back. Returns `from` for any other redistribution.
TensorId SegmentBuilder::exchange_shared(TensorId from, const Placement& target, Phase phase,
                                         const std::string& consumer) {
  const Tensor& t = tensor(from);
  const auto dim_of = [&](Axis axis) {
    return static_cast<int>(std::find(t.axes.begin(), t.axes.end(), axis) - t.axes.begin());
  };
  const int size = static_cast<int>(t.axes.size()), seq = dim_of(Axis::Seq), group = dim_of(Axis::SsmGroups),
            heads = dim_of(Axis::SsmGroupHeads);
  if (seq == size || group == size) return from;
  const MeshAxes cp = cp_axes(structure_), over_heads{MeshAxis::CpHeads};
  const auto at = [](const Placement& p, int dim) { return p.shards[static_cast<size_t>(dim)]; };
  const bool out = at(t.placement, seq) == cp && at(target, seq).empty(),
             back = at(t.placement, seq).empty() && at(target, seq) == cp;
  if (!out && !back) return from;
  MeshAxes spread = at(out ? t.placement : target, group);
  spread.push_back(MeshAxis::CpGroups);
  const Placement& far = out ? target : t.placement;  // placement of the scan
  if (at(far, group) != spread || (heads < size && at(far, heads) != over_heads)) return from;
  Placement next = t.placement;
  next.shards[static_cast<size_t>(seq)] = at(target, seq);
  next.shards[static_cast<size_t>(group)] = at(target, group);
  if (heads < size) next.shards[static_cast<size_t>(heads)] = at(target, heads);
  const bool copies = heads == size;
  if (back && copies) std::erase(next.partial, MeshAxis::CpHeads);
  const int unshared = copies ? -1 : group;
  return move(from, OpKind::AllToAll, {cp, out ? seq : unshared, back ? seq : unshared}, next, phase,
              consumer, target);
}

TensorId SegmentBuilder::cast(TensorId from, DType type, Phase phase) {
  const Tensor source = tensor(from);
  Op op;
  op.kind = OpKind::Cast;
  op.phase = phase;
  op.inputs = {from};
  std::string letters;
  for (size_t d = 0; d < source.axes.size(); ++d) letters += static_cast<char>('a' + d);
  op.spec = OpSpec{{letters}, letters}.text();
  op.block = source.producer >= 0 ? segment_.op(source.producer).block : -1;
  const TensorId result = add_tensor(
      source.name + "." + std::string(dtype_name(type)), source.axes, source.placement, type,
      source.role == TensorRole::Gradient ? TensorRole::Gradient : TensorRole::Activation);
  tensor(result).gradient_of = source.gradient_of;
  op.outputs = {result};
  op.name = tensor(result).name;
  op.label = "To " + std::string(dtype_name(type));
  add_op(std::move(op));
  return result;
}

TensorId SegmentBuilder::quantize(TensorId from, Phase phase, int block, DType type) {
  const Tensor source = tensor(from);
  const TensorId result = add_tensor(source.name + ".quantized", source.axes, source.placement, type,
                                     source.role);
  tensor(result).role = source.role == TensorRole::Gradient ? TensorRole::Gradient : TensorRole::Activation;
  tensor(result).gradient_of = source.gradient_of;
  Op op;
  op.kind = OpKind::Quantize;
  op.phase = phase;
  op.block = block;
  op.inputs = {from};
  op.outputs = {result};
  std::string letters;
  for (size_t d = 0; d < source.axes.size(); ++d) letters += static_cast<char>('a' + d);
  op.spec = OpSpec{{letters}, letters}.text();
  op.name = tensor(result).name;
  op.label = "Quantize";
  add_op(std::move(op));
  return result;
}

bool SegmentBuilder::is_packed(TensorId id) const {
  const StorageId storage = segment_.tensor(id).storage;
  return std::any_of(segment_.tensors.begin(), segment_.tensors.end(), [&](const Tensor& t) {
    if (t.storage != storage || t.producer < 0 || segment_.op(t.producer).kind != OpKind::Einsum)
      return false;
    const std::string bare = t.name.substr(t.name.rfind('.') + 1);
    return std::any_of(profile_.packed.begin(), profile_.packed.end(), [&](const auto& group) {
      return std::find(group.begin(), group.end(), bare) != group.end();
    });
  });
}

// The texts of a redistribution: the suffix of the result's name, the label, and the explanation.
struct SegmentBuilder::RedistributionText {
  const char *suffix, *label, *rule;
};

SegmentBuilder::RedistributionText SegmentBuilder::redistribution_text(OpKind kind,
                                                                       const Redistribution& by) {
  switch (kind) {
    case OpKind::AllReduce:
      return {by.reduce == Reduce::Max ? "max" : "sum", "all-reduce",
              "Partial to Replicate is an all-reduce"};
    case OpKind::ReduceScatter:
      return {"scattered", "reduce-scatter", "Partial to Shard is a reduce-scatter"};
    case OpKind::AllGather: return {"full", "all-gather", "Shard to Replicate is an all-gather"};
    case OpKind::AllToAll:
      return {"exchanged", "all-to-all",
              by.dim_to < 0 ? "All ranks share the group: an all-to-all sends each rank a copy"
              : by.dim < 0
                  ? "All ranks share the group: an all-to-all exchanges their summands, which are then added"
                  : "Shard to Shard of another dimension is an all-to-all"};
    case OpKind::RingPass:
      return {"ring", "ring pass",
              "In a ring, every rank sends its block to the next rank until all ranks have used all blocks; "
              "a rank holds one block at a time"};
    case OpKind::RingSum:
      return {"home", "ring sum",
              "The gradient of a block follows the block round the ring; every rank adds its summand in "
              "float32, and the last step sends the sum to the rank that owns the block"};
    case OpKind::Slice: return {"part", "slice", "Replicate to Shard is a local slice"};
    default: throw std::logic_error(std::string(op_kind_name(kind)) + " is not a redistribution");
  }
}

TensorId SegmentBuilder::move(TensorId from, OpKind kind, Redistribution by, const Placement& to, Phase phase,
                              const std::string& consumer, const Placement& wanted) {
  // B and C of a group whose heads are spread over cp: Megatron-core repeats them and exchanges the copies;
  // its backward adds the exchanged gradients.
  const Tensor source = tensor(from);
  if (kind == OpKind::AllReduce || kind == OpKind::ReduceScatter) by.reduce = source.placement.reduce;
  const bool repeats = structure_.ssm_heads && by.group == cp_axes(structure_) &&
                       std::find(source.axes.begin(), source.axes.end(), Axis::SsmGroups) !=
                           source.axes.end();
  if (repeats && kind == OpKind::AllGather) kind = OpKind::AllToAll;
  if (repeats && kind == OpKind::ReduceScatter) {
    kind = OpKind::AllToAll;
    by.dim_to = std::exchange(by.dim, -1);
  }
  if (structure_.ring && by.group == ring_axes(structure_)) {
    if (kind == OpKind::AllGather) kind = OpKind::RingPass;
    if (kind == OpKind::ReduceScatter) kind = OpKind::RingSum;
  }
  const RedistributionText words = redistribution_text(kind, by);
  const TensorRole role = source.role == TensorRole::Gradient ? TensorRole::Gradient : TensorRole::Activation;
  Op op;
  op.kind = kind;
  op.phase = phase;
  op.inputs = {from};
  // A ring sums in float32; the result has the type of the activations.
  const DType type = kind == OpKind::RingSum ? structure_.dtype : source.dtype;
  const TensorId result = add_tensor(source.name + "." + words.suffix, source.axes, to, type, role);
  tensor(result).gradient_of = source.gradient_of;
  op.outputs = {result};
  if (kind == OpKind::RingPass && phase == Phase::Forward && is_packed(from))
    op.outputs.push_back(
        add_tensor(source.name + ".contiguous", source.axes, source.placement, source.dtype, role));
  op.name = tensor(result).name;
  op.label = std::string(words.label) + " " + group_name(by.group);
  op.block = source.producer >= 0 ? segment_.op(source.producer).block : -1;
  const std::string producer = source.producer >= 0 ? segment_.op(source.producer).label
                                                    : std::string("The section before");
  by.why = producer + " leaves ";
  by.input_at = static_cast<uint32_t>(by.why.size());
  by.input_size = static_cast<uint32_t>(source.name.size());
  by.why += source.name + " as " + to_string(source.placement, source.axes) + "; " + consumer + " expects " +
            to_string(wanted, source.axes) + ". " + words.rule + ".";
  if (kind == OpKind::RingPass && structure_.zigzag)
    by.why +=
        " Under zigzag, rank i of n owns pieces i and 2n-1-i of 2n, so all ranks have equal work under a "
        "causal mask.";
  op.attributes = std::move(by);
  add_op(std::move(op));
  return result;
}

std::vector<std::vector<TensorId>> by_placement(const Segment& segment,
                                                const std::vector<TensorId>& tensors) {
  std::vector<std::vector<TensorId>> groups;
  for (const TensorId id : tensors) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const std::vector<TensorId>& g) {
      return segment.tensor(g[0]).placement == segment.tensor(id).placement;
    });
    (group == groups.end() ? groups.emplace_back() : *group).push_back(id);
  }
  return groups;
}

int block_of_tensor(const Segment& segment, TensorId tensor) {
  const OpId producer = segment.tensor(tensor).producer;
  if (producer >= 0) return segment.op(producer).block;
  for (OpId i = 0; i < segment.backward_begin; ++i) {
    const auto& in = segment.op(i).inputs;
    if (std::find(in.begin(), in.end(), tensor) != in.end()) return segment.op(i).block;
  }
  return -1;
}

}  // namespace shardscape
