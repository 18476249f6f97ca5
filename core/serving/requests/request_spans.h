// What a request did over time, from its record, the chunks of the steps and the preemptions of a simulation
// that has kept its steps.
#pragma once

#include <cstdint>
#include <vector>

#include "serving/requests/request_simulation.h"

namespace shardscape {

enum class RequestSpanKind : uint8_t {
  Queued,  // before the first chunk, or before the first token of a decode replica
  Load,    // of its prefix from host memory or disk, before the first chunk (vLLM: WAITING_FOR_REMOTE_KVS)
  Chunk,   // a step computes a part of the prompt, or of prompt and answer after a preemption
  Prompt,  // between two chunks
  TransferWait,  // the prompt is computed, and waits for blocks of a decode replica
  Transfer,      // of the cache, from the prefill replica to the decode replica
  Answer,        // output tokens
  Preempted,     // without blocks, until the next chunk
};
const char* request_span_text(RequestSpanKind kind);  // "queued"

struct RequestSpan {
  RequestSpanKind kind = RequestSpanKind::Queued;
  double begin = 0, end = 0;  // seconds from the start of the run
  int64_t step = -1;          // of a chunk: index in the simulation's steps
};

class RequestSpans {
 public:
  // The simulation outlives this object.
  explicit RequestSpans(const RequestSimulation& simulation);
  // In the order of time, without gaps, from the arrival to the last token; none of a request that did not
  // finish. Takes time for the events of the request.
  std::vector<RequestSpan> of(size_t request) const;

 private:
  struct Event {
    double begin = 0, end = 0;  // of the step with a chunk; a preemption has no length
    int64_t step = -1;          // -1: a preemption
    bool chunk() const { return step >= 0; }
  };
  const RequestSimulation* simulation_;
  std::vector<size_t> first_;  // of each request, in events_; one more at the end
  std::vector<Event> events_;  // by request, in the order in which they were scheduled
};

}  // namespace shardscape
