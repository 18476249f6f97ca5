// Ops that inference adds to a forward: caches that live from step to step, and the last token of a
// prompt.
#include <algorithm>
#include <utility>

#include "graph/op_traits.h"
#include "graph/segment_builder.h"

namespace shardscape {

// One rank of the group that splits the sequence has the last token; the other ranks contribute zeros.
TensorId SegmentBuilder::last_token(TensorId from) {
  const Tensor source = tensor(from);
  one_token_ = true;
  inner_rules_.set(Axis::Seq, {});
  stream_rules_.set(Axis::Seq, {});
  Placement placement = source.placement;
  placement.partial = std::exchange(placement.shards[1], {});
  std::sort(placement.partial.begin(), placement.partial.end());
  Op op;
  op.kind = OpKind::LastToken;
  op.inputs = {from};
  op.outputs = {add_tensor(source.name + ".last", source.axes, std::move(placement), source.dtype,
                           TensorRole::Activation)};
  const std::string rest = std::string("defgh").substr(0, source.axes.size() - 2);
  op.spec = "bs" + rest + "->bt" + rest;
  op.name = tensor(op.outputs[0]).name;
  op.label = "Last token";
  const TensorId out = op.outputs[0];
  add_op(std::move(op));
  return out;
}

// Layers with a window or a chunk cache no more than that; during a prompt after cached tokens, what its
// queries read. Where cp splits the sequence of a prompt, each rank caches its part of the whole.
TensorId SegmentBuilder::cache(TensorId made, Axis tokens, DType type, bool windowed) {
  const Tensor source = tensor(made);
  const bool whole = tokens != Axis::Context;
  made = redistribute(made, cache_placement(source.axes, whole), Phase::Forward, "the cache");
  std::vector<Axis> axes = source.axes;
  std::replace(axes.begin(), axes.end(), Axis::Seq, stored_tokens(tokens));
  std::replace(axes.begin(), axes.end(), Axis::Compressed, Axis::CompressedContext);
  Op op;
  op.kind = OpKind::CacheWrite;
  op.inputs = {made};
  const TensorId stored = cache_tensor(op, source.name, axes, cache_placement(axes, whole), type);
  op.outputs = {stored};
  for (size_t d = 0; d < axes.size(); ++d) op.spec += static_cast<char>('a' + d);
  op.spec = op.spec + (op.inputs.size() > 1 ? "," + op.spec : "") + "->" + op.spec;
  op.block = static_cast<int>(segment_.blocks.size()) - 1;
  op.name = tensor(stored).name;
  op.label = "Write to the cache";
  add_op(std::move(op));
  segment_.cached.push_back({stored, type, windowed});
  return structure_.reads_cache() ? stored : made;
}

Axis SegmentBuilder::stored_tokens(Axis tokens) const {
  return one_token_ || !structure_.cp ? tokens : Axis::Context;
}

TensorId SegmentBuilder::carried_input(const CarriedTensor& carried, std::optional<Axis> cached_tokens) {
  std::vector<Axis> axes = carried.axes;
  if (!cached_tokens)
    return add_tensor(
        carried.name, axes, carried_placement(carried), carried.dtype.value_or(structure_.dtype),
        carried.added_to >= 0 && structure_.frozen_tower ? TensorRole::Constant : TensorRole::Input);
  std::replace(axes.begin(), axes.end(), Axis::Seq, stored_tokens(*cached_tokens));
  return add_tensor(carried.name, axes, cache_placement(axes, *cached_tokens != Axis::Context),
                    structure_.cache_dtype, TensorRole::Cache);
}

TensorId SegmentBuilder::handed_on(TensorId made, const CarriedTensor& carried) {
  if (tensor(made).role == TensorRole::Cache) return made;
  return redistribute(made, carried_placement(carried), Phase::Forward, "later layers");
}

Placement SegmentBuilder::carried_placement(const CarriedTensor& carried) const {
  if (carried.added_to >= 0) return stream_placement(carried.axes);
  return (carried.in_stream ? stream_rules_ : cache_rules_).place(carried.axes);
}

Placement SegmentBuilder::cache_placement(const std::vector<Axis>& axes, bool whole) const {
  Placement placement = cache_rules_.place(axes);
  if (whole && one_token_) placement.shards[0] = inner_rules_.of(Axis::Batch);
  return placement;
}

// Flash-decoding over ranks, as in vLLM's decode context parallelism (cp_lse_ag_out_rs): each rank gathers
// the softmax sums of all ranks and scales its result by its share of the softmax; then the results are
// added. An attention sink counts here, once.
TensorId SegmentBuilder::merge_parts(TensorId result, TensorId sums, TensorId sinks) {
  Placement all = tensor(sums).placement;
  TensorId every = sums;
  while (!all.shards.back().empty()) {  // neighbours first
    all.shards.back().pop_back();
    every = redistribute(every, all, Phase::Forward, "the merge of parts");
  }
  Op op;
  op.kind = OpKind::MergeParts;
  op.inputs = {result, sums, every};
  if (sinks >= 0) op.inputs.push_back(sinks);
  const Tensor source = tensor(result);
  const TensorId share = add_tensor(source.name + ".share", source.axes, source.placement, source.dtype,
                                    TensorRole::Activation);
  tensor(share).storage = source.storage;  // scaled in place
  op.outputs = {share};
  op.spec = std::string("bshe,bsho,bshp") + (sinks >= 0 ? ",h" : "") + "->bshe";
  op.block = static_cast<int>(segment_.blocks.size()) - 1;
  op.name = tensor(share).name;
  op.label = "Share of the softmax";
  add_op(std::move(op));
  Placement home = source.placement;
  home.partial.clear();
  home.shards[0] = inner_rules_.of(Axis::Batch);
  home.shards[2] = parameter_rules_.of(Axis::Heads);
  return redistribute(share, home, Phase::Forward, "the stream's sequences and heads");
}

// A tensor that lives from step to step. This op writes the tensor. In decode, and after cached tokens, the
// op also reads the value of the previous step.
TensorId SegmentBuilder::cache_tensor(Op& op, const std::string& name, const std::vector<Axis>& axes,
                                      const Placement& placement, DType type) {
  const bool lived = structure_.reads_cache();
  if (lived) op.inputs.push_back(add_tensor(name + ".past", axes, placement, type, TensorRole::Cache));
  const TensorId now = add_tensor(name + ".cache", axes, placement, type, TensorRole::Cache);
  if (lived) tensor(now).storage = tensor(op.inputs.back()).storage;
  segment_.caches.push_back(now);
  return now;
}

// A convolution stores its last inputs, one fewer than taps; a scan its state, as vLLM does
// (model_executor/layers/mamba/mamba_utils.py); a compression what it has projected of the tokens of a block,
// and of the block before where it reads that, too (CompressorStateCache of vLLM). None depends on the
// sequence length.
void SegmentBuilder::add_state(Op& op, const OpSpec& spec, const std::map<char, Axis>& letters,
                               const LetterShards& shards, const std::string& name) {
  const OpTraits& traits = op_traits(op.kind);
  if (traits.state == StateRule::LastBlocks) {
    std::vector<Axis> axes = tensor(op.inputs[0]).axes;
    axes[1] = axes[2] == Axis::Halves ? Axis::TwoRatios : Axis::CompressRatio;
    Placement placement = tensor(op.inputs[0]).placement;
    placement.shards[1].clear();
    for (const char* of : {".values", ".gates"})
      add_state_tensor(op, name + of, axes, placement, DType::FP32);
    return;
  }
  const bool inputs = traits.state == StateRule::LastInputs;
  std::string of = spec.out;
  of.erase(1, 1);  // the sequence
  of += spec.in[static_cast<size_t>(traits.state_operand)].back();
  std::vector<Axis> axes;
  for (char letter : of) axes.push_back(letters.at(letter));
  if (inputs) axes.back() = axes.back() == Axis::LinearConv ? Axis::LinearConvState : Axis::SsmConvState;
  LetterShards placed = shards;
  placed[of.back()].clear();
  Placement placement = result_placement(of, placed, {});
  placement.partial.clear();
  add_state_tensor(op, name + ".state", axes, placement, inputs ? structure_.dtype : structure_.state_dtype);
}

void SegmentBuilder::add_state_tensor(Op& op, const std::string& name, const std::vector<Axis>& axes,
                                      const Placement& placement, DType type) {
  Expr bytes = dtype_size(type);  // of one sequence
  for (Axis axis : axes)
    if (axis != Axis::Batch) bytes = bytes * axis_extent(axis);
  segment_.state_bytes += bytes;
  if (!structure_.trains()) op.outputs.push_back(cache_tensor(op, name, axes, placement, type));
}

}  // namespace shardscape
