// One segment under construction: the passes add tensors and ops, infer placements and insert
// redistributions. Private to core/graph.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/op_spec.h"
#include "graph/op_traits.h"
#include "model/library.h"

namespace shardscape {

// Letter -> mesh axes that shard it; a letter with an empty list is known to be unsharded.
using LetterShards = std::map<char, MeshAxes>;

class SegmentBuilder {
 public:
  // axes_of_stream: as Architecture::stream.
  SegmentBuilder(const Structure& structure, const KernelProfile& profile, SymbolScope scope = {},
                 SegmentKind kind = SegmentKind::Layer,
                 std::vector<Axis> axes_of_stream = Architecture().stream);

  Segment& segment() { return segment_; }
  const Structure& structure() const { return structure_; }
  const KernelProfile& profile() const { return profile_; }
  const ShardRules& parameter_rules() const { return parameter_rules_; }
  // Axes of the residual stream.
  const std::vector<Axis>& stream_axes() const { return stream_axes_; }
  // Whether a tensor over these axes is the residual stream, or one hidden vector per token of it.
  bool in_stream(const std::vector<Axis>& axes) const;
  // A list of vectors per token that holds only its last vector: the others are those of an earlier list.
  void hold_last_vector(TensorId list);

  // Global size of an axis in this structure and in the segment's scope. Batch is b where there is one
  // replica.
  Expr axis_extent(Axis axis) const { return segment_.scope.of(extent_in_model(axis)); }
  // Placement of tensors over these axes between blocks. The residual stream follows seq -> cp, and tp under
  // sequence parallelism.
  Placement stream_placement(const std::vector<Axis>& axes) const;

  // Type of the residual stream.
  DType stream_dtype() const { return profile_.residual.value_or(structure_.dtype); }

  TensorId add_tensor(std::string name, std::vector<Axis> axes, Placement placement, DType dtype,
                      TensorRole role);
  OpId add_op(Op op);
  Tensor& tensor(TensorId id) { return segment_.tensors[static_cast<size_t>(id)]; }

  // align.cpp: redistributes operands until their placements agree on every letter: parameters decide first,
  // then data in order. seed: letters that are decided beforehand (those of a parameter whose gradient is
  // computed). Returns the shards of every letter of the op.
  LetterShards align(OpKind kind, const OpSpec& spec, std::vector<TensorId>& operands,
                     const LetterShards& seed, Phase phase, const std::string& consumer);

  // As align, for a routing op: the dispatcher determines the placements of operands and result
  // (routing.cpp). partial: axes along which the result is Partial because an operand is Partial.
  LetterShards route(RoutingRule rule, const OpSpec& spec, std::vector<TensorId>& operands, MeshAxes& partial,
                     const std::string& consumer);

  // Placement of a tensor over these letters when an op runs over the index space `shards`. An axis that
  // shards a letter which the tensor lacks makes the tensor Partial. All ranks of tp hold copies of an only
  // KV head, so a sum over KV heads alone has one summand.
  Placement result_placement(const std::string& letters, const LetterShards& shards,
                             const MeshAxes& also_partial) const;

  // The tensor in another placement. Consumers of the same phase share the result.
  TensorId redistribute(TensorId from, const Placement& target, Phase phase, const std::string& consumer);
  // The tensor in another type.
  TensorId cast(TensorId from, DType type, Phase phase);
  // The placement in which an op of this kind reads an operand: as the profile's rule says, otherwise without
  // Partial.
  Placement operand_placement(OpKind kind, const Tensor& tensor) const;
  // The placement with the whole sequence of the rank's part of cp, although sequence parallelism splits the
  // residual stream.
  Placement whole_sequence(const Tensor& tensor) const;
  // Whether the op is a convolution or scan of a mixer under cp. Such an op runs on the whole sequence of
  // some heads.
  bool is_mixer_under_cp(OpKind kind) const;
  // Whether kernels of this structure make this statistic. Conditions on shards of letters are checked
  // elsewhere, once the shards are known.
  bool has_statistic(const KernelStat& stat) const;
  // The placement of a tensor with its Partial axes reduced.
  Placement without_partial(const Tensor& tensor) const;

  // Compression: whether a rank sums whole blocks of its own part of the sequence. In training only, and not
  // where a block also reads the tokens of the block before it.
  bool compresses_own_part(const Tensor& projected) const;

  // The tensor in a quantized type. block: the block of the Quantize op.
  TensorId quantize(TensorId from, Phase phase, int block, DType type);
  // Placement of expert slots where experts compute: on the ranks of their experts, gathered over the
  // experts' tensor parallelism.
  Placement at_experts() const;
  // Placement of slots per node: on the ranks that own the tokens, and after the exchange across nodes.
  Placement before_nodes() const;
  Placement at_nodes() const;
  // Names the axes of a sum over all ranks that share the experts of repeated tokens by the axes of the
  // residual stream: these ranks are those of tp, or all ranks of dp x cp x tp.
  void sum_by_stream_axes(Placement& combined) const;
  // The sum of the experts' results, if they are repeated over etp and therefore Partial over ep alone.
  TensorId whole_sum(TensorId combined);

  // Axes along which ranks hold copies of a parameter and compute for other tokens.
  MeshAxes copies_of(const Tensor& parameter) const;

  void begin_backward() { redistributed_.clear(); }

  // Inference (inference.cpp). Writes a tensor to the cache. Returns the tensor that later ops read: the
  // prompt's own tensor in prefill, the cache with all tokens so far in decode and after cached tokens.
  // tokens: the axis of the tokens that the attention needs (is_context). type: of the cache.
  TensorId cache(TensorId made, Axis tokens, DType type, bool windowed = false);
  // The axis of the tokens that a rank caches.
  Axis stored_tokens(Axis tokens) const;
  // The tensor as another layer reads it: a carried tensor over these axes between layers, or, with the axis
  // of its tokens, the cache of the layer that made it.
  TensorId carried_input(const CarriedTensor& carried, std::optional<Axis> cached_tokens);
  // A tensor that this layer made, in the placement of carried_input without a cache.
  TensorId handed_on(TensorId made, const CarriedTensor& carried);
  // Merges attention results over parts of the context on several ranks into the result over the whole
  // context, placed like the sequences of the stream. sums: logarithm of the softmax sum over this rank's
  // part. sinks: -1 if there are none.
  TensorId merge_parts(TensorId result, TensorId sums, TensorId sinks);
  // Counts the state that a convolution or a scan leaves for the next step, and adds it in inference.
  // letters: axes of the op's letters. shards: index space of the op. StateRule::LastBlocks has two states.
  void add_state(Op& op, const OpSpec& spec, const std::map<char, Axis>& letters, const LetterShards& shards,
                 const std::string& name);
  // Selects the last token of each prompt. From here on the stream has one token per sequence.
  TensorId last_token(TensorId from);

 private:
  struct AttentionLetters;
  // Rules of a vision tower: images are split over replicas, weights over tp. With tower_data, cp and tp
  // split the images, too, and every rank has all weights.
  void set_tower_rules();
  // Size of an axis over the symbols of the model.
  Expr extent_in_model(Axis axis) const;
  // Whether the router of this segment also selects experts that compute nothing, to which no token is sent.
  bool routes_to_nothing() const;
  // Whether a rank reads only its part of a parameter operand: attention sinks follow the heads of the
  // queries, and parameters of a scan its heads.
  bool reads_part(OpKind kind) const;
  // Steps of align: each decides the shards of some letters. Letters that are already in `shards` stay.
  // Mixer: heads and the sequence of a scan; the norm of groups needs all heads of a group.
  void shard_mixer(OpKind kind, const OpSpec& spec, const std::vector<TensorId>& operands,
                   LetterShards& shards) const;
  void shard_attention(const AttentionLetters& letters, const std::vector<TensorId>& operands, Phase phase,
                       LetterShards& shards) const;
  // Data operands in order, those that decide first (OpTraits) in front. wish: their placements.
  void shard_data(const AttentionLetters& letters, const OpSpec& spec, const std::vector<TensorId>& operands,
                  const std::vector<Placement>& wish, LetterShards& shards) const;
  // Whether the profile packs the tensor into a larger buffer (packed QKV), so that a send copies it first.
  bool is_packed(TensorId id) const;
  // Where inference stores a tensor over these axes (batch and sequence first): on the ranks whose attention
  // reads the tensor. Context axes do not split a window or a chunk: in decode, the ranks that have the
  // stream of a sequence store it.
  Placement carried_placement(const CarriedTensor& carried) const;
  Placement cache_placement(const std::vector<Axis>& axes, bool whole) const;
  void add_state_tensor(Op& op, const std::string& name, const std::vector<Axis>& axes,
                        const Placement& placement, DType type);
  // Letters that are placed alike (OpTraits), in every operand that is no parameter, and in the result.
  void shard_alike(OpKind kind, const OpSpec& spec, const std::vector<TensorId>& operands,
                   const std::vector<Placement>& wish, LetterShards& shards) const;
  TensorId cache_tensor(Op& op, const std::string& name, const std::vector<Axis>& axes,
                        const Placement& placement, DType type);
  static std::string unique(std::set<std::string>& used_names, const std::string& name);
  TensorId exchange_shared(TensorId from, const Placement& target, Phase phase, const std::string& consumer);
  // Adds a redistribution to placement `to`, one of the steps to `wanted`. Its reduction and its explanation
  // follow from the placements.
  TensorId move(TensorId from, OpKind kind, Redistribution by, const Placement& to, Phase phase,
                const std::string& consumer, const Placement& wanted);
  struct RedistributionText;
  static RedistributionText redistribution_text(OpKind kind, const Redistribution& by);

  // Placements of parameters and tokens of experts. batch: axes that split the sequences of a microbatch.
  void shard_experts(const MeshAxes& batch);
  Placement routed(RoutingRule rule, size_t operand, const Tensor& tensor) const;
  // Whether the ranks of tp have the same tokens and share the experts (inference without sequence
  // parallelism): repeated over tp where tokens are gathered, otherwise split over tp before the dispatch.
  bool experts_share_tp() const {
    return structure_.folded && structure_.tp && !structure_.sequence_parallel;
  }
  bool repeats_tokens() const { return experts_share_tp() && structure_.dispatcher == Dispatcher::AllGather; }

  Segment segment_;
  const Structure& structure_;
  const KernelProfile& profile_;
  std::vector<Axis> stream_axes_;
  ShardRules parameter_rules_, inner_rules_, stream_rules_, scan_rules_, cache_rules_;
  bool one_token_ = false;  // one token per sequence: in decode, and in the head of a prefill
  // Mesh axes that split routed tokens: slots of an expert; a rank's own tokens; the hidden dimension.
  MeshAxes expert_rows_, token_axes_, routed_hidden_;
  // The residual stream as routing reads it.
  ShardRules routed_rules_;
  // Mesh axes that still split the tokens after the exchange across nodes.
  MeshAxes node_rows_;
  std::vector<std::pair<std::pair<TensorId, Placement>, TensorId>> redistributed_;
  std::set<std::string> tensor_names_, op_names_;
};

// Groups of tensors with one placement, in the order of their first members.
std::vector<std::vector<TensorId>> by_placement(const Segment& segment, const std::vector<TensorId>& tensors);
// The block of the tensor's producer; without one, of the first forward op that reads the tensor; otherwise
// -1.
int block_of_tensor(const Segment& segment, TensorId tensor);

// A Problem of a block template, with file and line.
struct GraphError {
  Problem problem;
};
// An op whose FLOPs or bytes have no formula: a size that a formula divides by is a sum.
struct OpSizeError {
  std::string op;    // the forward op's name, "attention.o"
  std::string what;  // "division by a sum: Er + Rkv"
};
// Assembles and places the forward ops of a section. mtp: lines that follow the head once per depth of
// multi-token prediction. carries: of the architecture. Throws GraphError.
void assemble_section(SegmentBuilder& builder, const SectionTemplate& section, const SectionTemplate& mtp,
                      const std::vector<CarriedTensor>& carries, const ModelLibrary& library);
// The same for a part of a vision tower. Throws GraphError.
void assemble_tower(SegmentBuilder& builder, const Architecture& architecture, const SectionTemplate& part,
                    const ModelLibrary& library);
// The line of a block that makes the op, or the line of the section that calls the block.
SourcePlace place_of_op(const SectionTemplate& section, const ModelLibrary& library, const std::string& op);
// Appends the backward ops; sets input_grad and the gradients of params.
void differentiate(SegmentBuilder& builder);
// Inserts the replay of forward ops before the backward, as the structure's recompute policy says.
void recompute(SegmentBuilder& builder);
void cache_activations(SegmentBuilder& builder);
// Drops ops that nothing needs.
void simplify(SegmentBuilder& builder);
// Moves the backward ops of concurrent blocks (BlockInstance::concurrent) to where their operands exist.
void hoist_concurrent(SegmentBuilder& builder);
// Fills FLOPs and bytes of every op.
void count_flops_and_bytes(SegmentBuilder& builder);
// Decides which ops one kernel computes, as the kernel profile says. Needs the bytes of the ops.
void fuse(SegmentBuilder& builder);
// Fills the storages that the backward reads: saved, replayed, deferred.
void find_lifetimes(SegmentBuilder& builder);

}  // namespace shardscape
