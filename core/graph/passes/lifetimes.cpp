// Lifetimes: which storages live from the forward to the backward, and to the deferred weight gradients.
#include <algorithm>
#include <set>

#include "graph/op_traits.h"
#include "graph/segment_builder.h"

namespace shardscape {
namespace {

// The forward op whose backward reads the result of a collective: the saver of the collective's input.
// Collectives may follow each other, for example where heads are exchanged before a ring.
OpId forward_reader(const Segment& s, const Op& collective) {
  OpId out = -1;
  for (const Op& reader : s.ops) {
    if (std::find(reader.inputs.begin(), reader.inputs.end(), collective.outputs[0]) == reader.inputs.end())
      continue;
    if (const OpId reader_op = reader.forward < 0 && is_collective(reader.kind) ? forward_reader(s, reader)
                                                                                : reader.forward;
        reader_op >= 0)
      out = reader_op;
  }
  return out;
}

bool reads(const Op& op, TensorId id) {
  return std::find(op.inputs.begin(), op.inputs.end(), id) != op.inputs.end();
}

bool has_weights(const Segment& s, const Op& op, bool frozen) {
  return op.kind == OpKind::Einsum && std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId id) {
           const Param* param = s.param(id);
           return param && param->frozen == frozen;
         });
}

// Results of norms that an adapter reads next to frozen weights. A kernel that fuses norm and GEMM then
// returns the result, and saves the operand of its GEMM although the weights have no gradient (Transformer
// Engine, layernorm_linear.py: "if not weight.requires_grad: if not return_layernorm_output"). Profiles of
// such code bases state saves_inputs for einsum.
std::vector<SavedStorage> returned_norms(const Segment& s) {
  std::vector<SavedStorage> out;
  for (OpId id = 0; id < s.backward_begin; ++id) {
    const Op& gemm = s.op(id);
    if (!has_weights(s, gemm, true)) continue;
    const TensorId operand = gemm.inputs[0];
    const OpId maker = s.tensor(operand).producer;
    const bool quantized = maker >= 0 && s.op(maker).kind == OpKind::Quantize;
    const TensorId source = quantized ? s.op(maker).inputs[0] : operand;
    const OpId norm = s.tensor(source).producer;
    const bool of_norm = norm >= 0 &&
                         (s.op(norm).kind == OpKind::RmsNorm || s.op(norm).kind == OpKind::LayerNorm);
    const bool of_adapter = std::any_of(s.ops.begin(), s.ops.begin() + s.backward_begin, [&](const Op& op) {
      return reads(op, source) && (op.kind == OpKind::LoraDropout || has_weights(s, op, false));
    });
    const StorageId storage = s.tensor(operand).storage;
    if (of_norm && of_adapter && std::none_of(out.begin(), out.end(), [&](const SavedStorage& other) {
          return other.storage == storage;
        }))
      out.push_back({storage, id});
  }
  return out;
}

// Adds storages that are not saved yet, in the order of their savers.
void add_saved(std::vector<SavedStorage>& to, const std::vector<SavedStorage>& more) {
  for (const SavedStorage& one : more)
    if (std::none_of(to.begin(), to.end(), [&](const SavedStorage& s) { return s.storage == one.storage; }))
      to.push_back(one);
  std::stable_sort(to.begin(), to.end(),
                   [](const SavedStorage& a, const SavedStorage& b) { return a.saver < b.saver; });
}

// Forward storages that the backward of a layer with this checkpoint policy reads. If replayed_storages is
// not null, the storages of the replay that the backward reads are added to it.
std::vector<SavedStorage> collect_saved(const Segment& s, CheckpointPolicy checkpoint_policy,
                                        std::vector<SavedStorage>* replayed_storages) {
  std::set<StorageId> seen, replayed;
  std::vector<SavedStorage> saved;
  for (size_t i = static_cast<size_t>(s.backward_begin); i < s.ops.size(); ++i) {
    if (!runs(s.ops[i], checkpoint_policy)) continue;
    for (TensorId read : s.ops[i].inputs) {
      const TensorId id = checkpoint_policy == CheckpointPolicy::Activations ? forward_original(s, read)
                                                                             : read;
      const Tensor& t = s.tensor(id);
      if (is_weights(t.role) || t.role == TensorRole::ParameterGradient || t.role == TensorRole::Gradient ||
          is_buffer(s, id) || holds_earlier(s, t.storage))
        continue;
      if (t.producer >= s.backward_begin) {  // recomputed or gathered again: its source is saved instead
        const Op& producer = s.op(t.producer);
        const bool recomputed = is_recomputation(producer) || producer.scope == OpScope::Checkpoint;
        if (replayed_storages && recomputed && s.ops[i].phase == Phase::Backward &&
            replayed.insert(t.storage).second)
          replayed_storages->push_back(
              {t.storage, producer.forward >= 0 ? producer.forward : s.ops[i].forward});
        continue;
      }
      OpId saver = s.ops[i].forward >= 0 ? s.ops[i].forward : t.producer;
      if (is_collective(s.ops[i].kind))
        if (const OpId reader_op = forward_reader(s, s.ops[i]); reader_op >= 0) saver = reader_op;
      if (seen.insert(t.storage).second) saved.push_back({t.storage, saver});
    }
  }
  // Later layers read this one's memory in their backward. They hold the tensors that a tower makes.
  for (const Carried& carried : s.carried) {
    if (s.kind == SegmentKind::Tower) break;
    if (carried.in >= 0 || carried.out < 0 || s.backward_begin == static_cast<OpId>(s.ops.size())) continue;
    const Tensor& t = s.tensor(carried.out);
    if (seen.insert(t.storage).second) saved.push_back({t.storage, std::max(t.producer, 0)});
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
  for (const Carried& carried : s.carried)
    if (carried.in_grad >= 0) needed[static_cast<size_t>(carried.in_grad)] = true;
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
      if (is_weights(t.role) || t.role == TensorRole::ParameterGradient || is_buffer(s, id) ||
          holds_earlier(s, t.storage))
        continue;
      if (t.producer >= 0 && s.op(t.producer).deferrable) continue;
      const OpId reader_op = op.forward >= 0 ? op.forward : forward_reader(s, op);
      if (seen.insert(t.storage).second) out.push_back({t.storage, reader_op >= 0 ? reader_op : 0});
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const SavedStorage& a, const SavedStorage& b) { return a.saver < b.saver; });
  return out;
}

}  // namespace

void find_lifetimes(SegmentBuilder& builder) {
  Segment& s = builder.segment();
  // Selective recompute has no op scopes: every layer replays the same ops.
  const bool full = s.replay_end > s.backward_begin;
  s.saved = collect_saved(s, CheckpointPolicy::Input, &s.replayed);
  if (full) s.saved_without_recompute = collect_saved(s, CheckpointPolicy::Activations, nullptr);
  if (const KernelRule* rule = builder.profile().rule(std::string(template_name(OpKind::Einsum)));
      rule && !rule->saves_inputs.empty() && builder.structure().lora)
    add_saved(full ? s.saved_without_recompute : s.saved, returned_norms(s));
  split_backward(s);
  s.deferred = collect_deferred(s, CheckpointPolicy::Input);
  if (full) s.deferred_without_recompute = collect_deferred(s, CheckpointPolicy::Activations);
}

}  // namespace shardscape
