#include "serving/requests/request_spans.h"

#include <algorithm>

namespace shardscape {

const char* request_span_text(RequestSpanKind kind) {
  switch (kind) {
    case RequestSpanKind::Queued: return "queued";
    case RequestSpanKind::Load: return "load";
    case RequestSpanKind::Chunk: return "chunk";
    case RequestSpanKind::Prompt: return "prompt";
    case RequestSpanKind::TransferWait: return "transfer wait";
    case RequestSpanKind::Transfer: return "transfer";
    case RequestSpanKind::Answer: return "answer";
    case RequestSpanKind::Preempted: return "preempted";
  }
  return "";
}

RequestSpans::RequestSpans(const RequestSimulation& simulation)
    : simulation_(&simulation), first_(simulation.requests.size() + 1, 0) {
  for (const PrefillChunk& chunk : simulation.chunks) ++first_[static_cast<size_t>(chunk.request) + 1];
  for (const Preemption& of : simulation.preemptions) ++first_[static_cast<size_t>(of.request) + 1];
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  events_.resize(first_.back());
  std::vector<size_t> next(first_.begin(), first_.end() - 1);
  const auto put = [&](int32_t request, const Event& event) {
    events_[next[static_cast<size_t>(request)]++] = event;
  };
  auto preemption = simulation.preemptions.begin();
  const auto preempted_before = [&](size_t step) {
    for (; preemption != simulation.preemptions.end() && preemption->step <= step; ++preemption)
      put(preemption->request, {preemption->time, preemption->time, -1});
  };
  for (size_t step = 0; step < simulation.steps.size(); ++step) {
    preempted_before(step);
    const StepRecord& of = simulation.steps[step];
    for (const PrefillChunk& chunk : batch_of(simulation, step).chunks)
      put(chunk.request, {of.begin, of.begin + of.seconds, static_cast<int64_t>(step)});
  }
  preempted_before(simulation.steps.size());
}

std::vector<RequestSpan> RequestSpans::of(size_t request) const {
  const RequestRecord& record = simulation_->requests[request];
  std::vector<RequestSpan> out;
  if (record.end != RequestEnd::Finished) return out;
  double at = record.arrival;
  const auto until = [&](RequestSpanKind kind, double end, int64_t step = -1) {
    const double stop = std::clamp(end, at, std::max(at, record.last_token));
    if (stop > at) out.push_back({kind, at, stop, step});
    at = stop;
  };
  if (record.load_end > 0) {
    until(RequestSpanKind::Queued, record.load_end - record.load_seconds);
    until(RequestSpanKind::Load, std::min(record.scheduled, record.load_end));
  }
  until(RequestSpanKind::Queued, record.scheduled);
  RequestSpanKind now = RequestSpanKind::Prompt;
  bool sent = record.prefill_replica < 0;  // the cache is where the answer is computed
  const auto transfer = [&] {
    sent = true;
    until(now, record.prefilled);
    until(RequestSpanKind::TransferWait, record.transfer_begin);
    until(RequestSpanKind::Transfer, record.transfer_end);
    now = RequestSpanKind::Queued;
  };
  for (size_t i = first_[request]; i < first_[request + 1]; ++i) {
    const Event& event = events_[i];
    if (!sent && event.begin >= record.prefilled) transfer();
    if (now == RequestSpanKind::Queued && event.begin > record.first_token) {
      until(now, record.first_token);
      now = RequestSpanKind::Answer;
    }
    until(now, event.begin);
    now = RequestSpanKind::Preempted;
    if (!event.chunk()) continue;
    until(RequestSpanKind::Chunk, event.end, event.step);
    // After its last chunk a request generates tokens, unless it is preempted before its first token.
    const bool more = i + 1 < first_[request + 1] && events_[i + 1].chunk();
    now = more || event.end < record.first_token ? RequestSpanKind::Prompt : RequestSpanKind::Answer;
  }
  if (!sent) transfer();
  // Without events: a simulation that has not kept its steps.
  if (at < record.first_token) until(now, record.first_token);
  until(RequestSpanKind::Answer, record.last_token);
  return out;
}

}  // namespace shardscape
