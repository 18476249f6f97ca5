#include "chakra/segment_tensors.h"

#include <algorithm>
#include <utility>

#include "chakra/bound_segment.h"
#include "grad_sync/stage_gradients.h"

namespace shardscape {

TraceTensor gathered_tensor(int64_t bytes) { return {"parameters.gathered", NameScope::Rank, bytes}; }

int64_t gathered_bytes(const Report& report, const StageReport& stage) {
  const Structure& s = report.graph().structure;
  if (!s.trains() || !(is_fsdp(s.sync) || shards_parameters(s.sync))) return 0;
  const StageSync sync = stage_sync(report.graph(), stage.first, stage.last, stage.layers > 0);
  return bound_value(sync.gathered, stage.binding, "gathered parameters: elements") * dtype_bytes(s.dtype);
}

int64_t gradient_bytes(const SegmentMemories& memories, int segment, size_t param, const Binding& binding) {
  const Graph& graph = memories.report().graph();
  const Segment& s = graph.segments[static_cast<size_t>(segment)];
  const Structure& of = graph.structure;
  switch (gradient_life(graph)) {
    case GradientLife::InBuckets: return 0;
    case GradientLife::UntilOptimizer:
    case GradientLife::UntilReduced:
      return memories.sizes().new_gradients[static_cast<size_t>(segment)][param];
    case GradientLife::Always: break;
  }
  const DType type = is_deepspeed(of.sync) ? of.dtype : of.grad_dtype;
  return shards_parameters(of.sync)
             ? 0
             : bound_value(local_elements(s.tensor(s.params[param].tensor)), binding, "gradient: elements") *
                   dtype_bytes(type);
}

SegmentTensors::SegmentTensors(const Lowering& lowering, const Segment& segment, LayerClass of,
                               const Binding& binding, const Nodes& nodes, RankProgram& program)
    : lowering_(lowering),
      segment_(segment),
      class_(of),
      binding_(binding),
      nodes_(nodes),
      ops_(program.ops),
      memories_(lowering.report()),
      index_(static_cast<int>(&segment - &lowering.report().graph().segments.front())),
      pool_(gathered_bytes(lowering.report(), lowering.report().stages[static_cast<size_t>(program.stage)])),
      sizes_(memories_.lifetimes().sizes(binding)),
      saved_(memories_.lifetimes().saved_storages(index_, of.checkpoint_policy)) {}

void SegmentTensors::add() {
  const bool trains = lowering_.report().graph().structure.trains();
  const auto end = static_cast<OpId>(segment_.ops.size());
  const Part backward = lowering_.report().graph().structure.split_backward ? Part::InputBackward
                                                                            : Part::Backward;
  if (trains) {
    const OpLifetimes life = op_lifetimes(memories_.lifetimes(), index_, class_.checkpoint_policy, sizes_,
                                          backward);
    begin_backward_.insert(life.begin.begin(), life.begin.end());
  }
  add_part(Part::Forward, 0, segment_.backward_begin);
  if (!trains) return;
  for (const StorageId storage : saved_)
    if (class_.offloaded && bytes_of(storage) > 0) stored_[storage] = tensor(storage);
  for (const auto& [storage, forward] : stored_) named_[storage] = loaded(storage);
  if (class_.checkpoint_policy != CheckpointPolicy::Activations &&
      segment_.replay_end > segment_.backward_begin)
    add_part(Part::ReplayInGroup, segment_.backward_begin, segment_.replay_end);
  add_part(backward, segment_.replay_end, end);
  if (backward == Part::InputBackward) add_deferred();
}

std::vector<TraceTensor> SegmentTensors::stored() const {
  std::vector<TraceTensor> out;
  for (const auto& [storage, tensor] : stored_) out.push_back(tensor);
  return out;
}

std::vector<TraceTensor> SegmentTensors::loaded() const {
  std::vector<TraceTensor> out;
  for (const auto& [storage, tensor] : stored_) out.push_back(loaded(storage));
  return out;
}

TraceTensor SegmentTensors::loaded(StorageId storage) const {
  return {segment_.storages[static_cast<size_t>(storage)].name + ".loaded", NameScope::Microbatch,
          bytes_of(storage)};
}

// Whether a storage that the part allocates and does not free is read later.
bool SegmentTensors::survives(Part part, StorageId storage) const {
  if (part == Part::Forward) {
    for (const Carried& carried : segment_.carried)
      if (carried.out >= 0 && segment_.tensor(carried.out).storage == storage) return true;
    return saved_.contains(storage);
  }
  if (part == Part::ReplayInGroup) return begin_backward_.contains(storage);
  for (const Carried& carried : segment_.carried)
    if (carried.in_grad >= 0 && segment_.tensor(carried.in_grad).storage == storage) return true;
  return part == Part::InputBackward;  // deferred weight gradients read it
}

const std::vector<uint32_t>& SegmentTensors::nodes_at_or_after(OpId op) const {
  const auto at = std::lower_bound(running_.begin(), running_.end(), op);
  return nodes_.of[static_cast<size_t>(at == running_.end() ? running_.back() : *at)];
}

const std::vector<uint32_t>& SegmentTensors::nodes_at_or_before(OpId op) const {
  const auto after = std::upper_bound(running_.begin(), running_.end(), op);
  return nodes_.of[static_cast<size_t>(after == running_.begin() ? running_.front() : *(after - 1))];
}

int64_t SegmentTensors::bytes_of(StorageId storage) const {
  const auto at = static_cast<size_t>(storage);
  const int64_t rounded = sizes_.storages[static_cast<size_t>(index_)][at];
  const int64_t exact = bound_value(segment_.storages[at].bytes, binding_, segment_.storages[at].name);
  return allocated_bytes(exact) == rounded ? exact : rounded;  // rings hold two blocks
}

TraceTensor SegmentTensors::tensor(StorageId storage) const {
  if (const auto named = named_.find(storage); named != named_.end()) return named->second;
  TraceTensor out{segment_.storages[static_cast<size_t>(storage)].name, NameScope::Microbatch,
                  bytes_of(storage)};
  for (const Carried& carried : segment_.carried) {
    const auto is = [&](TensorId t) { return t >= 0 && segment_.tensor(t).storage == storage; };
    const bool gradient = is(carried.in_grad) || is(carried.out_grad);
    if (!gradient && !is(carried.in) && !is(carried.out)) continue;
    out.scope = NameScope::Carried;
    out.name = "carried." + std::to_string(carried.index) + (gradient ? ".grad" : "");
    return out;
  }
  if (const auto version = versions_.find(storage); version != versions_.end() && version->second > 1)
    out.name += "." + std::to_string(version->second);
  return out;
}

// The parameter, or its gradient. Tied parameters are one tensor.
TraceTensor SegmentTensors::parameter(TensorId id, const char* suffix, int64_t bytes) const {
  const Param* param = segment_.param(id);
  if (param && !param->tied.empty()) return {"tied." + param->tied + suffix, NameScope::Rank, bytes};
  return {segment_.tensor(id).name + suffix, NameScope::Layer, bytes};
}

void SegmentTensors::read_storage(StorageId storage, const std::vector<uint32_t>& nodes) {
  const TraceTensor of = tensor(storage);
  if (of.bytes == 0) return;
  for (const uint32_t node : nodes) read(node, of);
}

void SegmentTensors::read(uint32_t node, const TraceTensor& tensor) {
  std::vector<TraceTensor>& inputs = ops_[node].inputs;
  if (std::none_of(inputs.begin(), inputs.end(),
                   [&](const TraceTensor& t) { return t.name == tensor.name && t.scope == tensor.scope; }))
    inputs.push_back(tensor);
}

void SegmentTensors::read_operands(OpId id) {
  const Op& op = segment_.op(id);
  const bool only_quantized = lowering_.report().graph().structure.fp8_params;
  for (const TensorId in : op.inputs) {
    const Tensor& t = segment_.tensor(in);
    for (const auto* nodes : {&nodes_.of[static_cast<size_t>(id)], &nodes_.sends[static_cast<size_t>(id)]}) {
      if (t.role != TensorRole::Parameter) {
        if (alive_.contains(t.storage) || is_carried(segment_, in)) read_storage(t.storage, *nodes);
        continue;
      }
      if (pool_ > 0) {
        for (const uint32_t node : *nodes) read(node, gathered_tensor(pool_));
        continue;
      }
      const Param* param = segment_.param(in);
      if (!param || param->format != WeightFormat::Plain || (param->quantized && only_quantized)) continue;
      TraceTensor of = parameter(in, "", bound_value(local_bytes(t), binding_, t.name));
      of.use = TensorUse::Parameter;
      for (const uint32_t node : *nodes) read(node, of);
    }
  }
}

void SegmentTensors::add_gradient(const Op& op, uint32_t node) {
  const Graph& graph = lowering_.report().graph();
  const GradientLife life = gradient_life(graph);
  for (const TensorId made : op.outputs) {
    const Tensor& t = segment_.tensor(made);
    if (t.role != TensorRole::ParameterGradient || t.gradient_of < 0) continue;
    const auto param = std::find_if(segment_.params.begin(), segment_.params.end(),
                                    [&](const Param& p) { return p.tensor == t.gradient_of; });
    if (param == segment_.params.end()) continue;
    const int64_t bytes = gradient_bytes(memories_, index_,
                                         static_cast<size_t>(param - segment_.params.begin()), binding_);
    if (bytes == 0) continue;
    TraceTensor gradient = parameter(t.gradient_of, ".grad", bytes);
    gradient.use = TensorUse::Gradient;
    const bool every = graph.structure.every_microbatch || adds_gradients_after_pass(graph);
    if (life == GradientLife::Always) {  // a buffer that exists before the step
      read(node, gradient);
      continue;
    }
    if (!gradients_.insert(gradient.name).second) {  // the second use of a tied parameter
      gradient.use = TensorUse::Plain;
      read(node, gradient);
      continue;
    }
    if (life == GradientLife::UntilReduced && every)
      gradient.scope = NameScope::Microbatch;
    else
      gradient.use = TensorUse::Accumulated;
    ops_[node].outputs.push_back(std::move(gradient));
  }
}

void SegmentTensors::write(StorageId storage, OpId op, uint32_t node) {
  TraceTensor made = tensor(storage);
  if (made.bytes == 0) return;
  const auto produces = [&](const Tensor& t) { return t.storage == storage && t.producer >= 0; };
  // Tokens and labels come from outside: the ops only read them.
  if (std::none_of(segment_.tensors.begin(), segment_.tensors.end(), produces) && op >= 0)
    return read_storage(storage, {node});
  ops_[node].outputs.push_back(std::move(made));
}

// The op that makes `passed` writes it into a storage that the segment was given. From then on the storage
// has the name under which the next segment knows it.
void SegmentTensors::hand_over(const OpLifetimes& life, TensorId passed, NameScope in, NameScope out) {
  const bool given = std::find(life.begin.begin(), life.begin.end(), life.gives) != life.begin.end();
  if (life.gives < 0 || !given || passed < 0 || segment_.tensor(passed).producer < 0) return;
  const std::vector<uint32_t>& nodes = nodes_at_or_before(segment_.tensor(passed).producer);
  if (life.gives == life.takes) named_[life.gives] = {"", in, bytes_of(life.gives)};
  read_storage(life.gives, {nodes.back()});
  named_[life.gives] = {"", out, bytes_of(life.gives)};
  ops_[nodes.back()].outputs.push_back(named_[life.gives]);
}

void SegmentTensors::add_part(Part part, OpId first, OpId last) {
  const OpLifetimes life = op_lifetimes(memories_.lifetimes(), index_, class_.checkpoint_policy, sizes_,
                                        part);
  const bool forward = part == Part::Forward, replay = part == Part::ReplayInGroup;
  running_.clear();
  for (OpId id = first; id < last; ++id)
    if (!nodes_.of[static_cast<size_t>(id)].empty() &&
        !(part == Part::InputBackward && segment_.op(id).deferrable))
      running_.push_back(id);
  const NameScope in = forward || replay ? NameScope::StreamIn : NameScope::StreamGradOut;
  const NameScope out = forward  ? NameScope::StreamOut
                        : replay ? NameScope::Replayed
                                 : NameScope::StreamGradIn;
  const auto stream = [&](StorageId storage, NameScope scope) {
    if (storage >= 0) named_[storage] = {"", scope, bytes_of(storage)};
  };
  if (!named_.contains(life.takes)) stream(life.takes, in);
  const bool given = std::find(life.begin.begin(), life.begin.end(), life.gives) != life.begin.end();
  if (!given && life.gives != life.takes) stream(life.gives, out);
  alive_ = {life.begin.begin(), life.begin.end()};
  if (part == Part::InputBackward)
    for (const SavedStorage& deferred : deferred_in(segment_, class_.checkpoint_policy)) {
      deferred_.insert(deferred.storage);
      if (segment_.output_grad >= 0 && deferred.storage == segment_.tensor(segment_.output_grad).storage)
        given_ = tensor(deferred.storage);
    }
  if (running_.empty()) return;
  const TensorId passed = forward ? segment_.output : replay ? -1 : segment_.input_grad;
  bool handed = false;
  std::map<StorageId, OpId> freed;
  for (const auto& [op, storage] : life.freed) freed[storage] = op;
  size_t made = 0, gone = 0;
  for (OpId id = first; id < last; ++id) {
    for (; made < life.allocated.size() && life.allocated[made].op == id; ++made) {
      const StorageId storage = life.allocated[made].storage;
      const auto end = freed.find(storage);
      const uint32_t node = nodes_at_or_after(id).front();
      const bool passes = storage == life.gives && !begin_backward_.contains(storage);
      if (end == freed.end() ? storage != life.gives && !survives(part, storage)
                             : nodes_at_or_before(end->second).back() <= node)
        continue;  // no later node reads it
      ++versions_[storage];
      write(storage, id, node);
      if (replay && passes && end == freed.end() && !ops_[node].outputs.empty())
        ops_[node].outputs.back().use = TensorUse::Passed;
      alive_.insert(storage);
    }
    if (std::binary_search(running_.begin(), running_.end(), id)) {
      if (part == Part::InputBackward) keep_deferred(id);
      read_operands(id);
      if (segment_.op(id).grad != GradRole::None || id >= segment_.replay_end)
        if (!forward && !replay) add_gradient(segment_.op(id), nodes_.of[static_cast<size_t>(id)].back());
    }
    if (!handed && passed >= 0 && segment_.tensor(passed).producer == id) {
      hand_over(life, passed, in, out);
      handed = true;
    }
    for (; gone < life.freed.size() && life.freed[gone].op == id; ++gone) {
      const StorageId storage = life.freed[gone].storage;
      if (alive_.erase(storage) > 0) read_storage(storage, {nodes_at_or_before(id).back()});
    }
  }
}

// The op adds to the gradient of the segment's output in place. Where deferred weight gradients read both
// that gradient and the sum, the sum has memory of its own, as in memory/allocator_use.cpp.
void SegmentTensors::keep_deferred(OpId op) {
  if (!given_) return;
  const StorageId given = segment_.tensor(segment_.output_grad).storage;
  for (const TensorId made : segment_.op(op).outputs) {
    const StorageId sum = segment_.tensor(made).storage;
    if (deferred_.contains(sum) && memories_.lifetimes().shares_memory(index_, sum, given) &&
        alive_.insert(sum).second)
      write(sum, op, nodes_.of[static_cast<size_t>(op)].back());
  }
}

// Deferred weight gradients read what the input gradients left.
void SegmentTensors::add_deferred() {
  if (given_) named_[segment_.tensor(segment_.output_grad).storage] = *given_;
  running_.clear();
  std::set<StorageId> unread = alive_;
  for (OpId id = segment_.replay_end; id < static_cast<OpId>(segment_.ops.size()); ++id) {
    if (!segment_.op(id).deferrable || nodes_.of[static_cast<size_t>(id)].empty()) continue;
    running_.push_back(id);
    read_operands(id);
    add_gradient(segment_.op(id), nodes_.of[static_cast<size_t>(id)].back());
    for (const TensorId in : segment_.op(id).inputs) unread.erase(segment_.tensor(in).storage);
  }
  if (running_.empty()) return;
  for (const StorageId storage : unread)
    if (const auto named = named_.find(storage);
        named == named_.end() || named->second.scope != NameScope::StreamGradIn)
      read_storage(storage, {nodes_.of[static_cast<size_t>(running_.back())].back()});
}

}  // namespace shardscape
