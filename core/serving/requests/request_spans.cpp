#include "serving/requests/request_spans.h"

#include <algorithm>

namespace shardscape {

const char* span_text(SpanKind kind) {
  switch (kind) {
    case SpanKind::Queued: return "queued";
    case SpanKind::Chunk: return "chunk";
    case SpanKind::Prompt: return "prompt";
    case SpanKind::Answer: return "answer";
    case SpanKind::Preempted: return "preempted";
  }
  return "";
}

RequestSpans::RequestSpans(const RequestSimulation& simulation)
    : simulation_(&simulation),
      first_(simulation.requests.size() + 1, 0),
      events_(simulation.events.size(), 0) {
  for (const RequestEvent& event : simulation.events) ++first_[static_cast<size_t>(event.request) + 1];
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  std::vector<int64_t> next(first_.begin(), first_.end() - 1);
  for (size_t i = 0; i < simulation.events.size(); ++i) {
    int64_t& place = next[static_cast<size_t>(simulation.events[i].request)];
    events_[static_cast<size_t>(place++)] = static_cast<int64_t>(i);
  }
}

std::vector<RequestSpan> RequestSpans::of(size_t request) const {
  const RequestRecord& record = simulation_->requests[request];
  std::vector<RequestSpan> out;
  if (record.end != RequestEnd::Finished) return out;
  double at = record.arrival;
  const auto until = [&](SpanKind kind, double end) {
    const double stop = std::clamp(end, at, std::max(at, record.last_token));
    if (stop > at) out.push_back({kind, at, stop});
    at = stop;
  };
  until(SpanKind::Queued, record.scheduled);
  SpanKind now = SpanKind::Prompt;
  for (int64_t i = first_[request]; i < first_[request + 1]; ++i) {
    const RequestEvent& event = simulation_->events[static_cast<size_t>(events_[static_cast<size_t>(i)])];
    until(now, event.begin);
    if (event.tokens == 0) {
      now = SpanKind::Preempted;
      continue;
    }
    until(SpanKind::Chunk, event.end);
    // After its last chunk a request generates tokens, unless it is preempted before its first token.
    const bool more = i + 1 < first_[request + 1] &&
                      simulation_->events[static_cast<size_t>(events_[static_cast<size_t>(i) + 1])].tokens >
                          0;
    now = more || event.end < record.first_token ? SpanKind::Prompt : SpanKind::Answer;
  }
  // Without events: a simulation that has not kept its steps.
  if (at < record.first_token) until(now, record.first_token);
  until(SpanKind::Answer, record.last_token);
  return out;
}

}  // namespace shardscape
