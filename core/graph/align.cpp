// Placement of the operands of one op: first the shards of every letter are chosen, then operands are
// redistributed. Properties of the op kind (op_traits.h) decide; no kind is named.
#include <algorithm>
#include <numeric>

#include "graph/op_traits.h"
#include "graph/segment_builder.h"

namespace shardscape {
namespace {

bool used_elsewhere(const LetterShards& shards, char letter, MeshAxis axis) {
  return std::any_of(shards.begin(), shards.end(), [&](const auto& entry) {
    return entry.first != letter && std::any_of(entry.second.begin(), entry.second.end(),
                                                [&](MeshAxis other) { return share_ranks(axis, other); });
  });
}

// Whether tp and cp split linear attention along the axis.
bool is_linear_head(Axis axis) { return axis == Axis::LinearKeyHeads || axis == Axis::LinearNormGroups; }

bool is_mixer_head(Axis axis) {
  return axis == Axis::SsmGroups || axis == Axis::SsmGroupHeads || is_linear_head(axis);
}

bool begins_with(const MeshAxes& axes, const MeshAxes& prefix) {
  return prefix.size() <= axes.size() && std::equal(prefix.begin(), prefix.end(), axes.begin());
}

}  // namespace

// Letters of an attention. Latents, which serve all heads, have no kv_heads. All are 0 for another op, and
// for a backward that reads neither keys nor values.
struct SegmentBuilder::AttentionLetters {
  char queries = '\0', heads = '\0', keys = '\0', kv_heads = '\0';

  AttentionLetters(OpKind kind, const OpSpec& spec) {
    if (op_traits(kind).family != OpFamily::Attention || spec.in.size() < 3) return;
    const std::string& values = attention_values(spec);
    queries = spec.in.front()[1];
    heads = spec.in.front()[2];
    keys = values[1];
    if (values.size() == 4) kv_heads = values[2];
  }
  explicit operator bool() const { return queries != '\0'; }
};

Placement SegmentBuilder::without_partial(const Tensor& t) const {
  if (t.placement.partial.empty()) return t.placement;
  if (in_stream(t.axes)) return stream_rules_.place(t.axes);
  Placement p = t.placement;
  p.partial.clear();
  p.reduce = Reduce::Sum;
  return p;
}

Placement SegmentBuilder::whole_sequence(const Tensor& t) const {
  Placement p = without_partial(t);
  for (size_t d = 0; d < t.axes.size(); ++d)
    if (t.axes[d] == Axis::Seq || t.axes[d] == Axis::Batch) p.shards[d] = inner_rules_.of(t.axes[d]);
  return p;
}

Placement SegmentBuilder::operand_placement(OpKind kind, const Tensor& t) const {
  const KernelRule* rule = profile_.rule(std::string(template_name(kind)));
  const auto operands = rule ? rule->operands : KernelRule::Operands::Any;
  if (operands == KernelRule::Operands::Stream && !is_weights(t.role)) return stream_placement(t.axes);
  if (op_traits(kind).inner_sequence) return whole_sequence(t);
  // After a scan, heads that are spread over cp return to the ranks that hold their part of the sequence.
  if (structure_.cp && !one_token_ && op_traits(kind).gradient == GradientRule::Contraction &&
      !is_weights(t.role) && std::any_of(t.axes.begin(), t.axes.end(), is_linear_head)) {
    Placement p = without_partial(t);
    for (size_t d = 0; d < t.axes.size(); ++d) {
      if (t.axes[d] == Axis::Seq) p.shards[d] = inner_rules_.of(Axis::Seq);
      if (is_linear_head(t.axes[d])) p.shards[d] = parameter_rules_.of(t.axes[d]);
    }
    return p;
  }
  if (operands != KernelRule::Operands::Whole || t.placement.partial.empty()) return without_partial(t);
  Placement p = t.placement;
  p.partial.clear();
  return p;
}

bool SegmentBuilder::is_mixer_under_cp(OpKind kind) const {
  return structure_.cp && !one_token_ && op_traits(kind).mixer == MixerSpace::SomeHeads;
}

bool SegmentBuilder::reads_part(OpKind kind) const {
  return op_traits(kind).family == OpFamily::Attention || is_mixer_under_cp(kind);
}

void SegmentBuilder::shard_mixer(OpKind kind, const OpSpec& spec, const std::vector<TensorId>& operands,
                                 LetterShards& shards) const {
  const bool scan = is_mixer_under_cp(kind);
  const bool has_heads = std::any_of(operands.begin(), operands.end(), [&](TensorId id) {
    const std::vector<Axis>& axes = segment_.tensor(id).axes;
    return std::any_of(axes.begin(), axes.end(), is_mixer_head);
  });
  if (!scan && (op_traits(kind).mixer != MixerSpace::WholeGroups || !has_heads)) return;
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::vector<Axis>& axes = segment_.tensor(operands[i]).axes;
    for (size_t d = 0; d < axes.size(); ++d) {
      if (is_mixer_head(axes[d]))
        shards.emplace(spec.in[i][d], (scan ? scan_rules_ : parameter_rules_).of(axes[d]));
      if (axes[d] == Axis::Seq) shards.emplace(spec.in[i][d], scan ? MeshAxes{} : inner_rules_.of(Axis::Seq));
    }
  }
}

void SegmentBuilder::shard_attention(const AttentionLetters& letters, const std::vector<TensorId>& operands,
                                     Phase phase, LetterShards& shards) const {
  if (structure_.ulysses && phase != Phase::Backward) {
    // Ulysses: each rank has some of the heads, and the whole sequence or the ring's share of it (Jacobs et
    // al., arXiv 2309.14509; inside a ring: Fang and Zhao, arXiv 2405.07719).
    shards.emplace(letters.queries, ring_axes(structure_));
    for (const auto& [letter, axis] :
         {std::pair{letters.heads, Axis::Heads}, std::pair{letters.kv_heads, Axis::KvHeads}}) {
      MeshAxes axes = parameter_rules_.of(axis);
      for (MeshAxis part : ulysses_axes(structure_)) axes.push_back(part);
      shards.emplace(letter, axes);
    }
  }
  // The decoded token attends to the rank's part of the context.
  if (one_token_) shards.emplace(letters.keys, segment_.tensor(operands[1]).placement.shards[1]);
}

void SegmentBuilder::shard_data(const AttentionLetters& letters, const OpSpec& spec,
                                const std::vector<TensorId>& operands, const std::vector<Placement>& targets,
                                LetterShards& shards) const {
  std::vector<size_t> order(operands.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_partition(order.begin(), order.end(), [&](size_t i) {
    OpId producer = segment_.tensor(operands[i]).producer;
    if (producer >= 0 && op_traits(segment_.op(producer).kind).passes_decision)
      producer = segment_.tensor(segment_.op(producer).inputs[0]).producer;
    return producer >= 0 && op_traits(segment_.op(producer).kind).decides_first;
  });
  for (size_t i : order) {
    for (size_t d = 0; d < targets[i].shards.size(); ++d) {
      const char letter = spec.in[i][d];
      const MeshAxes& axes = targets[i].shards[d];
      if (shards.count(letter) || axes.empty()) continue;
      // KV heads follow the heads of their queries: the axes of KV heads are a prefix of the axes of heads.
      if (letter == letters.kv_heads && letters.kv_heads != letters.heads) {
        const auto heads = shards.find(letters.heads);
        if (heads != shards.end() && begins_with(heads->second, axes)) shards.emplace(letter, axes);
        continue;
      }
      // The outer axes, up to the first axis that another letter uses.
      MeshAxes free_axes;
      while (free_axes.size() < axes.size() && !used_elsewhere(shards, letter, axes[free_axes.size()]))
        free_axes.push_back(axes[free_axes.size()]);
      if (!free_axes.empty()) shards.emplace(letter, free_axes);
    }
  }
}

bool SegmentBuilder::compresses_own_part(const Tensor& projected) const {
  return structure_.trains() &&
         std::find(projected.axes.begin(), projected.axes.end(), Axis::Halves) == projected.axes.end();
}

void SegmentBuilder::shard_alike(OpKind kind, const OpSpec& spec, const std::vector<TensorId>& operands,
                                 const std::vector<Placement>& wish, LetterShards& shards) const {
  if (op_traits(kind).placed_alike < 0) return;
  const auto at = static_cast<size_t>(op_traits(kind).placed_alike);
  const bool whole = op_traits(kind).state == StateRule::LastBlocks &&
                     std::any_of(operands.begin(), operands.end(), [&](TensorId id) {
                       const Tensor& t = segment_.tensor(id);
                       return t.axes.size() > 3 && !compresses_own_part(t);
                     });
  const MeshAxes axes = whole ? MeshAxes{} : wish[0].shards[at];
  for (size_t i = 0; i < operands.size(); ++i)
    if (!is_weights(segment_.tensor(operands[i]).role)) shards.emplace(spec.in[i][at], axes);
  shards.emplace(spec.out[at], axes);
}

LetterShards SegmentBuilder::align(OpKind kind, const OpSpec& spec, std::vector<TensorId>& operands,
                                   const LetterShards& seed, Phase phase, const std::string& consumer) {
  const AttentionLetters attention(kind, spec);
  LetterShards shards = seed;
  if (phase == Phase::Forward) shard_mixer(kind, spec, operands, shards);
  std::vector<Placement> targets(operands.size());
  const auto scores = [&](TensorId id) {
    const Axis last = tensor(id).axes.back();
    return is_weights(tensor(id).role) && (last == Axis::Routes || last == Axis::AllRoutes);
  };
  const bool router = experts_share_tp() && std::any_of(operands.begin(), operands.end(), scores);
  for (size_t i = 0; i < operands.size(); ++i) {
    const Tensor& t = tensor(operands[i]);
    targets[i] = phase == Phase::Forward ? operand_placement(kind, t) : t.placement;
    // A rank scores only the tokens that it sends.
    if (router && !is_weights(t.role) && t.axes.size() == 3) targets[i] = routed_rules_.place(t.axes);
    if (!is_weights(t.role) || reads_part(kind)) continue;
    for (size_t d = 0; d < t.axes.size(); ++d) shards.emplace(spec.in[i][d], t.placement.shards[d]);
  }
  if (attention) shard_attention(attention, operands, phase, shards);
  shard_alike(kind, spec, operands, targets, shards);
  // The images of a sequence are on the ranks of the sequence, so both letters have the same axes.
  if (op_traits(kind).one_batch)
    for (size_t i = 0; i < operands.size(); ++i) shards.emplace(spec.in[i][0], targets[i].shards[0]);
  std::string whole = whole_letters(kind, spec);
  // A loss that is not vocabulary-parallel reads all logits of a token.
  if (op_traits(kind).reads_logits && structure_.gathered_logits && phase == Phase::Forward)
    whole += spec.in[0].back();
  for (char letter : whole) shards.emplace(letter, MeshAxes{});
  shard_data(attention, spec, operands, targets, shards);
  // Blocks of K and V enter the ring last, after all other redistributions (Liu et al., arXiv 2310.01889).
  const bool ring = attention && structure_.ring;
  for (const bool into_ring : {false, true}) {
    if (into_ring && !ring) continue;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (reads_part(kind) && is_weights(tensor(operands[i]).role)) continue;
      Placement target = targets[i];
      for (size_t d = 0; d < target.shards.size(); ++d) {
        const auto it = shards.find(spec.in[i][d]);
        target.shards[d] = it == shards.end() ? MeshAxes{} : it->second;
        if (ring && !into_ring && spec.in[i][d] == attention.keys) target.shards[d] = ring_axes(structure_);
      }
      operands[i] = redistribute(operands[i], target, phase, consumer);
    }
  }
  return shards;
}

}  // namespace shardscape
