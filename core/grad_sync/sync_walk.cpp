#include "grad_sync/sync_walk.h"

#include <algorithm>

namespace shardscape {

SyncWalk::SyncWalk(const Graph& graph, const StageSync& sync, int microbatches, Maker& maker)
    : sync_(sync),
      microbatches_(microbatches),
      head_(graph.head()),
      every_microbatch_(graph.structure.every_microbatch),
      averages_loss_(!loss_group(graph).empty()),
      reduces_with_chunk_(graph.structure.whole_until_reduced),
      maker_(maker),
      layout_(std::make_shared<Layout>()) {
  std::vector<Root>& roots = layout_->roots;
  for (size_t u = 0; u < sync.units.size(); ++u) {
    if (!sync.units[u].root) continue;
    if (roots.empty() || roots.back().segment != sync.units[u].segment)
      roots.push_back({sync.units[u].segment, {}});
    roots.back().units.push_back(u);
  }
  roots_.resize(roots.size());
}

SyncWalk::SyncWalk(const SyncWalk& representative, Maker& maker)
    : sync_(representative.sync_),
      microbatches_(representative.microbatches_),
      head_(representative.head_),
      every_microbatch_(representative.every_microbatch_),
      averages_loss_(representative.averages_loss_),
      reduces_with_chunk_(representative.reduces_with_chunk_),
      maker_(maker),
      layout_(representative.layout_),
      plan_(representative.plan_),
      progress_(representative.progress_.size()),
      roots_(representative.roots_.size()) {}

void SyncWalk::add_instance(const StageInstance& of, int chunk) {
  const int segment = of.segment;
  const bool layer = of.layer >= 0;
  Instance instance;
  instance.segment = segment;
  instance.chunk = chunk;
  for (size_t r = 0; r < layout_->roots.size() && !layer; ++r)
    if (layout_->roots[r].segment < 0 || (layout_->roots[r].segment == head_) == (segment == head_))
      instance.root = static_cast<int>(r);
  for (size_t u = 0; u < sync_.units.size(); ++u)
    if (layer && !sync_.units[u].root && sync_.units[u].segment == segment) instance.units.push_back(u);
  layout_->instances.push_back(std::move(instance));
  progress_.emplace_back();
}

void SyncWalk::plan(const StageLayout& layout, std::shared_ptr<const PlacedPlan> plan) {
  for (size_t c = 0; c < layout.chunks.size(); ++c)
    for (size_t i = layout.chunks[c].first; i < layout.chunks[c].end; ++i)
      add_instance(layout.instances[i], static_cast<int>(c));
  plan_ = std::move(plan);
  layout_->chunks = layout.chunks;
  // A root belongs to one chunk: the first chunk holds the embedding, the last one the head.
  for (const Instance& instance : layout_->instances)
    if (instance.root >= 0) layout_->roots[static_cast<size_t>(instance.root)].chunk = instance.chunk;
}

const std::vector<PlacedPlan::PlacedAction>& SyncWalk::actions() const {
  static const std::vector<PlacedPlan::PlacedAction> none;
  return plan_ ? plan_->actions : none;
}

SyncWalk::Handle SyncWalk::enter(int microbatch, size_t instance, bool backward) {
  const Instance& here = instance_at(instance);
  Progress& now = progress_[instance];
  if (const PlacedPlan::Place* place = place_of(instance))
    for (const size_t i : backward ? place->before_backward : place->before_forward)
      if (sync_happens(plan_->actions[i].action.occurrence, microbatch, microbatches_)) run(i, microbatch);
  if (sync_.units.empty()) return now.params;
  if (const size_t r = root_around(instance); r != kNone && !roots_[r].gathered) {
    if (instance == pass_of(instance, backward).first())
      gather(roots_[r], layout_->roots[r].units, microbatch, kRoot, backward);
  }
  if (here.root < 0 && !now.gathered) gather(now, here.units, microbatch, instance, backward);
  // Prefetches the next unit once the previous unit is freed, so that two units are gathered at a time.
  if (const size_t next = next_unit(instance, backward); next < progress_.size())
    gather(progress_[next], instance_at(next).units, microbatch, next, backward, true);
  return here.root >= 0 ? roots_[static_cast<size_t>(here.root)].gather : now.gather;
}

void SyncWalk::leave(int microbatch, size_t instance, bool backward) {
  const Instance& here = instance_at(instance);
  if (!backward) {
    if (averages_loss_ && here.segment == head_) maker_.average_loss(microbatch);
    return free_forward(instance);
  }
  const bool last = ++progress_[instance].backwards == microbatches_, reduces = last || every_microbatch_;
  if (const PlacedPlan::Place* place = place_of(instance))
    for (const size_t i : place->after_gradient)
      if (last || plan_->actions[i].action.occurrence == SyncOccurrence::Every) run(i, microbatch);
  if (sync_.units.empty()) return;
  const int reported = every_microbatch_ ? microbatch : -1;
  const bool crosses = last || !crosses_once_a_step(sync_.strategy);
  const auto free = [&](Progress& at, const std::vector<size_t>& units) {
    const UnitFreed when = freed(units);
    if (last || when == UnitFreed::AfterForward || when == UnitFreed::AfterBackward) at.gathered = false;
  };
  const auto free_and_reduce = [&](size_t i, const std::vector<size_t>& instances) {
    if (instance_at(i).root >= 0) return;
    free(progress_[i], instance_at(i).units);
    if (reduces) maker_.scatter(instance_at(i).units, reported, instances, crosses);
  };
  const size_t r = root_around(instance);
  const Root* root = r == kNone ? nullptr : &layout_->roots[r];
  const StageRange& chunk = range_of(here.chunk);
  const bool ends_backward = instance == pass_of(instance, true).last();
  if (!reduces_with_chunk_) {
    free_and_reduce(instance, {instance});
  } else if (last && ends_backward) {
    if (root && ends_with_chunk(*root)) {
      std::vector<size_t> makers;
      for (size_t i = chunk.first; i < chunk.end; ++i)
        if (instance_at(i).root >= 0) makers.push_back(i);
      if (here.root < 0) makers.push_back(instance);
      maker_.scatter(root->units, reported, makers, crosses);
    }
    for (size_t i = chunk.first; i < chunk.end; ++i)
      free_and_reduce(i, i == instance ? std::vector{i} : std::vector{i, instance});
  }
  if (!root || !ends_backward) return;
  free(roots_[r], root->units);  // the backward of a root ends last
  if (every_microbatch_) maker_.scatter(root->units, reported, root_parts(), crosses);
}

SyncWalk::Handle SyncWalk::enter_replay(int microbatch, size_t instance) {
  Progress& now = progress_[instance];
  if (instance_at(instance).units.empty()) return 0;
  if (!now.gathered) gather(now, instance_at(instance).units, microbatch, instance, true);
  return now.gather;
}

void SyncWalk::leave_replay(size_t instance) { free_forward(instance); }

// Whether the root is reduced with its chunk. Inner reductions (tied embeddings) wait for other stages.
bool SyncWalk::ends_with_chunk(const Root& root) const {
  return reduces_with_chunk_ && std::all_of(root.units.begin(), root.units.end(),
                                            [&](size_t u) { return sync_.units[u].inner.empty(); });
}

// Runs after the last message of the stage, because tied embeddings wait for the other end of the pipeline.
void SyncWalk::reduce() {
  for (const Root& root : layout_->roots)
    if (!every_microbatch_ && !ends_with_chunk(root)) maker_.scatter(root.units, -1, root_parts(), true);
  run_all(SyncWhen::AfterBackward);
}

void SyncWalk::run(size_t action, int microbatch) {
  const PlacedPlan::PlacedAction& of = plan_->actions[action];
  if (const Handle made = maker_.run(of, action, microbatch); made != 0)
    for (const size_t place : of.readers) progress_[place].params = made;
}

void SyncWalk::run_all(SyncWhen when) {
  for (size_t i = 0; i < actions().size(); ++i)
    if (actions()[i].action.when == when) run(i, -1);
}

void SyncWalk::skip_to(int chunk, bool last) {
  for (size_t i = 0; i < progress_.size(); ++i)
    if (instance_at(i).chunk == chunk) progress_[i].backwards = microbatches_ - (last ? 1 : 2);
}

SyncWalk::Units SyncWalk::units() const {
  Units out;
  for (const auto* all : {&progress_, &roots_})
    for (const Progress& at : *all) out.push_back(at.gathered);
  return out;
}

void SyncWalk::resume(const Units& gathered) {
  size_t next = 0;
  for (auto* all : {&progress_, &roots_})
    for (Progress& at : *all) {
      at.gathered = gathered[next++];
      at.gather = 0;
    }
}

void SyncWalk::reset_backwards() {
  for (Progress& at : progress_) {
    at.backwards = 0;
    at.backward_microbatch = -1;
  }
}

SyncWalk::State SyncWalk::state() const { return {progress_, roots_}; }

void SyncWalk::restore(State state) {
  progress_ = std::move(state.progress);
  roots_ = std::move(state.roots);
}

size_t SyncWalk::root_around(size_t instance) const {
  for (size_t r = 0; r < layout_->roots.size(); ++r)
    if (layout_->roots[r].chunk == instance_at(instance).chunk) return r;
  return kNone;
}

PassOrder SyncWalk::pass_of(size_t instance, bool backward) const {
  const StageRange& range = range_of(instance_at(instance).chunk);
  return {range.first, range.end, backward ? PassDirection::Backward : PassDirection::Forward};
}

// Instances in any root: a tied table has gradients from embedding and head.
std::vector<size_t> SyncWalk::root_parts() const {
  std::vector<size_t> parts;
  for (size_t i = 0; i < progress_.size(); ++i)
    if (instance_at(i).root >= 0) parts.push_back(i);
  return parts;
}

UnitFreed SyncWalk::freed(const std::vector<size_t>& units) const {
  return units.empty() ? UnitFreed::AfterBackward : sync_.units[units.front()].freed;
}

void SyncWalk::free_forward(size_t instance) {
  const std::vector<size_t>& units = instance_at(instance).units;
  if (units.empty()) return;
  const UnitFreed when = freed(units);
  if (when == UnitFreed::AfterForward || when == UnitFreed::AfterForwardOnly)
    progress_[instance].gathered = false;
}

// The next instance of the pass, if it is a layer that is not gathered yet; otherwise progress_.size().
size_t SyncWalk::next_unit(size_t instance, bool backward) const {
  const PassOrder order = pass_of(instance, backward);
  if (instance == order.last()) return progress_.size();
  const size_t next = order.next(instance);
  return !instance_at(next).units.empty() && !progress_[next].gathered ? next : progress_.size();
}

void SyncWalk::gather(Progress& at, const std::vector<size_t>& units, int microbatch, size_t instance,
                      bool backward, bool ahead) {
  const GatherPurpose purpose = !backward                              ? GatherPurpose::Forward
                                : at.backward_microbatch == microbatch ? GatherPurpose::BackwardAfterReplay
                                                                       : GatherPurpose::Backward;
  if (backward) at.backward_microbatch = microbatch;
  at.gathered = true;
  at.gather = maker_.gather(units, purpose, microbatch, instance, ahead);
}

}  // namespace shardscape
