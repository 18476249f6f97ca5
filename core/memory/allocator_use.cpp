#include "memory/allocator_use.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "grad_sync/sync_params.h"
#include "graph/carried_tensors.h"
#include "memory/gradient_steps.h"
#include "memory/memory_timeline.h"
#include "memory/segment_memories.h"
#include "plan/stage_program.h"

namespace shardscape {
namespace {

using Part = SegmentLifetimes::Part;
constexpr int kSteps = 2;
constexpr int32_t kNone = -1, kBuffer = -2;  // kBuffer: the message is in a permanent receive buffer

// Writes the allocation events of one stage.
class AllocationTracer {
 public:
  AllocationTracer(const Report& report, int stage, std::stop_token stop)
      : r_(report),
        stage_(report.stages[static_cast<size_t>(stage)]),
        stop_(std::move(stop)),
        m_(report),
        program_(stage_program(report, stage_)),
        gradients_(m_, stage_, program_.layout()),
        carried_bytes_(m_.carried_gradients()),
        places_(pipeline_layout(report.design.parallel)),
        holds_messages_(holds_messages(report)),
        holds_outputs_(holds_outputs(report)) {
    for (const StageInstance& i : program_.layout().instances)
      keys_.push_back({i.segment, i.of.checkpoint_policy});
  }

  StageEvents trace() {
    const StageMemory& memory = r_.memory->stages[static_cast<size_t>(stage_.stage)];
    for (const MemoryContributor& part : memory.fixed_parts)
      if (part.category != MemoryCategory::Runtime && part.kind != PartKind::AdamMoment) hold(part);
    const auto microbatches = representative_microbatches(r_.design.parallel,
                                                          static_cast<int>(r_.microbatches));
    const std::vector<Action> actions = make_stage_schedule(r_.design.parallel, stage_.stage, microbatches,
                                                            r_.cache.get());
    const std::vector<AccumulationStep> accumulations = accumulation_steps(actions);
    trains_ = std::any_of(actions.begin(), actions.end(), [](const Action& a) {
      return a.kind == ActionKind::Backward || a.kind == ActionKind::BackwardInput;
    });
    for (int step = 0; step < kSteps; ++step) {
      out_.last_step = out_.events.size();
      for (size_t i = 0; i < actions.size() && !ended(); ++i) {
        const bool pair = actions[i].overlapped && actions[i].kind == ActionKind::Forward;
        run(actions[i], pair ? &actions[i + 1] : nullptr, accumulations[pair ? i + 1 : i]);
        i += pair;
      }
      if (step > 0) continue;
      for (const MemoryContributor& part : memory.fixed_parts)
        if (part.kind == PartKind::AdamMoment) hold(part);
    }
    out_.blocks = static_cast<int32_t>(held_by_.size());
    return std::move(out_);
  }

 private:
  using Blocks = std::map<StorageId, int32_t>;
  struct Run {  // the ops of one instance
    const SegmentEvents* of;
    Blocks& blocks;
    size_t done = 0;
    std::vector<std::pair<int, int32_t>> carried{};  // SegmentEvents::carried, as blocks
  };
  // A forward or backward of one virtual stage.
  struct Pass {
    const Action& action;
    const StageRange& range;
    std::span<const Event> events;
    size_t next = 0;           // next event
    size_t done = 0;           // instances that have run
    int32_t passing = kNone;   // tensor that one instance passes to the next
    int32_t replayed = kNone;  // the same in the replay of a recompute group
    AccumulationStep accumulation{};
    bool backward() const { return action.kind != ActionKind::Forward; }
    // Whether a later action computes the weight gradients.
    bool splits() const { return action.kind == ActionKind::BackwardInput; }
    size_t left() const { return range.end - range.first - done; }
  };

  bool ended() const { return stop_.stop_requested() || out_.events.size() > kMostReplayedEvents; }

  // States.

  int32_t allocate(int64_t bytes, bool side = false) {
    out_.events.push_back({static_cast<int32_t>(held_by_.size()), bytes, side});
    held_by_.push_back(1);
    return out_.events.back().block;
  }
  void release_block(int32_t block) {
    if (block >= 0 && --held_by_[static_cast<size_t>(block)] == 0) out_.events.push_back({block, 0, false});
  }

  void hold(const MemoryContributor& part) {
    int64_t left = part.bytes;
    for (const int64_t bytes : pieces(part)) {
      const int64_t piece = std::min(left, bytes);
      if (piece > 0) allocate(piece);
      left -= piece;
    }
    if (left > 0) allocate(left);
  }

  // Applies changes of gradients. Gradients of a layer are one tensor per parameter, except those of flat
  // units.
  void apply(const GradientSteps::Changes& changes) {
    for (const auto& [owner, reduced, bytes] : changes) {
      std::vector<int32_t>& blocks = gradient_blocks_[{owner, reduced}];
      if (bytes < 0) {
        for (const int32_t block : blocks) release_block(block);
        blocks.clear();
        continue;
      }
      const bool side = reduced && owner != GradientSteps::kStage;
      int64_t left = bytes, all = 0;
      const std::vector<int64_t> none,
          &sizes = owner == GradientSteps::kStage || has_flat_units(r_.graph().structure.sync)
                       ? none
                       : m_.sizes().gradients[static_cast<size_t>(keys_[owner].first)];
      for (const int64_t size : sizes) all += size;
      for (const int64_t size : sizes) {
        const auto piece = static_cast<int64_t>(Wide(bytes) * size / std::max<int64_t>(all, 1));
        if (piece > 0) blocks.push_back(allocate(piece, side));
        left -= piece;
      }
      if (left > 0) blocks.push_back(allocate(left, side));
    }
  }
  void update() {
    std::vector<int32_t> copies;
    for (const int64_t bytes : gradients_.copies()) copies.push_back(allocate(bytes));
    drop_gradients();
    for (const int32_t block : copies) release_block(block);
  }
  void drop_gradients() {
    for (const auto& [of, blocks] : gradient_blocks_)
      for (const int32_t block : blocks) release_block(block);
    gradient_blocks_.clear();
  }

  // Sizes of the tensors that store a state, unless the state is one buffer.
  std::vector<int64_t> pieces(const MemoryContributor& part) {
    if (part.kind == PartKind::ReceiveBuffers) {
      const int64_t buffers = places_.messages(stage_.stage) * places_.microbatches(r_.microbatches);
      return std::vector<int64_t>(static_cast<size_t>(buffers), part.bytes / buffers);
    }
    const Structure& s = r_.graph().structure;
    const bool gradients = part.category == MemoryCategory::Gradients,
               parameters = part.category == MemoryCategory::Parameters;
    if (!gradients && !parameters && part.category != MemoryCategory::Optimizer) return {};
    if (s.trains() && (is_deepspeed(s.sync) || has_flat_units(s.sync))) return {};
    if (s.sync == SyncStrategy::Fsdp2 && s.trains() && part.kind != PartKind::Sharded &&
        part.category != MemoryCategory::Optimizer)
      return {};
    const bool ranges = s.trains() && s.sync == SyncStrategy::DistributedOptimizer;
    if ((gradients && s.sync == SyncStrategy::DdpFlat) ||
        (ranges && part.category != MemoryCategory::Optimizer))
      return {};
    if (elements_.empty()) {
      const SyncInput input = sync_input(r_.graph(), stage_.binding, stage_.first, stage_.last,
                                         chunk_kinds(r_.graph(), stage_, r_.design.model));
      for (const SyncParam& p : input.params) elements_.push_back(p.elements());
    }
    std::vector<int64_t> out = elements_;
    Wide all = 0;
    for (const int64_t elements : elements_) all += elements;
    // The distributed optimizer owns a range of the buffer: whole tensors, except at both ends of the range.
    // Other strategies own a share of every tensor.
    const DType type = part.kind == PartKind::MasterWeights ? DType::FP32 : s.moment_dtype;
    for (int64_t& bytes : out)
      bytes = ranges && !s.muon ? storage_bytes(type, bytes)
                                : static_cast<int64_t>(Wide(bytes) * part.bytes / all);
    return out;
  }

  // Runs of ops.

  const SegmentEvents& events(size_t instance, Part part) {
    const auto [it, fresh] = events_.try_emplace({keys_[instance], part});
    if (fresh)
      it->second = m_.lifetimes().events(keys_[instance].first, keys_[instance].second, m_.sizes(), part);
    return it->second;
  }

  Blocks& blocks(size_t instance, int microbatch) { return held_[{instance, microbatch}]; }

  const std::set<StorageId>& saved(size_t instance) {
    const auto [it, fresh] = saved_.try_emplace(keys_[instance]);
    if (fresh) it->second = m_.lifetimes().saved_storages(keys_[instance].first, keys_[instance].second);
    return it->second;
  }

  Run begin(size_t instance, int microbatch, Part part, int32_t passing) {
    Run run{&events(instance, part), blocks(instance, microbatch)};
    for (; run.done < run.of->begin; ++run.done) {
      const auto& [storage, bytes] = run.of->events[run.done];
      if (run.blocks.contains(storage)) continue;
      run.blocks[storage] = storage == run.of->takes && passing != kNone ? std::exchange(passing, kNone)
                                                                         : allocate(bytes);
    }
    release_block(passing);
    return run;
  }

  void advance(Run& run, size_t until) {
    for (; run.done < until; ++run.done) {
      const auto& [storage, bytes] = run.of->events[run.done];
      const auto it = run.blocks.find(storage);
      if (bytes > 0) {
        if (it == run.blocks.end()) run.blocks[storage] = allocate(bytes);
      } else if (it != run.blocks.end()) {
        const auto carried = std::find_if(run.of->carried.begin(), run.of->carried.end(),
                                          [id = storage](const auto& entry) { return entry.second == id; });
        if (carried != run.of->carried.end())
          run.carried.emplace_back(carried->first, it->second);
        else
          release_block(it->second);
        run.blocks.erase(it);
      }
    }
  }

  // Ends the part and returns the tensor for the next instance. checkpoint_policy: whether this instance also
  // saves that tensor.
  int32_t end(Run& run, bool checkpoint_policy) {
    advance(run, run.of->events.size());
    const auto it = run.blocks.find(run.of->gives);
    if (it == run.blocks.end()) return kNone;
    const int32_t block = it->second;
    if (checkpoint_policy && block >= 0) ++held_by_[static_cast<size_t>(block)];
    if (!checkpoint_policy) run.blocks.erase(it);
    return block;
  }

  void drop(size_t instance, int microbatch) {
    for (const auto& [storage, block] : blocks(instance, microbatch)) release_block(block);
    held_.erase({instance, microbatch});
  }

  // Runs the events of the next instance of a pass. Calls at_peak at the peak of the forward.
  template <typename AtPeak>
  void step(Pass& pass, const AtPeak& at_peak) {
    const auto begins = [](const Event& event) {
      return event.kind == EventKind::Gather && event.part != LayerPart::Replay;
    };
    ++pass.done;
    do {
      const Event& event = pass.events[pass.next++];
      switch (event.kind) {
        case EventKind::Gather:
        case EventKind::Release:
        case EventKind::Store: break;
        case EventKind::Drop: drop(event.instance, pass.action.microbatch); break;
        case EventKind::Load: load(event.instance, pass.action.microbatch); break;
        case EventKind::Run:
          if (event.part == LayerPart::Forward) forward(pass, event.instance, at_peak);
          if (event.part == LayerPart::Replay) replay(pass, event);
          if (event.part == LayerPart::Backward) backward(pass, event.instance);
          break;
      }
    } while (pass.next < pass.events.size() && !begins(pass.events[pass.next]));
    if (!trains_ && pass.left() == 0)
      for (size_t j = pass.range.first; j < pass.range.end; ++j) drop(j, pass.action.microbatch);
  }
  void step(Pass& pass) {
    step(pass, [] {});
  }

  template <typename AtPeak>
  void forward(Pass& pass, size_t i, const AtPeak& at_peak) {
    Run run = begin(i, pass.action.microbatch, Part::Forward, pass.passing);
    advance(run, run.of->peak);
    at_peak();
    pass.passing = end(run, saved(i).contains(run.of->gives));
  }

  void replay(Pass& pass, const Event& event) {
    if (events(event.cause, Part::Replay).events.empty()) return;
    const bool last = event.instance == event.cause;
    Run run = begin(event.instance, pass.action.microbatch, last ? Part::Replay : Part::ReplayInGroup,
                    pass.replayed);
    pass.replayed = end(run, false);
    if (last) release_block(std::exchange(pass.replayed, kNone));
  }

  void backward(Pass& pass, size_t i) {
    const Part part = pass.splits()                                       ? Part::InputBackward
                      : gradients_.allocates_gradients(pass.accumulation) ? Part::FirstBackward
                                                                          : Part::Backward;
    Run run = begin(i, pass.action.microbatch, part, pass.passing);
    deferred_.clear();
    const auto& [segment, policy] = keys_[i];
    if (pass.splits())
      for (const SavedStorage& saved : deferred_in(r_.graph().segments[static_cast<size_t>(segment)], policy))
        deferred_.insert(saved.storage);
    pass.passing = end(run, false);
    for (const auto& [index, block] : run.carried) carried_[{index, pass.action.microbatch}] = block;
    while (!run.blocks.empty() && SegmentEvents::is_gradient(run.blocks.begin()->first)) {
      gradient_blocks_[{i, false}].push_back(run.blocks.begin()->second);
      run.blocks.erase(run.blocks.begin());
    }
    for (auto it = run.blocks.begin(); it != run.blocks.end();) {
      if (deferred_.contains(it->first)) {
        ++it;
      } else {
        release_block(it->second);
        it = run.blocks.erase(it);
      }
    }
    // A tensor that the deferred weight gradient still reads cannot be overwritten by a sum of gradients, so
    // the sum gets its own memory.
    for (const StorageId storage : deferred_)
      if (!run.blocks.contains(storage))
        run.blocks[storage] = allocate(
            m_.sizes().storages[static_cast<size_t>(segment)][static_cast<size_t>(storage)]);
    if (!pass.splits()) drop(i, pass.action.microbatch);
    for (const Carried& carried : r_.graph().segments[static_cast<size_t>(segment)].carried)
      if (carried.out_grad >= 0 && carried.in_grad < 0)
        release_block(take_carried(carried.index, pass.action.microbatch));
    apply(gradients_.end(i, pass.accumulation));
    if (pass.left() == 0) apply(gradients_.end_pass(pass.range, pass.accumulation));
  }

  void load(size_t instance, int microbatch) {
    Blocks& at = blocks(instance, microbatch);
    for (const StorageId storage : saved(instance))
      if (!at.contains(storage))
        at[storage] = allocate(
            m_.sizes().storages[static_cast<size_t>(keys_[instance].first)][static_cast<size_t>(storage)]);
  }

  // Actions.

  // The message into a virtual stage: its input (forward) or the gradient of its output (backward).
  int32_t& message(bool backward, int64_t virtual_stage, int microbatch) {
    return messages_.try_emplace({backward, virtual_stage, microbatch}, kNone).first->second;
  }
  int64_t virtual_stage(int chunk) const { return places_.virtual_stage({stage_.stage, chunk}); }

  // Gradients of carried tensors. They live from the last layer that reads the tensor to the layer that makes
  // it, and travel with the messages between both.

  // Indices of those in the message at the begin or the end of a virtual stage.
  std::vector<int> carried_across_end(int chunk, bool end) const {
    std::vector<int> out;
    const StagePlace place{stage_.stage, chunk};
    if (carried_bytes_.empty() || !(end ? places_.sends(place) : places_.receives(place))) return out;
    const StageChunk& of = stage_.chunks[static_cast<size_t>(chunk)];
    const bool of_tower = end ? stage_.first.tower_alone() : stage_.first.embedding_alone();
    const int mask = of_tower ? carried_by_tower(r_.graph())
                              : carried_across(r_.graph(), r_.design.model,
                                               of.first_layer + (end ? of.layers : 0));
    for (int i = 0; i < std::ssize(carried_bytes_); ++i)
      if (mask >> i & 1 && carried_bytes_[static_cast<size_t>(i)] > 0) out.push_back(i);
    return out;
  }
  // Those that arrive, unless they have arrived before.
  void receive_carried(const Action& a) {
    for (const int index : carried_across_end(a.chunk, true))
      if (const auto [it, fresh] = carried_.try_emplace({index, a.microbatch}, kNone); fresh)
        it->second = allocate(carried_bytes_[static_cast<size_t>(index)]);
  }
  int32_t take_carried(int index, int microbatch) {
    const auto it = carried_.find({index, microbatch});
    if (it == carried_.end()) return kNone;
    const int32_t block = it->second;
    carried_.erase(it);
    return block;
  }

  // accumulation: the accumulation step of an action that computes weight gradients.
  Pass pass_of(const Action& a, const AccumulationStep& accumulation = {}) {
    Pass pass{a, program_.range(a), program_.pass(a)};
    pass.passing = std::exchange(message(pass.backward(), virtual_stage(a.chunk), a.microbatch), kNone);
    if (a.kind == ActionKind::Backward) pass.accumulation = accumulation;
    if (pass.backward()) receive_carried(a);
    apply(gradients_.begin_pass(pass.accumulation));
    return pass;
  }
  void pass_message_on(const Pass& pass) {
    // Frees the output of the forward, which has been sent.
    if (pass.backward() && holds_outputs_ && places_.sends({stage_.stage, pass.action.chunk}))
      release_block(
          std::exchange(message(false, virtual_stage(pass.action.chunk) + 1, pass.action.microbatch), kNone));
    if (pass.backward())
      for (const int index : carried_across_end(pass.action.chunk, false))
        sent_carried_[{pass.action.chunk, pass.action.microbatch}].push_back(
            take_carried(index, pass.action.microbatch));
    const int64_t next = virtual_stage(pass.action.chunk) + (pass.backward() ? -1 : 1);
    if (next >= 0 && next < places_.virtual_stages() && (trains_ || pass.passing != kNone))
      message(pass.backward(), next, pass.action.microbatch) = pass.passing;
    else
      release_block(pass.passing);
  }

  void receive(const Action& a, bool backward) {
    const StageRange& range = program_.range(a);
    if (holds_messages_ && !backward) {
      const auto& [segment, policy] = keys_[range.first];
      if (m_.lifetimes().saves_input(segment, policy) &&
          !program_.layout().instances[range.first].of.offloaded)
        message(false, virtual_stage(a.chunk), a.microbatch) = kBuffer;
    }
    if (holds_messages_) return;
    if (backward) receive_carried(a);
    const SegmentEvents& into = events(backward ? range.end - 1 : range.first,
                                       backward ? Part::Backward : Part::Forward);
    for (size_t i = 0; i < into.begin; ++i)
      if (into.events[i].storage == into.takes)
        message(backward, virtual_stage(a.chunk), a.microbatch) = allocate(into.events[i].bytes);
  }
  void send(const Action& a, bool backward) {
    if (holds_outputs_ && !backward) return;
    int32_t& in_transit = message(backward, virtual_stage(a.chunk) + (backward ? -1 : 1), a.microbatch);
    release_block(std::exchange(in_transit, kNone));
    if (!backward) return;
    for (const int32_t block : sent_carried_[{a.chunk, a.microbatch}]) release_block(block);
    sent_carried_.erase({a.chunk, a.microbatch});
  }

  // Runs the weight gradients that an earlier backward has deferred.
  void weights(const Action& a, const AccumulationStep& accumulation) {
    const std::span<const Event> events = program_.pass(a);
    const auto each = [&](EventKind kind, const auto& seen) {
      for (const Event& event : events)
        if (event.kind == kind) seen(event.instance);
    };
    apply(gradients_.begin_pass(accumulation));
    if (gradients_.allocates_gradients(accumulation))
      each(EventKind::Run, [&](size_t i) { apply({{i, false, gradients_.whole(i)}}); });
    each(EventKind::Run, [&](size_t i) { drop(i, a.microbatch); });
    each(EventKind::Release, [&](size_t i) { apply(gradients_.end(i, accumulation)); });
    apply(gradients_.end_pass(program_.range(a), accumulation));
  }

  void run(const Action& a, const Action* concurrent, const AccumulationStep& accumulation) {
    switch (a.kind) {
      case ActionKind::ReceiveForward: return receive(a, false);
      case ActionKind::ReceiveBackward: return receive(a, true);
      case ActionKind::SendForward: return send(a, false);
      case ActionKind::SendBackward: return send(a, true);
      case ActionKind::BackwardWeight: return weights(a, accumulation);
      case ActionKind::Optimizer: return update();
      case ActionKind::Forward: {
        Pass pass = pass_of(a);
        std::optional<Pass> other;
        if (concurrent) other.emplace(pass_of(*concurrent, accumulation));
        // A concurrent backward runs one layer for each layer of the forward, while that layer is at its
        // peak.
        const auto next = [&] {
          if (other && other->left() > 0) step(*other);
        };
        while (pass.left() > 0) step(pass, next);
        while (other && other->left() > 0) next();
        pass_message_on(pass);
        if (other) pass_message_on(*other);
        return;
      }
      case ActionKind::Backward:
      case ActionKind::BackwardInput: {
        Pass pass = pass_of(a, accumulation);
        while (pass.left() > 0) step(pass);
        return pass_message_on(pass);
      }
      case ActionKind::GradReduce: return;
    }
  }

  const Report& r_;
  const StageReport& stage_;
  std::stop_token stop_;
  SegmentMemories m_;
  const StageProgram program_;
  GradientSteps gradients_;
  const std::vector<int64_t> carried_bytes_;  // of the gradients of carried tensors, by index
  PipelineLayout places_;
  const bool holds_messages_, holds_outputs_;
  std::vector<ClassKey> keys_;     // by instance
  std::vector<int64_t> elements_;  // of each parameter of the stage, in order
  std::map<std::pair<ClassKey, Part>, SegmentEvents> events_;
  std::map<ClassKey, std::set<StorageId>> saved_;
  std::map<std::pair<int, int>, int32_t> carried_;                    // by index and microbatch
  std::map<std::pair<int, int>, std::vector<int32_t>> sent_carried_;  // by virtual stage and microbatch
  std::map<std::pair<size_t, int>, Blocks> held_;                     // by instance and microbatch
  std::map<std::tuple<bool, int64_t, int>, int32_t> messages_;
  std::set<StorageId> deferred_;
  std::map<std::pair<size_t, bool>, std::vector<int32_t>> gradient_blocks_;  // by owner, and whether reduced
  std::vector<int32_t> held_by_;  // number of holders of each block
  int64_t owned_ = 0;             // elements whose optimizer states the rank stores on the device
  bool trains_ = true;
  StageEvents out_;
};

}  // namespace

StageEvents stage_events(const Report& report, int stage, std::stop_token stop) {
  return AllocationTracer(report, stage, std::move(stop)).trace();
}

AllocatorUse allocator_use(const StageEvents& of, SegmentMode mode, int64_t capacity) {
  CachingAllocator allocator(mode, capacity);
  std::vector<CachingAllocator::Block> blocks(static_cast<size_t>(of.blocks));
  AllocatorUse out;
  for (size_t i = 0; i < of.events.size(); ++i) {
    const auto& [block, bytes, side] = of.events[i];
    if (bytes > 0)
      blocks[static_cast<size_t>(block)] = allocator.allocate(bytes, side);
    else
      allocator.free(blocks[static_cast<size_t>(block)]);
    if (i >= of.last_step) out.reserved = std::max(out.reserved, allocator.reserved());
    if (i < of.last_step || allocator.allocated() <= out.allocated) continue;
    out.allocated = allocator.allocated();
    out.largest_free = allocator.largest_free();
  }
  out.retries = allocator.retries();
  out.fits = allocator.refused() == 0;
  return out;
}

std::optional<Fragmentation> fragmentation(const Report& report, std::stop_token stop) {
  Fragmentation out;
  out.stage = report.memory->peak_stage;
  const StageMemory& memory = report.memory->stages[static_cast<size_t>(out.stage)];
  const int64_t capacity = report.accelerator ? report.memory->capacity -
                                                    memory.fixed[static_cast<size_t>(MemoryCategory::Runtime)]
                                              : 0;
  const StageEvents events = stage_events(report, out.stage, stop);
  if (stop.stop_requested() || events.events.size() > kMostReplayedEvents) return std::nullopt;
  // If the tensors alone exceed the device, the replay uses an unlimited device.
  const bool too_much = capacity > 0 && memory.allocated > capacity;
  for (const auto& [use, mode] :
       {std::pair{&out.native, SegmentMode::Native}, {&out.expandable, SegmentMode::Expandable}}) {
    *use = allocator_use(events, mode, too_much ? 0 : capacity);
    use->fits = use->fits && !too_much;
  }
  return out;
}

}  // namespace shardscape
