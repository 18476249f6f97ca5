#include "memory/segment_walk.h"

#include <algorithm>

#include "grad_sync/sync_plan.h"
#include "graph/kernel_label.h"

namespace shardscape {

SegmentLifetimes::Walk::Walk(const SegmentLifetimes& lifetimes, int segment,
                             CheckpointPolicy checkpoint_policy, const SegmentSizes& sizes, Part part,
                             Outputs outputs)
    : lifetimes_(lifetimes),
      s_(lifetimes.graph_.segments[static_cast<size_t>(segment)]),
      of_(lifetimes.segments_[static_cast<size_t>(segment)]),
      checkpoint_policy_(checkpoint_policy),
      part_(part),
      forward_(part == Part::Forward),
      allocates_gradients_(part == Part::FirstBackward),
      input_only_(part == Part::InputBackward),
      backward_(part == Part::Backward || allocates_gradients_ || input_only_),
      first_(forward_    ? 0
             : backward_ ? s_.replay_end
                         : s_.backward_begin),
      last_(forward_    ? s_.backward_begin
            : backward_ ? static_cast<OpId>(s_.ops.size())
                        : s_.replay_end),
      bytes_(sizes.storages[static_cast<size_t>(segment)]),
      workspaces_(sizes.workspaces[static_cast<size_t>(segment)]),
      gradients_(sizes.gradients[static_cast<size_t>(segment)]),
      new_gradients_(allocates_gradients_ ? &sizes.new_gradients[static_cast<size_t>(segment)] : nullptr),
      outputs_(outputs),
      category_(of_.category),
      alive_(of_.root.size(), false),
      saved_(lifetimes.saved_storages(segment, checkpoint_policy)),
      has_gradient_(s_.params.size(), false) {}

SegmentPart SegmentLifetimes::Walk::run() {
  allocate_begin();
  find_last_uses();
  hold_longer();
  result_.begin = result_.peak = now_;
  record_peak(-1, {});
  if (outputs_.events) outputs_.events->begin = outputs_.events->events.size();
  for (OpId id = first_; id < last_; ++id)
    if (runs_here(id)) run_op(id);
  if (backward_)  // tensors that no op read
    for (size_t i = 0; i < alive_.size(); ++i)
      if (alive_[i] && !survivors_.contains(static_cast<StorageId>(i))) free(static_cast<StorageId>(i));
  result_.end = now_;
  if (outputs_.events) name_messages();
  return result_;
}

bool SegmentLifetimes::Walk::runs_here(OpId id) const {
  return runs(s_.op(id), checkpoint_policy_) && !(input_only_ && s_.op(id).deferrable);
}

StorageId SegmentLifetimes::Walk::memory(TensorId tensor) const {
  const StorageId storage = s_.tensor(tensor).storage;
  return of_.absorbed[static_cast<size_t>(storage)] || of_.fixed[static_cast<size_t>(storage)]
             ? -1
             : of_.root[static_cast<size_t>(storage)];
}

StorageId SegmentLifetimes::Walk::memory_read(TensorId tensor) const {
  const OpId maker = s_.tensor(tensor).producer;
  return memory(maker >= 0 && !runs_here(maker) ? forward_original(s_, tensor) : tensor);
}

void SegmentLifetimes::Walk::allocate(StorageId id) {
  const auto i = static_cast<size_t>(id);
  if (id < 0 || alive_[i]) return;
  alive_[i] = true;
  now_[static_cast<size_t>(category_[i])] += bytes_[i];
  record(id, bytes_[i]);
}

void SegmentLifetimes::Walk::free(StorageId id) {
  const auto i = static_cast<size_t>(id);
  if (id < 0 || !alive_[i]) return;
  alive_[i] = false;
  now_[static_cast<size_t>(category_[i])] -= bytes_[i];
  record(id, -bytes_[i]);
}

void SegmentLifetimes::Walk::record(StorageId id, int64_t change) {
  if (outputs_.events && change != 0) outputs_.events->events.push_back({id, change});
}

void SegmentLifetimes::Walk::count_as_activation(StorageId id) {
  MemoryCategory& category = category_[static_cast<size_t>(id)];
  if (category == MemoryCategory::Buffers) category = MemoryCategory::Activations;
}

// Allocates the storages that exist before the first op, and finds the storages that survive the part.
void SegmentLifetimes::Walk::allocate_begin() {
  const auto root = [&](StorageId id) { return of_.root[static_cast<size_t>(id)]; };
  for (const StorageId id : saved_) count_as_activation(id);
  input_ = s_.input >= 0 ? root(s_.tensor(s_.input).storage) : -1;
  if (forward_) {
    survivors_ = saved_;
    if (s_.kind != SegmentKind::Head && s_.output >= 0) survivors_.insert(memory(s_.output));
    for (const Carried& carried : s_.carried)
      if (carried.held) allocate(memory(carried.in));
    return allocate(input_);
  }
  for (const StorageId id : saved_) allocate(id);
  if (checkpoint_policy_ != CheckpointPolicy::Activations && s_.replay_end > s_.backward_begin)
    allocate_replayed();
  if (backward_) {
    if (s_.output_grad >= 0) allocate(memory(s_.output_grad));
    if (s_.input_grad >= 0) survivors_.insert(memory(s_.input_grad));
    for (const Carried& carried : s_.carried)
      if (carried.in_grad >= 0 && carried.out_grad < 0) begun_.insert(memory(carried.in_grad));
    if (input_only_)
      for (const SavedStorage& deferred : deferred_in(s_, checkpoint_policy_))
        survivors_.insert(root(deferred.storage));
    return;
  }
  survivors_.insert(saved_.begin(), saved_.end());
  if (input_ >= 0) survivors_.insert(input_);
  if (part_ != Part::ReplayInGroup) return;
  for (const Tensor& t : s_.tensors)
    if (const auto id = static_cast<TensorId>(&t - s_.tensors.data());
        t.repeat_of == s_.output && memory(id) >= 0)
      survivors_.insert(memory(id));
}

// Tensors that the replay leaves for the backward: a backward finds them allocated, a replay leaves them so.
void SegmentLifetimes::Walk::allocate_replayed() {
  if (checkpoint_policy_ == CheckpointPolicy::Nothing) allocate(input_);
  for (OpId id = s_.replay_end; id < static_cast<OpId>(s_.ops.size()); ++id)
    for (const TensorId in : s_.op(id).inputs) {
      const StorageId storage = memory(in);
      const OpId maker = s_.tensor(in).producer;
      if (storage < 0 || maker < s_.backward_begin || maker >= s_.replay_end || !runs_here(maker)) continue;
      count_as_activation(storage);
      if (backward_)
        allocate(storage);
      else
        survivors_.insert(storage);
    }
}

void SegmentLifetimes::Walk::find_last_uses() {
  for (OpId id = first_; id < last_; ++id) {
    if (!runs_here(id)) continue;
    for (const TensorId in : s_.op(id).inputs) last_use_[memory_read(in)] = id;
    for (const TensorId out : s_.op(id).outputs) last_use_.try_emplace(memory(out), id);
  }
  for (auto& [storage, id] : last_use_)
    if (storage >= 0 && of_.merged[static_cast<size_t>(storage)] >= first_)
      id = std::min(id, of_.merged[static_cast<size_t>(storage)]);
}

// The op until whose end a Python variable holds the results and the workspace of this op; -1: none.
OpId SegmentLifetimes::Walk::held_until(OpId id) const {
  const Op& op = s_.op(id);
  const KernelRule* rule = op.grad != GradRole::None || is_redistribution(op.kind)
                               ? nullptr
                               : lifetimes_.profile_.rule(std::string(template_name(op.kind)));
  if (!rule || rule->held_until.empty()) return -1;
  for (OpId until = id + 1; until < last_; ++until)
    if (s_.op(until).block == op.block && s_.op(until).phase == op.phase &&
        template_name(s_.op(until).kind) == rule->held_until)
      return until;
  return -1;
}

void SegmentLifetimes::Walk::hold_longer() {
  for (OpId id = first_; id < last_; ++id)
    if (const OpId until = runs_here(id) ? held_until(id) : -1; until >= 0)
      for (const TensorId made : s_.op(id).outputs) {
        OpId& use = last_use_[memory(made)];
        use = std::max(use, until);
        held_storages_[use].push_back(memory(made));
      }
}

// Whether a gradient has been added to another one before op `by`, which freed its memory.
bool SegmentLifetimes::Walk::is_merged(StorageId id, OpId by) const {
  const OpId merged = id >= 0 ? of_.merged[static_cast<size_t>(id)] : -1;
  return merged >= first_ && merged < by;
}

void SegmentLifetimes::Walk::run_op(OpId id) {
  for (const TensorId in : s_.op(id).inputs)
    if (!is_merged(memory_read(in), id)) allocate(memory_read(in));
  for (const TensorId produced : s_.op(id).outputs) allocate(memory(produced));
  const Temporaries temporaries = allocate_temporaries(id);
  record_peak(id, temporaries);
  free_temporaries(id, temporaries);
  free_after(id);
}

bool SegmentLifetimes::Walk::makes_gradient(const Op& op, size_t param) const {
  return std::any_of(op.outputs.begin(), op.outputs.end(), [&](TensorId t) {
    return s_.tensor(t).role == TensorRole::ParameterGradient &&
           s_.tensor(t).gradient_of == s_.params[param].tensor;
  });
}

// Also allocates the parameter gradients of a first backward, which are not temporary.
SegmentLifetimes::Walk::Temporaries SegmentLifetimes::Walk::allocate_temporaries(OpId id) {
  const Op& op = s_.op(id);
  Temporaries out;
  out.name = ", workspace";
  const auto add = [&](int64_t bytes) {
    out.bytes += bytes;
    if (!outputs_.events || bytes == 0) return;
    out.events.push_back({--last_temporary_, bytes});
    record(last_temporary_, bytes);
  };
  add(workspaces_[static_cast<size_t>(id)]);
  const bool makes_none = op.kind == OpKind::Einsum && lifetimes_.profile_.fuses_weight_gradients() &&
                          !lifetimes_.graph_.structure.separate_weight_gradients;
  const bool in_place = is_fsdp(lifetimes_.graph_.structure.sync);  // FSDP adds to gradients in place
  for (size_t p = 0; p < s_.params.size(); ++p) {
    if (!allocates_gradients_) {
      if (in_place || makes_none || !makes_gradient(op, p)) continue;
      add(gradients_[p]);
      out.name = "";
      continue;
    }
    const int64_t bytes = (*new_gradients_)[p];
    if (bytes == 0 || has_gradient_[p] || !makes_gradient(op, p)) continue;
    has_gradient_[p] = true;
    now_[static_cast<size_t>(MemoryCategory::Gradients)] += bytes;
    record(SegmentEvents::gradient(p), bytes);
  }
  return out;
}

void SegmentLifetimes::Walk::record_peak(OpId id, const Temporaries& temporaries) {
  CategoryBytes here = now_;
  here[static_cast<size_t>(MemoryCategory::Buffers)] += temporaries.bytes;
  if (total(here) < total(result_.peak) || (id >= 0 && total(here) == total(result_.peak))) return;
  result_.peak = here;
  result_.peak_op = id;
  if (outputs_.events) outputs_.events->peak = outputs_.events->events.size();
  if (std::vector<int64_t>* blocks = outputs_.blocks) {
    blocks->assign(temporaries.bytes > 0 ? 1 : 0, temporaries.bytes);
    for (size_t i = 0; i < alive_.size(); ++i)
      if (alive_[i]) blocks->push_back(bytes_[i]);
  }
  std::vector<LiveStorage>* at_peak = outputs_.at_peak;
  if (!at_peak) return;
  at_peak->clear();
  for (size_t i = 0; i < alive_.size(); ++i)
    if (alive_[i])
      at_peak->push_back({s_.storages[i].name, category_[i], bytes_[i], static_cast<StorageId>(i)});
  if (temporaries.bytes > 0)
    at_peak->push_back({kernel_label(s_, id) + temporaries.name, MemoryCategory::Buffers, temporaries.bytes});
}

void SegmentLifetimes::Walk::free_temporaries(OpId id, const Temporaries& temporaries) {
  const OpId until = temporaries.bytes > 0 ? held_until(id) : -1;
  int64_t& buffers = now_[static_cast<size_t>(MemoryCategory::Buffers)];
  if (until >= 0) {
    held_workspaces_[until] += temporaries.bytes;
    buffers += temporaries.bytes;
  }
  buffers -= held_workspaces_[id];
  if (!outputs_.events) return;
  std::vector<MemoryEvent>& later = temporaries_until_[std::max(until, id)];
  later.insert(later.end(), temporaries.events.begin(), temporaries.events.end());
  for (const MemoryEvent& event : temporaries_until_[id]) record(event.storage, -event.bytes);
}

void SegmentLifetimes::Walk::free_after(OpId id) {
  const auto release = [&](StorageId storage) {
    if (storage >= 0 && !survivors_.contains(storage) && !begun_.contains(storage) &&
        last_use_.at(storage) == id)
      free(storage);
  };
  for (const TensorId in : s_.op(id).inputs) release(memory_read(in));
  for (const TensorId produced : s_.op(id).outputs) release(memory(produced));
  for (const StorageId storage : held_storages_[id]) release(storage);
}

// The storages that this part gets from the previous instance and passes to the next one.
void SegmentLifetimes::Walk::name_messages() {
  SegmentEvents& events = *outputs_.events;
  const auto memory_of = [&](TensorId tensor) { return tensor >= 0 ? memory(tensor) : -1; };
  events.takes = backward_ ? memory_of(s_.output_grad) : input_;
  if (forward_ && s_.kind != SegmentKind::Head) events.gives = memory_of(s_.output);
  if (backward_) events.gives = memory_of(s_.input_grad);
  for (const Carried& carried : s_.carried)
    if (begun_.contains(memory_of(carried.in_grad)))
      events.carried.emplace_back(carried.index, memory_of(carried.in_grad));
  if (part_ == Part::ReplayInGroup)
    for (const Tensor& t : s_.tensors)
      if (t.repeat_of == s_.output) events.gives = memory_of(static_cast<TensorId>(&t - s_.tensors.data()));
}

}  // namespace shardscape
