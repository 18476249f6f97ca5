#include "serving/requests/kv_handoff.h"

#include <algorithm>
#include <utility>

namespace shardscape {

KvHandoff::KvHandoff(const Disaggregation& setup, int32_t decode_replicas, EnginePool& prefill,
                     EnginePool& decode, std::span<RequestRecord> prefill_records,
                     std::span<RequestRecord> records)
    : setup_(setup),
      first_decode_(setup.prefill_replicas),
      prefill_(&prefill),
      decode_(&decode),
      prefill_records_(prefill_records),
      records_(records),
      transfers_(setup.link, setup.prefill_replicas, decode_replicas),
      progress_(records.size()),
      waiting_(static_cast<size_t>(decode_replicas)) {}

void KvHandoff::begin(int32_t request, double now) {
  of(request) = {};
  RequestRecord& attempt = prefill_records_[static_cast<size_t>(request)];
  attempt = {};
  attempt.arrival = records_[static_cast<size_t>(request)].arrival;
  if (!prefill_->route(request)) {
    unsent_.push_back(request);
    return;
  }
  if (setup_.order == HandoffOrder::DestinationFirst) return choose_receiver(request, now);
  of(request).submitted = true;
  prefill_->submit(request, now);
}

// Gives the request a decode replica, and asks for blocks.
void KvHandoff::choose_receiver(int32_t request, double now) {
  const auto replica = decode_->route(request);
  if (!replica) {
    unplaced_.push_back(request);
    return;
  }
  queue(*replica).push_back(request);
  take_blocks(*replica, now);
  of(request).waits = !of(request).tokens;
  waited_ += of(request).waits;
}

// The first requests of the queue take blocks, as long as these suffice.
void KvHandoff::take_blocks(int32_t replica, double now) {
  std::deque<int32_t>& all = queue(replica);
  while (!all.empty()) {
    const int32_t request = all.front();
    of(request).tokens = decode_->reserve(request);
    if (!of(request).tokens) return;
    all.pop_front();
    of(request).waits = false;
    proceed(request, now);
  }
}

// The decode replica has blocks for the request.
void KvHandoff::proceed(int32_t request, double now) {
  Progress& p = of(request);
  if (p.prefilled) {
    p.transferring = true;
    records_[static_cast<size_t>(request)].transfer_begin = now;
    const double bytes = static_cast<double>(*p.tokens) * setup_.token_bytes + setup_.sequence_bytes;
    transfers_.start(now, request, prefill_->replica_of(request),
                     decode_->replica_of(request) - first_decode_, bytes);
  } else if (!p.submitted) {
    p.submitted = true;
    prefill_->submit(request, now);
  }
}

void KvHandoff::prefilled(int32_t request, double now) {
  const RequestRecord& from = prefill_records_[static_cast<size_t>(request)];
  RequestRecord& to = records_[static_cast<size_t>(request)];
  to.scheduled = from.scheduled;
  to.cached = from.cached;
  to.from_host = from.from_host;
  to.from_disk = from.from_disk;
  to.load_seconds = from.load_seconds;
  to.load_begin = from.load_begin;
  to.chunks = from.chunks;
  to.preemptions = from.preemptions;
  to.prefill_replica = from.replica;
  to.prefilled = now;
  of(request).prefilled = true;
  if (of(request).tokens)
    proceed(request, now);
  else
    find_receiver(request, now);
}

// The request is prefilled, and its decode replica failed or was not chosen yet. A prompt that waits for
// another receiver could block prompts whose receivers are reserved. So with DestinationFirst it starts
// again.
void KvHandoff::find_receiver(int32_t request, double now) {
  if (setup_.order == HandoffOrder::SourceFirst) return choose_receiver(request, now);
  prefill_->release_kept(request, now);
  prefill_->unassign(request);
  begin(request, now);
}

std::optional<int32_t> KvHandoff::run() {
  const double now = transfers_.time();
  const auto ended = transfers_.run();
  if (!ended) return std::nullopt;
  const int32_t request = *ended;
  RequestRecord& record = records_[static_cast<size_t>(request)];
  record.transfer_end = now;
  of(request).transferring = false;
  of(request).decoding = true;
  prefill_->release_kept(request, now);
  prefill_->unassign(request);
  const bool has_token = decode_->settings().engine != EngineKind::Vllm;
  if (has_token) record.first_token = now;
  if (has_token && decode_->output(request) == 1) {
    record.last_token = now;
    record.replica = decode_->replica_of(request);
    record.end = RequestEnd::Finished;
    decode_->release_kept(request, now);
    take_blocks(record.replica, now);
    return request;
  }
  decode_->add_received(request, now);
  return std::nullopt;
}

void KvHandoff::blocks_freed(int32_t engine, double now) {
  for (size_t k = 0; k < waiting_.size(); ++k) {
    const int32_t replica = first_decode_ + static_cast<int32_t>(k);
    if (!waiting_[k].empty() && decode_->engine_of(replica) == engine) take_blocks(replica, now);
  }
}

void KvHandoff::replica_ready(double now) {
  for (const int32_t request : std::exchange(unsent_, {})) begin(request, now);
  for (const int32_t request : std::exchange(unplaced_, {})) choose_receiver(request, now);
}

// Takes the request from its decode replica, if it has one.
void KvHandoff::leave_receiver(int32_t request, double now) {
  const int32_t replica = decode_->replica_of(request);
  std::erase(unplaced_, request);
  if (replica < 0) return;
  if (std::exchange(of(request).transferring, false)) transfers_.cancel(now, request);
  if (std::exchange(of(request).tokens, std::nullopt))
    decode_->release_kept(request, now);
  else
    std::erase(queue(replica), request);
  decode_->unassign(request);
}

void KvHandoff::prefill_failed(int32_t engine, double now) {
  const std::vector<int32_t> requests = prefill_->requests_of(engine);
  for (const int32_t request : requests) {
    leave_receiver(request, now);
    prefill_->unassign(request);
    ++records_[static_cast<size_t>(request)].restarts;
  }
  for (const int32_t request : requests) begin(request, now);
  for (int32_t k = 0; k < decode_->engines(); ++k) blocks_freed(k, now);
}

std::vector<int32_t> KvHandoff::decode_failed(int32_t engine, double now) {
  std::vector<int32_t> answers, others;
  for (const int32_t request : decode_->requests_of(engine)) {
    Progress& p = of(request);
    ++records_[static_cast<size_t>(request)].restarts;
    if (p.decoding) {
      answers.push_back(request);
      continue;
    }
    leave_receiver(request, now);
    // A prompt that is being computed finds a receiver at its end.
    if (p.prefilled || !p.submitted) others.push_back(request);
  }
  for (const int32_t request : others) {
    if (of(request).prefilled)
      find_receiver(request, now);
    else
      choose_receiver(request, now);
  }
  return answers;
}

}  // namespace shardscape
