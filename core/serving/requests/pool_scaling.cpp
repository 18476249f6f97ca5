#include "serving/requests/pool_scaling.h"

#include <algorithm>
#include <cmath>

namespace shardscape {

PoolScaling::PoolScaling(const Autoscaling& rule, int32_t lockstep, EnginePool& pool)
    : rule_(rule), lockstep_(lockstep), pool_(&pool) {
  if (!on()) return;
  for (int32_t k = rule.least / lockstep; k < pool.engines(); ++k) pool.set_state(k, EngineState::Off, 0);
}

double PoolScaling::time() const { return timers_.empty() ? Engine::kIdle : timers_.begin()->first; }

bool PoolScaling::run() {
  const auto [now, engine] = *timers_.begin();
  timers_.erase(timers_.begin());
  if (engine == kCoolDown) return false;
  // An engine that left and starts again has a later timer.
  if (pool_->state(engine) != EngineState::Starting || now < starts_.at(engine)) return false;
  pool_->set_state(engine, EngineState::Ready, now);
  return true;
}

void PoolScaling::scale(int64_t requests, double now) {
  if (!on()) return;
  const double per_engine = rule_.outstanding * lockstep_;
  const double wanted = std::clamp(std::ceil(static_cast<double>(requests) / per_engine),
                                   static_cast<double>(rule_.least / lockstep_),
                                   static_cast<double>(pool_->engines()));
  const auto engines = static_cast<int32_t>(wanted);
  const int32_t active = pool_->count(EngineState::Ready) + pool_->count(EngineState::Starting);
  if (engines >= active) {
    too_many_since_.reset();
    return start_engines(engines - active, now);
  }
  if (!too_many_since_) {
    too_many_since_ = now;
    most_wanted_ = engines;
    timers_.insert({now + rule_.cool_down, kCoolDown});
  }
  most_wanted_ = std::max(most_wanted_, engines);
  if (now < *too_many_since_ + rule_.cool_down) return;
  too_many_since_.reset();
  stop_engines(active - most_wanted_, now);
  scale(requests, now);
}

void PoolScaling::settle(double now) {
  if (!on() || pool_->count(EngineState::Draining) == 0) return;
  for (int32_t k = 0; k < pool_->engines(); ++k)
    if (pool_->state(k) == EngineState::Draining && pool_->idle(k))
      pool_->set_state(k, EngineState::Off, now);
}

// Engines that drain come back at once, others after their start.
void PoolScaling::start_engines(int32_t count, double now) {
  for (const EngineState from : {EngineState::Draining, EngineState::Off})
    for (int32_t k = 0; k < pool_->engines() && count > 0; ++k) {
      if (pool_->state(k) != from) continue;
      --count;
      if (from == EngineState::Draining) {
        pool_->set_state(k, EngineState::Ready, now);
      } else {
        pool_->replace(k);
        pool_->set_state(k, EngineState::Starting, now);
        starts_[k] = now + rule_.start_seconds;
        timers_.insert({starts_[k], k});
      }
    }
}

// Engines that still start leave first, then those with the largest numbers.
void PoolScaling::stop_engines(int32_t count, double now) {
  for (const EngineState from : {EngineState::Starting, EngineState::Ready})
    for (int32_t k = pool_->engines(); k-- > 0 && count > 0;) {
      if (pool_->state(k) != from) continue;
      --count;
      pool_->set_state(k, pool_->idle(k) ? EngineState::Off : EngineState::Draining, now);
    }
}

}  // namespace shardscape
