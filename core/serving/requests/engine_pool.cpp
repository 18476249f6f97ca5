#include "serving/requests/engine_pool.h"

#include <algorithm>
#include <utility>

namespace shardscape {

EnginePool::EnginePool(const PoolSetup& setup, const Workload& workload, const Workload& contents,
                       std::span<RequestRecord> records, EngineLog& log)
    : setup_(setup),
      workload_(&workload),
      records_(records),
      contents_(caches_prefixes(setup.settings) ? BlockContents(contents, cache_block_size(setup.settings))
                                                : BlockContents()),
      replica_of_(workload.requests.size(), -1),
      assigned_(static_cast<size_t>(setup.replicas), 0),
      log_(&log),
      in_use_(setup.replicas) {
  const int32_t count = setup.replicas / setup.lockstep;
  engines_.reserve(static_cast<size_t>(count));
  for (int32_t k = 0; k < count; ++k) engines_.push_back(new_engine(k));
  states_.assign(engines_.size(), EngineState::Ready);
  counts_of_states_[static_cast<size_t>(EngineState::Ready)] = count;
  counts_.push_back({0, in_use_});
}

Engine EnginePool::new_engine(int32_t engine) const {
  return {setup_.settings, *workload_,    contents_,
          records_,        *setup_.clock, setup_.first_replica + engine * setup_.lockstep,
          setup_.lockstep};
}

void EnginePool::count_seconds(double now) {
  replica_seconds_ += in_use_ * (now - last_time_);
  last_time_ = now;
}

void EnginePool::set_state(int32_t engine, EngineState state, double now) {
  EngineState& current = states_[static_cast<size_t>(engine)];
  --counts_of_states_[static_cast<size_t>(current)];
  ++counts_of_states_[static_cast<size_t>(state)];
  ready_is_old_ |= current == EngineState::Ready || state == EngineState::Ready;
  current = state;
  const int32_t in_use = (engines() - count(EngineState::Off)) * setup_.lockstep;
  if (in_use == in_use_) return;
  count_seconds(now);
  in_use_ = in_use;
  if (counts_.back().time == now)
    counts_.back().replicas = in_use;
  else
    counts_.push_back({now, in_use});
}

void EnginePool::list_ready() {
  ready_is_old_ = false;
  ready_.clear();
  for (int32_t k = 0; k < setup_.replicas; ++k)
    if (states_[static_cast<size_t>(k / setup_.lockstep)] == EngineState::Ready)
      ready_.push_back(setup_.first_replica + k);
}

std::optional<int32_t> EnginePool::route(int32_t request) {
  if (!any_ready()) return std::nullopt;
  if (ready_is_old_) list_ready();
  int32_t best = ready_.front();
  if (setup_.router == Router::RoundRobin || ready_.size() == 1) {
    best = ready_[next_replica_++ % ready_.size()];
  } else {
    std::pair<int64_t, int64_t> best_key;
    for (const int32_t replica : ready_) {
      const Engine& engine = engines_[static_cast<size_t>(engine_of(replica))];
      const int64_t cached = setup_.router == Router::PrefixAware ? engine.cached_tokens(request, replica)
                                                                  : 0;
      const std::pair key{-cached, assigned_[static_cast<size_t>(replica - setup_.first_replica)]};
      if (replica != ready_.front() && key >= best_key) continue;
      best = replica;
      best_key = key;
    }
  }
  replica_of_[static_cast<size_t>(request)] = best;
  ++assigned_[static_cast<size_t>(best - setup_.first_replica)];
  return best;
}

void EnginePool::unassign(int32_t request) {
  const int32_t replica = std::exchange(replica_of_[static_cast<size_t>(request)], -1);
  --assigned_[static_cast<size_t>(replica - setup_.first_replica)];
}

std::vector<int32_t> EnginePool::requests_of(int32_t engine) const {
  std::vector<int32_t> out;
  for (size_t i = 0; i < replica_of_.size(); ++i)
    if (replica_of_[i] >= 0 && engine_of(replica_of_[i]) == engine) out.push_back(static_cast<int32_t>(i));
  return out;
}

int64_t EnginePool::outstanding(int32_t engine) const {
  int64_t out = 0;
  for (int32_t k = 0; k < setup_.lockstep; ++k)
    out += assigned_[static_cast<size_t>(engine * setup_.lockstep + k)];
  return out;
}

template <class Change>
void EnginePool::change(int32_t request, const Change& change) {
  const int32_t replica = replica_of(request), number = engine_of(replica);
  Engine& engine = engines_[static_cast<size_t>(number)];
  const double before = engine.wake();
  change(engine, replica);
  if (engine.wake() < before) wakes_.push({engine.wake(), number});
}

void EnginePool::submit(int32_t request, double now) {
  change(request, [&](Engine& engine, int32_t replica) { engine.submit(request, replica, now); });
}
std::optional<int64_t> EnginePool::reserve(int32_t request) {
  return engine_with(request).reserve(request, replica_of(request));
}
void EnginePool::add_received(int32_t request, double now) {
  change(request, [&](Engine& engine, int32_t replica) { engine.add_received(request, replica, now); });
}
void EnginePool::release_kept(int32_t request, double now) {
  change(request, [&](Engine& engine, int32_t replica) { engine.release_kept(request, replica, now); });
}
AnswerProgress EnginePool::progress(int32_t request) const {
  const int32_t replica = replica_of(request);
  return engines_[static_cast<size_t>(engine_of(replica))].progress(request, replica);
}

int32_t EnginePool::run() {
  const auto [now, number] = wakes_.pop();
  Engine& engine = engines_[static_cast<size_t>(number)];
  // A change has woken the engine before.
  if (engine.wake() != now) return number;
  const double busy = log_->busy_seconds, blocks = log_->block_seconds;
  engine.run(now, *log_);
  busy_seconds_ += log_->busy_seconds - busy;
  block_seconds_ += log_->block_seconds - blocks;
  if (engine.wake() != Engine::kIdle) wakes_.push({engine.wake(), number});
  return number;
}

void EnginePool::fail(int32_t engine, double now) {
  engines_[static_cast<size_t>(engine)].halt();
  set_state(engine, EngineState::Failed, now);
}

bool EnginePool::stopped(int32_t engine) const {
  return states_[static_cast<size_t>(engine)] == EngineState::Failed &&
         !engines_[static_cast<size_t>(engine)].in_flight();
}

void EnginePool::replace(int32_t engine) {
  Engine& of = engines_[static_cast<size_t>(engine)];
  replaced_peak_ = std::max(replaced_peak_, of.peak_blocks());
  of = new_engine(engine);
}

PoolUse EnginePool::use(double end) const {
  PoolUse out;
  out.first_replica = setup_.first_replica;
  out.replicas = setup_.replicas;
  out.replica_seconds = replica_seconds_ + in_use_ * std::max(0.0, end - last_time_);
  out.busy_seconds = busy_seconds_;
  out.mean_blocks = busy_seconds_ > 0 ? block_seconds_ / busy_seconds_ : 0;
  out.peak_blocks = replaced_peak_;
  for (const Engine& engine : engines_) out.peak_blocks = std::max(out.peak_blocks, engine.peak_blocks());
  out.usable_blocks = engines_.front().usable_blocks();
  out.counts = counts_;
  return out;
}

}  // namespace shardscape
