#include "serving/requests/engine.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace shardscape {
namespace {

void add_gap(std::vector<TokenGap>& gaps, double seconds, int64_t chunks) {
  if (!gaps.empty() && gaps.back().seconds == seconds)
    gaps.back().chunks += chunks;
  else
    gaps.push_back({seconds, chunks});
}

}  // namespace

Engine::Engine(const EngineSettings& settings, const Workload& workload, const BlockContents& contents,
               std::span<RequestRecord> records, StepClock& clock, int32_t first_replica, int32_t replicas)
    : records_(records),
      clock_(&clock),
      pipeline_(settings.pipeline_stages > 1),
      prefill_only_(settings.role == EngineRole::Prefill),
      first_replica_(first_replica),
      members_(static_cast<size_t>(replicas)),
      waits_(settings),
      in_flight_(static_cast<size_t>(steps_in_flight(settings))) {
  for (Member& member : members_) member.scheduler = make_scheduler(settings, workload, contents, records);
  for (InFlight& flight : in_flight_) {
    flight.ending.resize(members_.size());
    flight.scheduled.resize(members_.size());
  }
}

void Engine::submit(int32_t request, int32_t replica, double now) {
  Member& of = member(replica);
  of.submitted.push_back(request);
  ++of.outstanding;
  records_[static_cast<size_t>(request)].replica = replica;
  if (flying_ == 0) wake_ = std::min(wake_, now);
}

std::optional<int64_t> Engine::reserve(int32_t request, int32_t replica) {
  Member& of = member(replica);
  const std::optional<int64_t> tokens = of.scheduler->reserve(request);
  of.kept += tokens.has_value();
  return tokens;
}

void Engine::add_received(int32_t request, int32_t replica, double now) {
  Member& of = member(replica);
  of.scheduler->add_received(request, now);
  --of.kept;
  ++of.outstanding;
  records_[static_cast<size_t>(request)].replica = replica;
  if (flying_ == 0) wake_ = std::min(wake_, now);
}

void Engine::release_kept(int32_t request, int32_t replica, double now) {
  Member& of = member(replica);
  of.scheduler->release_kept(request);
  --of.kept;
  if (flying_ == 0 && busy()) wake_ = std::min(wake_, now);
}

bool Engine::keeps_blocks() const {
  return std::any_of(members_.begin(), members_.end(), [](const Member& m) { return m.kept > 0; });
}

bool Engine::busy() const {
  return std::any_of(members_.begin(), members_.end(), [](const Member& m) { return m.outstanding > 0; });
}

int64_t Engine::running() const {
  int64_t out = 0;
  for (const Member& member : members_) out += member.scheduler->running();
  return out;
}

double Engine::load_end() const {
  double out = kIdle;
  for (const Member& member : members_) out = std::min(out, member.scheduler->load_end());
  return out;
}

int64_t Engine::peak_blocks() const {
  int64_t out = 0;
  for (const Member& member : members_) out = std::max(out, member.scheduler->cache().peak);
  return out;
}

void Engine::run(double now, EngineLog& log) {
  if (flying_ > 0) deliver(log);
  if (halted_) {
    wake_ = flying_ > 0 ? in_flight_[oldest_].end : kIdle;
    return;
  }
  for (Member& member : members_) {
    for (const int32_t request : member.submitted) member.scheduler->add(request);
    member.submitted.clear();
  }
  fill(now, log);
  // A sequence that preempts itself can end a schedule in which no other sequence has had its turn.
  while (flying_ == 0 && busy()) {
    const int64_t before = running();
    fill(now, log);
    if (flying_ > 0 || running() < before) continue;
    // Requests wait for the lower tiers of the cache.
    if (keeps_blocks() || (load_end() > now && load_end() < kIdle)) break;
    throw std::logic_error("an engine has requests and no step");
  }
  wake_ = flying_ > 0 ? in_flight_[oldest_].end : load_end();
}

void Engine::fill(double now, EngineLog& log) {
  while (flying_ < in_flight_.size() && schedule(now, log)) start_step(now, log);
}

bool Engine::schedule(double now, EngineLog& log) {
  bool any = false;
  if (waits_.on()) {
    selected_.clear();
    for (Member& member : members_) selected_.push_back(member.scheduler->select());
    if (waits_.hold(selected_))
      for (Member& member : members_) member.scheduler->hold_contexts();
  }
  for (Member& member : members_) {
    member.scheduled = member.scheduler->schedule(now, member.step);
    any |= member.scheduled;
    std::vector<int32_t>& preempted = member.scheduler->preempted();
    for (const int32_t request : preempted)
      if (log.keep_steps) log.preemptions.push_back({now, request, static_cast<uint32_t>(log.steps.size())});
    preempted.clear();
  }
  return any;
}

// The tokens of the oldest step arrive.
void Engine::deliver(EngineLog& log) {
  const InFlight& flight = in_flight_[oldest_];
  for (size_t k = 0; k < members_.size(); ++k) {
    if (!flight.scheduled[k]) continue;
    members_[k].scheduler->arrive(flight.ending[k]);
    for (const int32_t request : flight.ending[k]) {
      records_[static_cast<size_t>(request)].end = RequestEnd::Finished;
      log.finished.push_back(request);
      --members_[k].outstanding;
      members_[k].kept += prefill_only_;
    }
  }
  oldest_ = (oldest_ + 1) % in_flight_.size();
  --flying_;
}

void Engine::start_step(double now, EngineLog& log) {
  double seconds = 0, busy = 0;
  for (const Member& member : members_) {
    if (!member.scheduled) continue;
    const StepBatch batch = member.step.batch();
    const double step = clock_->seconds(batch), load = member.step.load_seconds;
    const double of = member.step.loads_overlap ? std::max(step, load) : step + load;
    seconds = std::max(seconds, of);
    busy = std::max(busy, pipeline_ ? clock_->bottleneck_seconds(batch) : of);
  }
  const double begin = std::max(now, last_end_ + (busy - seconds)), end = begin + seconds;
  last_end_ = end;
  InFlight& flight = in_flight_[(oldest_ + flying_) % in_flight_.size()];
  flight.end = end;
  for (size_t k = 0; k < members_.size(); ++k) {
    Member& member = members_[k];
    flight.scheduled[k] = member.scheduled;
    if (!member.scheduled) continue;
    member.scheduler->set_end(end);
    record(member, first_replica_ + static_cast<int32_t>(k), begin, seconds, busy, log);
    std::swap(flight.ending[k], member.step.ending);
  }
  ++flying_;
}

// Writes the times of a replica's tokens, and its part of the step.
void Engine::record(const Member& member, int32_t replica, double begin, double seconds, double busy,
                    EngineLog& log) {
  const ScheduledStep& step = member.step;
  const double end = begin + seconds;
  for (const ScheduledStep::Continued& of : step.continued) add_gap(log.gaps, end - of.since, of.sequences);
  for (const int32_t request : step.first) records_[static_cast<size_t>(request)].first_token = end;
  for (const int32_t request : step.ending) records_[static_cast<size_t>(request)].last_token = end;
  const int64_t blocks = member.scheduler->cache().in_use;
  log.drafts.add(step.drafts);
  ++log.step_count;
  log.busy_seconds += busy;
  log.block_seconds += static_cast<double>(blocks) * busy;
  if (!log.keep_steps) return;
  log.steps.push_back({begin, seconds, step.decode_context, replica,
                       static_cast<int32_t>(step.prefill_tokens), static_cast<int32_t>(step.decode_sequences),
                       static_cast<int32_t>(blocks), static_cast<int32_t>(member.scheduler->running()),
                       static_cast<int32_t>(step.batch().sampled), static_cast<int32_t>(step.draft_tokens),
                       static_cast<uint32_t>(log.chunks.size()), static_cast<int32_t>(step.vain_sequences)});
  log.chunks.insert(log.chunks.end(), step.chunks.begin(), step.chunks.end());
}

}  // namespace shardscape
