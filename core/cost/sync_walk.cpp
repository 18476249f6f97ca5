#include "cost/sync_walk.h"

#include <algorithm>

namespace shardscape {

SyncWalk::SyncWalk(const Graph& graph, const StageSync& sync, int microbatches, Maker& maker)
    : sync_(sync), microbatches_(microbatches), head_(graph.head()), every_microbatch_(graph.structure.every_microbatch),
      averages_loss_(!loss_group(graph).empty()), once_through_(graph.structure.gathered_till_reduced), maker_(maker) {
  for (size_t u = 0; u < sync.units.size(); ++u) {
    if (!sync.units[u].root) continue;
    if (roots_.empty() || roots_.back().segment != sync.units[u].segment) roots_.push_back({sync.units[u].segment, {}});
    roots_.back().unit.units.push_back(u);
  }
}

void SyncWalk::add_instance(int segment, bool layer, int chunk) {
  Instance instance;
  instance.segment = segment;
  instance.chunk = chunk;
  for (size_t r = 0; r < roots_.size() && !layer; ++r)
    if (roots_[r].segment < 0 || roots_[r].segment == segment) instance.root = static_cast<int>(r);
  for (size_t u = 0; u < sync_.units.size(); ++u)
    if (layer && !sync_.units[u].root && sync_.units[u].segment == segment) instance.units.push_back(u);
  instances_.push_back(std::move(instance));
}

void SyncWalk::plan(std::shared_ptr<const PlacedPlan> plan) {
  plan_ = std::move(plan);
  // A root is that of one chunk: the first holds the embedding, the last the head.
  for (size_t i = 0; i < instances_.size(); ++i) {
    if (instances_[i].root < 0) continue;
    Root& root = roots_[static_cast<size_t>(instances_[i].root)];
    for (root.begin = i; root.begin > 0 && instances_[root.begin - 1].chunk == instances_[i].chunk;) --root.begin;
    for (root.end = i + 1; root.end < instances_.size() && instances_[root.end].chunk == instances_[i].chunk;) ++root.end;
  }
}

const std::vector<PlacedPlan::Act>& SyncWalk::acts() const {
  static const std::vector<PlacedPlan::Act> none;
  return plan_ ? plan_->acts : none;
}

SyncWalk::Mark SyncWalk::enter(int microbatch, size_t instance, bool backward) {
  Instance& here = instances_[instance];
  if (const PlacedPlan::Place* place = place_of(instance))
    for (const size_t i : backward ? place->before_backward : place->before_forward)
      if (sync_happens(plan_->acts[i].action.turn, microbatch, microbatches_)) run(i, microbatch);
  if (sync_.units.empty()) return here.params;
  if (Root* root = root_around(instance); root && !root->unit.gathered && instance == (backward ? root->end - 1 : root->begin))
    gather(root->unit, microbatch, kRoot, backward);
  if (here.root < 0 && !here.gathered) gather(here, microbatch, instance, backward);
  // One unit ahead, once the unit before this one is done: two are gathered at a time.
  if (const size_t next = next_unit(instance, backward); next < instances_.size()) gather(instances_[next], microbatch, next, backward, true);
  return here.root >= 0 ? roots_[static_cast<size_t>(here.root)].unit.gather : here.gather;
}

void SyncWalk::leave(int microbatch, size_t instance, bool backward) {
  Instance& here = instances_[instance];
  if (!backward) {
    if (averages_loss_ && here.segment == head_) maker_.average_loss(microbatch);
    return free_forward(here);
  }
  const bool last = ++here.backwards == microbatches_, reduces = last || every_microbatch_;
  if (const PlacedPlan::Place* place = place_of(instance))
    for (const size_t i : place->after_gradient)
      if (last || plan_->acts[i].action.turn == SyncTurn::Every) run(i, microbatch);
  if (sync_.units.empty()) return;
  const int turn = every_microbatch_ ? microbatch : -1;
  const auto free = [&](Instance& at) {
    const UnitFreed when = freed(at);
    if (reduces || when == UnitFreed::AfterForward || when == UnitFreed::AfterBackward) at.gathered = false;
  };
  const auto done = [&](size_t i, const std::vector<size_t>& behind) {
    if (instances_[i].root >= 0) return;
    free(instances_[i]);
    if (reduces) maker_.scatter(instances_[i].units, turn, behind);
  };
  if (!once_through_) {
    done(instance, {instance});
  } else if (last && (instance == 0 || instances_[instance - 1].chunk != here.chunk)) {
    if (const Root* root = root_around(instance); root && ends_with_chunk(*root)) {
      std::vector<size_t> behind;
      for (size_t i = root->begin; i < root->end; ++i)
        if (instances_[i].root >= 0) behind.push_back(i);
      if (here.root < 0) behind.push_back(instance);
      maker_.scatter(root->unit.units, turn, behind);
    }
    for (size_t i = instance; i < instances_.size() && instances_[i].chunk == here.chunk; ++i) done(i, i == instance ? std::vector{i} : std::vector{i, instance});
  }
  Root* root = root_around(instance);
  if (!root || instance != root->begin) return;
  free(root->unit);  // its backward ends last
  if (every_microbatch_) maker_.scatter(root->unit.units, turn, root_parts());
}

SyncWalk::Mark SyncWalk::enter_replay(int microbatch, size_t instance) {
  Instance& here = instances_[instance];
  if (here.units.empty()) return 0;
  if (!here.gathered) gather(here, microbatch, instance, true);
  return here.gather;
}

void SyncWalk::leave_replay(size_t instance) { free_forward(instances_[instance]); }

// Whether nothing of a root waits for others than its chunk.
bool SyncWalk::ends_with_chunk(const Root& root) const {
  return once_through_ && std::all_of(root.unit.units.begin(), root.unit.units.end(), [&](size_t u) { return sync_.units[u].inner.empty(); });
}

// After the last message of the stage: tied embeddings wait for the other end of the pipeline.
void SyncWalk::reduce() {
  for (const Root& root : roots_)
    if (!every_microbatch_ && !ends_with_chunk(root)) maker_.scatter(root.unit.units, -1, root_parts());
  run_all(SyncWhen::AfterBackward);
}

void SyncWalk::run(size_t act, int microbatch) {
  const PlacedPlan::Act& of = plan_->acts[act];
  if (const Mark made = maker_.run(of, act, microbatch); made != 0)
    for (const size_t place : of.readers) instances_[place].params = made;
}

void SyncWalk::run_all(SyncWhen when) {
  for (size_t i = 0; i < acts().size(); ++i)
    if (acts()[i].action.when == when) run(i, -1);
}

void SyncWalk::skip_to(int chunk, bool last) {
  for (Instance& instance : instances_)
    if (instance.chunk == chunk) instance.backwards = microbatches_ - (last ? 1 : 2);
}

SyncWalk::Units SyncWalk::units() const {
  Units out;
  for (const Instance& instance : instances_) out.push_back(instance.gathered);
  for (const Root& root : roots_) out.push_back(root.unit.gathered);
  return out;
}

void SyncWalk::resume(const Units& whole) {
  size_t next = 0;
  const auto take = [&](Instance& unit) {
    unit.gathered = whole[next++];
    unit.gather = 0;
  };
  for (Instance& instance : instances_) take(instance);
  for (Root& root : roots_) take(root.unit);
}

void SyncWalk::forget_backwards() {
  for (Instance& instance : instances_) {
    instance.backwards = 0;
    instance.again = -1;
  }
}

SyncWalk::State SyncWalk::state() const { return {instances_, roots_}; }

void SyncWalk::restore(State state) {
  instances_ = std::move(state.instances);
  roots_ = std::move(state.roots);
}

SyncWalk::Root* SyncWalk::root_around(size_t instance) {
  const auto it = std::find_if(roots_.begin(), roots_.end(), [&](const Root& root) { return instance >= root.begin && instance < root.end; });
  return it == roots_.end() ? nullptr : &*it;
}

// Of all roots: a tied table has gradients from both.
std::vector<size_t> SyncWalk::root_parts() const {
  std::vector<size_t> parts;
  for (size_t i = 0; i < instances_.size(); ++i)
    if (instances_[i].root >= 0) parts.push_back(i);
  return parts;
}

UnitFreed SyncWalk::freed(const Instance& at) const { return at.units.empty() ? UnitFreed::AfterBackward : sync_.units[at.units.front()].freed; }

void SyncWalk::free_forward(Instance& at) const {
  if (at.units.empty()) return;
  const UnitFreed when = freed(at);
  if (when == UnitFreed::AfterForward || when == UnitFreed::AfterForwardAlone) at.gathered = false;
}

// The next instance in this direction that is not gathered yet, if it is a layer of this chunk; otherwise past the end.
size_t SyncWalk::next_unit(size_t instance, bool backward) const {
  if (backward ? instance == 0 : instance + 1 == instances_.size()) return instances_.size();
  const size_t next = backward ? instance - 1 : instance + 1;
  const bool wanted = !instances_[next].units.empty() && !instances_[next].gathered && instances_[next].chunk == instances_[instance].chunk;
  return wanted ? next : instances_.size();
}

void SyncWalk::gather(Instance& at, int microbatch, size_t instance, bool backward, bool ahead) {
  const Turn turn = !backward ? Turn::Forward : at.again == microbatch ? Turn::BehindReplay : Turn::Backward;
  if (backward) at.again = microbatch;
  at.gathered = true;
  at.gather = maker_.gather(at.units, turn, microbatch, instance, ahead);
}

}  // namespace shardscape
