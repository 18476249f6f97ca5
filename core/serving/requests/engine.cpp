#include "serving/requests/engine.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace shardscape {
namespace {

void add_gap(std::vector<TokenGap>& gaps, double seconds, int64_t tokens) {
  if (tokens == 0) return;
  if (!gaps.empty() && gaps.back().seconds == seconds)
    gaps.back().tokens += tokens;
  else
    gaps.push_back({seconds, tokens});
}

}  // namespace

Engine::Engine(const EngineSettings& settings, const Workload& workload, const BlockContents& contents,
               std::span<RequestRecord> records, StepClock& clock, int32_t replica)
    : settings_(&settings),
      workload_(&workload),
      records_(records),
      clock_(&clock),
      replica_(replica),
      scheduler_(settings, workload, contents, records) {}

void Engine::submit(int32_t request, double now) {
  submitted_.push_back(request);
  records_[static_cast<size_t>(request)].replica = replica_;
  ++outstanding_;
  if (flying_ == 0) wake_ = std::min(wake_, now);
}

void Engine::run(double now, EngineLog& log) {
  if (flying_ > 0) deliver(log);
  for (const int32_t request : submitted_) scheduler_.add(request);
  submitted_.clear();
  fill(now, log);
  // A sequence that preempts itself can end a schedule in which no other sequence has had its turn.
  while (flying_ == 0 && outstanding_ > 0) {
    const int64_t running = scheduler_.running();
    fill(now, log);
    if (flying_ == 0 && scheduler_.running() >= running)
      throw std::logic_error("an engine has requests and no step");
  }
  wake_ = flying_ > 0 ? in_flight_[oldest_].end : kIdle;
}

void Engine::fill(double now, EngineLog& log) {
  const size_t most = settings_->async_scheduling ? 2 : 1;
  while (flying_ < most && scheduler_.schedule(now, static_cast<int64_t>(flying_), step_))
    start_step(now, log);
}

// The tokens of the oldest step arrive.
void Engine::deliver(EngineLog& log) {
  for (const int32_t request : in_flight_[oldest_].ending) {
    scheduler_.finish(request);
    records_[static_cast<size_t>(request)].end = RequestEnd::Finished;
    log.finished.push_back(request);
    --outstanding_;
  }
  oldest_ ^= 1;
  --flying_;
}

void Engine::start_step(double now, EngineLog& log) {
  const double begin = std::max(now, last_end_), seconds = clock_->seconds(step_.batch());
  const double end = begin + seconds;
  add_gap(log.gaps, end - last_end_, step_.regular);
  for (const int32_t request : step_.late)
    add_gap(log.gaps, end - records_[static_cast<size_t>(request)].last_token, 1);
  for (const int32_t request : step_.first) records_[static_cast<size_t>(request)].first_token = end;
  for (const int32_t request : step_.ending) records_[static_cast<size_t>(request)].last_token = end;
  last_end_ = end;
  scheduler_.set_end(end);
  InFlight& flight = in_flight_[oldest_ ^ flying_];
  flight.end = end;
  std::swap(flight.ending, step_.ending);
  ++flying_;

  const int64_t blocks = scheduler_.blocks().in_use();
  ++log.step_count;
  log.busy_seconds += seconds;
  log.block_seconds += static_cast<double>(blocks) * seconds;
  if (log.keep_steps)
    log.steps.push_back({begin, seconds, replica_, static_cast<int32_t>(step_.prefill_tokens),
                         static_cast<int32_t>(step_.decode_sequences), static_cast<int32_t>(blocks),
                         static_cast<int32_t>(scheduler_.running())});
}

int32_t Engine::cached_blocks(int32_t request) const {
  const int32_t prompt = workload_->requests[static_cast<size_t>(request)].prompt;
  return scheduler_.blocks().hits(request, (prompt - 1) / settings_->block_size).blocks;
}

}  // namespace shardscape
