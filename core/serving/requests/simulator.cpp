#include "serving/requests/simulator.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/memory_limit.h"
#include "base/units.h"

namespace shardscape {
namespace {

PoolSetup main_pool(const ServiceSetup& setup, StepClock& clock) {
  PoolSetup out{setup.engine,   &clock,         setup.disaggregation.prefill_replicas,
                setup.replicas, setup.lockstep, setup.router};
  if (setup.disaggregation.prefill_replicas == 0) return out;
  out.settings.role = EngineRole::Decode;
  out.settings.sglang.disable_radix_cache = true;
  return out;
}

PoolSetup prefill_pool(const ServiceSetup& setup) {
  const Disaggregation& d = setup.disaggregation;
  PoolSetup out{d.prefill, d.clock, 0, d.prefill_replicas, d.lockstep, setup.router};
  out.settings.role = EngineRole::Prefill;
  return out;
}

// Schedulers do not read the hashes.
Workload without_hashes(const Workload& workload) {
  Workload out;
  out.requests = workload.requests;
  return out;
}

}  // namespace

Simulator::Simulator(const Workload& workload, const ServiceSetup& setup, StepClock& clock)
    : setup_(setup),
      workload_(without_hashes(workload)),
      records_(workload.requests.size()),
      turns_(workload),
      main_(main_pool(setup, clock), workload_, workload, records_, log_),
      main_scaling_(setup.autoscaling, setup.lockstep, main_) {
  log_.keep_steps = setup.keep_steps;
  if (setup.disaggregation.prefill_replicas > 0) {
    prompts_ = workload_;
    for (Request& request : prompts_.requests) request.output = 1;
    attempts_.resize(records_.size());
    prefill_.emplace(prefill_pool(setup), prompts_, workload, attempts_, log_);
    prefill_scaling_.emplace(setup.disaggregation.autoscaling, setup.disaggregation.lockstep, *prefill_);
    handoff_.emplace(setup.disaggregation, setup.replicas, *prefill_, main_, attempts_, records_);
  }
  for (size_t i = 0; i < setup.failures.size(); ++i)
    timers_.insert({setup.failures[i].time, {TimerKind::Failure, i}});
}

namespace {

// Whether the next growth of a list of records needs more memory than there is.
template <typename Record>
std::optional<Problem> growth_short(const std::vector<Record>& records) {
  constexpr size_t kSmall = 1 << 20;
  if (records.size() < std::max(kSmall, records.capacity())) return std::nullopt;
  constexpr Wide kGrowth = 2;  // the new list, while the old one is still there
  return memory_short({.what = "keeping more than " + grouped(records.size()) + " steps of the engines",
                       .bytes = kGrowth * records.capacity() * sizeof(Record),
                       .where = "requests",
                       .accepted = "fewer or shorter requests; no table, timeline or bundle of the steps"});
}

}  // namespace

Result<RequestSimulation> Simulator::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (auto problem = growth_short(log_.steps)) return *std::move(problem);
    if (auto problem = growth_short(log_.chunks)) return *std::move(problem);
    const double arrival = turns_.time(), steps = main_.wake();
    const double prompts = disaggregated() ? prefill_->wake() : Engine::kIdle;
    const double transfer = disaggregated() ? handoff_->time() : Engine::kIdle;
    if (arrival == Engine::kIdle && in_system_ == 0) break;
    const double timer = timers_.empty() ? Engine::kIdle : timers_.begin()->first;
    const double replicas = main_scaling_.time();
    const double prefill_replicas = disaggregated() ? prefill_scaling_->time() : Engine::kIdle;
    const double next = std::min({arrival, steps, prompts, transfer, timer, replicas, prefill_replicas});
    if (next == Engine::kIdle) throw std::logic_error("a service has requests and no event");
    if (arrival == next)
      arrive();
    else if (transfer == next)
      run_transfer();
    else if (prompts == next)
      run_prefill();
    else if (steps == next)
      run_main();
    else if (timer == next)
      run_timer();
    else
      run_scaling(replicas == next ? main_scaling_ : *prefill_scaling_);
  }
  return results();
}

void Simulator::arrive() {
  const auto [now, request] = turns_.pop();
  records_[static_cast<size_t>(request)].arrival = now;
  if (const RequestEnd reason = refusal_of(request); reason != RequestEnd::Pending)
    return refuse(request, reason, now);
  count_time(now);
  ++in_system_;
  begin(request, now);
  scale(now);
}

void Simulator::begin(int32_t request, double now) {
  if (disaggregated())
    handoff_->begin(request, now);
  else if (main_.route(request))
    main_.submit(request, now);
  else
    unsent_.push_back(request);
}

RequestEnd Simulator::refusal_of(int32_t request) const {
  const auto i = static_cast<size_t>(request);
  const RequestEnd reason = refusal(main_.settings(), workload_.requests[i]);
  return reason == RequestEnd::Pending && disaggregated()
             ? refusal(prefill_->settings(), prompts_.requests[i])
             : reason;
}

// The request and all turns after it end here.
void Simulator::refuse(int32_t request, RequestEnd reason, double now) {
  for (const int32_t turn : turns_.refuse(request, now)) {
    RequestRecord& record = records_[static_cast<size_t>(turn)];
    if (turn != request) record.arrival = now;
    record.end = turn == request ? reason : RequestEnd::ParentRefused;
  }
}

void Simulator::run_main() {
  const double now = main_.wake();
  const int32_t engine = main_.run();
  if (!log_.finished.empty()) {
    for (const int32_t request : log_.finished) finish(request, now);
    log_.finished.clear();
    scale(now);
  }
  if (disaggregated()) handoff_->blocks_freed(engine, now);
  main_scaling_.settle(now);
  if (main_.stopped(engine)) move_requests(main_, engine, now);
}

void Simulator::run_prefill() {
  const double now = prefill_->wake();
  const int32_t engine = prefill_->run();
  if (!log_.finished.empty()) {
    for (const int32_t request : log_.finished) handoff_->prefilled(request, now);
    log_.finished.clear();
    scale(now);
  }
  if (prefill_->stopped(engine)) move_requests(*prefill_, engine, now);
}

void Simulator::run_transfer() {
  const double now = handoff_->time();
  if (const auto request = handoff_->run()) {
    finish(*request, now);
    scale(now);
    main_scaling_.settle(now);
  }
  prefill_scaling_->settle(now);
}

void Simulator::finish(int32_t request, double now) {
  count_time(now);
  --in_system_;
  main_.unassign(request);
  if (const auto earlier = earlier_.find(request); earlier != earlier_.end()) {
    RequestRecord& record = records_[static_cast<size_t>(request)];
    merge(earlier->second, record);
    record = earlier->second;
  }
  turns_.finished(request, now);
}

void Simulator::run_timer() {
  const auto [now, timer] = *timers_.begin();
  timers_.erase(timers_.begin());
  switch (timer.kind) {
    case TimerKind::Failure: fail(setup_.failures[timer.failure], timer.failure, now); break;
    case TimerKind::Repair: repair(setup_.failures[timer.failure], timer.failure, now); break;
  }
}

void Simulator::fail(const ReplicaFailure& failure, size_t number, double now) {
  EnginePool& pool = pool_of(failure.replica);
  const int32_t engine = pool.engine_of(failure.replica);
  switch (pool.state(engine)) {
    case EngineState::Off:
    case EngineState::Failed: return;
    case EngineState::Starting:
    case EngineState::Ready:
    case EngineState::Draining: break;
  }
  pool.fail(engine, now);
  timers_.insert({now + failure.seconds, {TimerKind::Repair, number}});
  if (pool.stopped(engine)) move_requests(pool, engine, now);
  scale(now);
}

void Simulator::repair(const ReplicaFailure& failure, size_t number, double now) {
  EnginePool& pool = pool_of(failure.replica);
  const int32_t engine = pool.engine_of(failure.replica);
  if (!pool.stopped(engine) || !pool.idle(engine)) {
    timers_.insert({pool.wake(), {TimerKind::Repair, number}});
    return;
  }
  pool.replace(engine);
  pool.set_state(engine, EngineState::Ready, now);
  replica_ready(now);
}

// The requests of an engine that has failed and stopped go on elsewhere.
void Simulator::move_requests(EnginePool& pool, int32_t engine, double now) {
  if (disaggregated() && &pool != &main_) return handoff_->prefill_failed(engine, now);
  std::vector<int32_t> requests;
  if (disaggregated()) {
    requests = handoff_->decode_failed(engine, now);
  } else {
    requests = main_.requests_of(engine);
    for (const int32_t request : requests) ++records_[static_cast<size_t>(request)].restarts;
  }
  for (const int32_t request : requests) restart(request, now);
}

// The prompt and the tokens that arrived are a new prompt.
void Simulator::restart(int32_t request, double now) {
  const auto i = static_cast<size_t>(request);
  const AnswerProgress progress = main_.progress(request);
  main_.unassign(request);
  if (log_.keep_steps) log_.preemptions.push_back({now, request, static_cast<uint32_t>(log_.steps.size())});
  RequestRecord& record = records_[i];
  RequestRecord fresh;
  fresh.arrival = record.arrival;
  fresh.restarts = record.restarts;
  if (progress.tokens > 0) {
    record.last_token = progress.last_token;
    if (const auto [earlier, first] = earlier_.try_emplace(request, record); !first)
      merge(earlier->second, record);
    workload_.requests[i].prompt += progress.tokens;
    workload_.requests[i].output -= progress.tokens;
    if (disaggregated()) prompts_.requests[i].prompt += progress.tokens;
  }
  record = fresh;
  if (const RequestEnd reason = refusal_of(request); reason != RequestEnd::Pending) {
    count_time(now);
    --in_system_;
    return refuse(request, reason, now);
  }
  begin(request, now);
}

// Adds the tokens of an attempt after a failure.
void Simulator::merge(RequestRecord& earlier, const RequestRecord& later) {
  log_.gaps.push_back({later.first_token - earlier.last_token, 1});
  earlier.last_token = later.last_token;
  earlier.preemptions += later.preemptions;
  earlier.replica = later.replica;
  earlier.restarts = later.restarts;
  earlier.end = later.end;
}

void Simulator::replica_ready(double now) {
  if (disaggregated()) return handoff_->replica_ready(now);
  for (const int32_t request : std::exchange(unsent_, {})) begin(request, now);
}

void Simulator::scale(double now) {
  const int64_t prompts = disaggregated() ? handoff_->prompts() : 0;
  main_scaling_.scale(in_system_ - prompts, now);
  if (disaggregated()) prefill_scaling_->scale(prompts, now);
}

void Simulator::run_scaling(PoolScaling& scaling) {
  const double now = scaling.time();
  if (scaling.run())
    replica_ready(now);
  else
    scale(now);
}

void Simulator::count_time(double now) {
  in_system_seconds_ += static_cast<double>(in_system_) * (now - last_time_);
  last_time_ = now;
}

RequestSimulation Simulator::results() {
  RequestSimulation out;
  if (disaggregated()) {
    out.pools.push_back(prefill_->use(last_time_));
    out.waited_for_receiver = handoff_->waited();
  }
  out.pools.push_back(main_.use(last_time_));
  const PoolUse& use = out.pools.back();
  out.mean_blocks = use.mean_blocks;
  out.peak_blocks = use.peak_blocks;
  out.usable_blocks = use.usable_blocks;
  out.requests = std::move(records_);
  out.steps = std::move(log_.steps);
  out.chunks = std::move(log_.chunks);
  out.preemptions = std::move(log_.preemptions);
  out.gaps = std::move(log_.gaps);
  out.drafts = std::move(log_.drafts);
  out.step_count = log_.step_count;
  out.busy_seconds = log_.busy_seconds;
  out.seconds = last_time_;
  out.in_system = in_system_seconds_;
  return out;
}

}  // namespace shardscape
