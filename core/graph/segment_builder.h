// The workbench of the passes: one segment under construction, with placement inference and redistribution.
// Private to core/graph.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/op_spec.h"
#include "model/library.h"

namespace shardscape {

// Letter -> mesh axes that shard it; a letter with an empty list is known to be unsharded.
using LetterShards = std::map<char, MeshAxes>;

class SegmentBuilder {
 public:
  SegmentBuilder(const Structure& structure, const KernelProfile& profile);

  Segment& segment() { return segment_; }
  const Structure& structure() const { return structure_; }
  const KernelProfile& profile() const { return profile_; }
  const ShardRules& parameter_rules() const { return parameter_rules_; }

  Expr axis_extent(Axis axis) const;  // global size in this structure: batch is b where there is one replica
  // Where tensors of these axes live between blocks: the residual stream follows seq -> cp, tp under sequence parallelism.
  Placement stream_placement(const std::vector<Axis>& axes) const;

  DType stream_dtype() const { return profile_.residual.value_or(structure_.dtype); }  // of the residual stream

  TensorId add_tensor(std::string name, std::vector<Axis> axes, Placement placement, DType dtype, TensorRole role);
  OpId add_op(Op op);
  Tensor& tensor(TensorId id) { return segment_.tensors[static_cast<size_t>(id)]; }

  // Brings operands to placements that agree on every letter: parameters first, then data in order. Operands are
  // redistributed where needed. seed: letters that are settled beforehand (a parameter whose gradient is made).
  LetterShards align(OpKind kind, const OpSpec& spec, std::vector<TensorId>& operands, const LetterShards& seed,
                     Phase phase, const std::string& consumer);

  // The same for a routing op, whose operands and result follow from the dispatcher (routing.cpp). partial: axes along
  // which the result is Partial because an operand is.
  LetterShards route(OpKind kind, const OpSpec& spec, std::vector<TensorId>& operands, MeshAxes& partial, const std::string& consumer);

  // Placement of a tensor over these letters when an op runs over the index space `shards`: axes that shard a letter
  // which the tensor does not have make it Partial.
  static Placement result_placement(const std::string& letters, const LetterShards& shards, const MeshAxes& also_partial);

  // The same tensor in another placement; shared by all consumers of a phase.
  TensorId redistribute(TensorId from, const Placement& target, Phase phase, const std::string& consumer);
  // The same tensor in another type.
  TensorId cast(TensorId from, DType type, Phase phase);
  // What an op of this kind wants of an operand: the profile's wish, else no Partial.
  Placement wished(OpKind kind, const Tensor& tensor) const;
  // Convolutions and scans of mixers under cp: they run on the whole sequence of a part of the heads.
  bool exchanges(OpKind kind) const;
  // Whether a kernel makes this statistic in this structure; one that depends on shards is left to where they are known.
  bool keeps(const KernelStat& stat) const;
  // The placement without Partial that a consumer with no wish of its own gets.
  Placement resolved(const Tensor& tensor) const;

  // The same in the structure's quantized precision, by an op of the block.
  TensorId quantize(TensorId from, Phase phase, int block, DType type);
  // Where the tokens of experts are computed: on the ranks of their experts, gathered over the tensor parallelism of these.
  Placement at_experts() const;
  // Slots per node where they are sent from (each rank's own tokens) and where they arrive.
  Placement before_nodes() const;
  Placement at_nodes() const;

  void begin_backward() { moved_.clear(); }

  // Inference (inference.cpp). A tensor is written to the cache; returns what is read from here on: the prompt's own, or, of a token
  // that is decoded, all tokens so far. slides: its attention has a window.
  TensorId cache(TensorId made, bool slides);
  // Of attention to a part of the context, of which other ranks have the other parts: the result of all, where the stream has its
  // sequences. sums: the logarithm of the softmax's sum over this rank's part; sinks: -1 where there are none.
  TensorId merge_parts(TensorId result, TensorId sums, TensorId sinks);
  // A convolution or a scan also leaves its state. letters: of the op; shards: over which it runs.
  void add_state(Op& op, const OpSpec& spec, const std::map<char, Axis>& letters, const LetterShards& shards, const std::string& name);
  // The end of each prompt; from here on the stream has one token of each sequence.
  TensorId last_token(TensorId from);

 private:
  // Whether the profile makes it a part of a larger buffer (packed QKV): to be sent it is copied out.
  bool is_packed(TensorId id) const;
  // Where inference keeps a tensor over these axes, batch and sequence being the first: on the ranks whose attention reads it. A window
  // is not split: in decode those who have the stream of a sequence keep its window.
  Placement cache_placement(const std::vector<Axis>& axes, bool slides) const;
  TensorId cache_tensor(Op& op, const std::string& name, const std::vector<Axis>& axes, const Placement& placement, DType type);
  static std::string unique(std::set<std::string>& taken, const std::string& name);
  TensorId exchange_shared(TensorId from, const Placement& target, Phase phase, const std::string& consumer);
  TensorId move(TensorId from, OpKind kind, const MeshAxes& group, int dim, int dim_to, Placement to, Phase phase,
                const std::string& consumer, const Placement& wanted);

  Placement routed(OpKind kind, size_t operand, const Tensor& tensor) const;

  Segment segment_;
  const Structure& structure_;
  const KernelProfile& profile_;
  ShardRules parameter_rules_, inner_rules_, stream_rules_, scan_rules_, cache_rules_;
  bool one_token_ = false;   // decode; the head of a prefill
  // Mesh axes of a routed token: rows of the expert mesh; all of a rank's own tokens; its hidden dimension.
  MeshAxes expert_rows_, token_axes_, routed_hidden_;
  MeshAxes node_rows_;  // those of a rank's own tokens that stay when each goes to its nodes
  std::vector<std::pair<std::pair<TensorId, Placement>, TensorId>> moved_;
  std::set<std::string> tensor_names_, op_names_;
};

// Assemble + place: the forward ops of a section. Throws GraphError.
struct GraphError {
  Problem problem;
};
// mtp: what follows the head once for every depth of multi-token prediction.
void assemble_section(SegmentBuilder& builder, const SectionTemplate& section, const SectionTemplate& mtp, const ModelLibrary& library);
// Appends the backward ops and fills input_grad, params' gradients.
void differentiate(SegmentBuilder& builder);
// Runs forward ops again before the backward, as the structure's policy says.
void recompute(SegmentBuilder& builder);
// Drops what nothing uses, then fills FLOPs, bytes, storages and the saved set.
void finish_segment(SegmentBuilder& builder);

}  // namespace shardscape
