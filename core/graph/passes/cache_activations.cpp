// Cached activations: saved tensors in narrower types. The forward casts a tensor right after the op that
// makes it. The backward casts the copy back before its first use. As DeepSeek-V3 trains (arXiv 2412.19437,
// section 3.3.3):
// - Inputs of activation functions: FP8 with a scale per 128 elements. The paper lists the inputs of SwiGLU,
//   whose output the backward recomputes (recompute modules mlp_act and moe_act).
// - The output of attention, which the backward of attention and the projection behind it read: E5M6. The
//   quantized input of the projection is not saved; its weight gradient quantizes the copy again (tiles of
//   1 x 128 become tiles of 128 x 1).
// As Transformer Engine and Megatron-core train in FP8 with a scale per tensor:
// - Inputs of activation functions: FP8 (activation_func_fp8_input_store, fused_bias_swiglu.py).
// - FP8 attention (fp8_dpa with NVTE_FP8_DPA_BWD): the kernels of forward and backward read copies of
// queries,
//   keys and values in FP8, and the backward reads the result in FP8. None of these copies is cast back.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "graph/op_traits.h"
#include "graph/segment_builder.h"

namespace shardscape {
namespace {

bool is_activation_function(OpKind kind) {
  return kind == OpKind::SwiGlu || kind == OpKind::GeGlu || kind == OpKind::Gelu || kind == OpKind::Relu2;
}

class SavedCasts {
 public:
  explicit SavedCasts(SegmentBuilder& builder) : b_(builder), s_(builder.segment()) {}

  void run() {
    find_tensors();
    if (!wanted_.empty()) rebuild();
  }

 private:
  // Only tensors that the backward reads.
  void find_tensors() {
    const auto begin = s_.ops.begin() + s_.backward_begin;
    const Structure& structure = b_.structure();
    const auto want = [&](TensorId id, DType type) {
      const Tensor& t = s_.tensor(id);
      const bool narrower = t.role == TensorRole::Activation && t.producer >= 0 &&
                            (t.dtype == DType::BF16 || t.dtype == DType::FP16 || t.dtype == DType::FP32);
      if (narrower && std::any_of(begin, s_.ops.end(), [&](const Op& op) {
            return std::find(op.inputs.begin(), op.inputs.end(), id) != op.inputs.end();
          }))
        wanted_.try_emplace(id, type);
    };
    for (OpId id = 0; id < s_.backward_begin; ++id) {
      const Op& op = s_.op(id);
      if (is_activation_function(op.kind) && !only_attention())
        for (const TensorId in : op.inputs)  // not the weights of tokens, which some profiles multiply here
          if (s_.tensor(in).axes == s_.tensor(op.outputs[0]).axes)
            want(in, structure.fp8_inputs ? DType::FP8 : DType::FP8Block);
      if (op_traits(op.kind).family != OpFamily::Attention) continue;
      if (structure.fp8_attention) {
        for (const TensorId id : {op.inputs[0], op.inputs[1], op.inputs[2], op.outputs[0]}) {
          want(id, DType::FP8);
          of_attention_.insert(id);
        }
      } else if (structure.fp8_activations) {
        want(op.outputs[0], DType::E5M6);
      }
    }
  }

  bool only_attention() const { return !b_.structure().fp8_inputs && !b_.structure().fp8_activations; }

  // Whether the kernel reads copies in FP8 as they are.
  bool reads_fp8(const Op& op) const {
    return b_.structure().fp8_attention && op_traits(op.kind).family == OpFamily::Attention;
  }

  // Copies the ops in order and inserts the casts. Ids of ops change.
  void rebuild() {
    const std::vector<Op> ops = std::move(s_.ops);
    const OpId begin = s_.backward_begin, replay_end = s_.replay_end, end = static_cast<OpId>(ops.size());
    s_.ops.clear();
    std::vector<OpId> moved;
    for (OpId id = 0; id <= end; ++id) {
      if (id == begin) s_.backward_begin = static_cast<OpId>(s_.ops.size());
      if (id == replay_end) s_.replay_end = static_cast<OpId>(s_.ops.size());
      if (id == end) break;
      Op op = ops[static_cast<size_t>(id)];
      if (reads_fp8(op)) {
        op.compute = DType::FP8;
        for (TensorId& in : op.inputs)
          if (const auto it = cached_.find(in); it != cached_.end()) in = it->second;
      } else if (id >= begin) {
        for (TensorId& in : op.inputs) in = restored(in, op.block);
      }
      moved.push_back(static_cast<OpId>(s_.ops.size()));
      if (op.forward >= 0) op.forward = moved[static_cast<size_t>(op.forward)];
      for (const TensorId out : op.outputs) s_.tensors[static_cast<size_t>(out)].producer = moved.back();
      s_.ops.push_back(op);
      if (id < begin) store(op);
    }
  }

  // Casts the wanted results of a forward op, and notes quantized copies of cached tensors.
  void store(const Op& op) {
    for (const TensorId out : op.outputs)
      if (const auto it = wanted_.find(out); it != wanted_.end())
        cached_[out] = b_.cast(out, it->second, Phase::Forward);
    if (op.kind == OpKind::Quantize && cached_.contains(op.inputs[0]) &&
        !of_attention_.contains(op.inputs[0]))
      quantized_[op.outputs[0]] = op.inputs[0];
  }

  // The tensor that the backward reads instead: a cached tensor in its own type, a quantized copy made again.
  TensorId restored(TensorId id, int block) {
    if (const auto known = restored_.find(id); known != restored_.end()) return known->second;
    if (of_attention_.contains(id)) return id;
    if (const auto it = cached_.find(id); it != cached_.end())
      return restored_[id] = b_.cast(it->second, s_.tensor(id).dtype, Phase::Backward);
    if (const auto it = quantized_.find(id); it != quantized_.end())
      return restored_[id] = b_.quantize(cached_.at(it->second), Phase::Backward, block, s_.tensor(id).dtype);
    return id;
  }

  SegmentBuilder& b_;
  Segment& s_;
  std::set<TensorId> of_attention_;         // forward tensors that only attention reads in FP8
  std::map<TensorId, DType> wanted_;        // forward tensor -> type of its cached copy
  std::map<TensorId, TensorId> cached_;     // forward tensor -> cached copy
  std::map<TensorId, TensorId> quantized_;  // quantized copy -> its source, which is cached
  std::map<TensorId, TensorId> restored_;   // forward tensor -> tensor that the backward reads
};

}  // namespace

void cache_activations(SegmentBuilder& builder) {
  const Structure& s = builder.structure();
  if (s.fp8_activations || s.fp8_inputs || s.fp8_attention) SavedCasts(builder).run();
}

}  // namespace shardscape
