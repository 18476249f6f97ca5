// The sequences of a scheduler that walks over them in every step: their tokens, and the steps in flight.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "serving/requests/scheduler.h"
#include "serving/requests/sequence_slots.h"

namespace shardscape {

struct Sequence : SequenceTokens {
  int32_t computed = 0;   // tokens of the steps that are scheduled
  int32_t in_flight = 0;  // its steps
  int32_t arriving = 0;   // tokens of its answer that they yield
  bool started = false;   // its first chunk is scheduled
  double last = 0;        // when its last token arrives
  int64_t life = -1;      // differs after each preemption; -1: removed

  bool prefilling() const { return computed < tokens; }
  // All tokens are scheduled. The sequence leaves when the last one arrives.
  bool drained() const { return !prefilling() && computed == total - 1; }
  bool decoding() const { return !prefilling() && !drained(); }
  int32_t sampled() const { return prefilling() ? tokens - prompt : computed - prompt + 1; }
  int32_t arrived() const { return sampled() - arriving; }  // tokens of the answer that the engine has seen
};

class SequenceTable {
 public:
  // Part of a step in flight.
  struct Part {
    int32_t sequence = 0, computed = 0;  // tokens after the step
    int64_t life = 0;
    int32_t before = 0;   // tokens before the step
    int32_t yield = 0;    // tokens of the answer
    bool prompt = false;  // a chunk
  };
  // All references outlive the table.
  SequenceTable(const EngineSettings& settings, const Workload& workload, std::span<RequestRecord> records);

  const Sequence& at(int32_t sequence) const { return slots_.at(sequence); }
  size_t size() const { return slots_.size(); }
  int32_t of_request(int32_t request) const { return slots_.of_request(request); }
  int32_t output(const Sequence& s) const { return s.total - s.prompt; }
  const Request& request(int32_t number) const { return slots_.request(number); }
  int32_t tokens_to_compute(int32_t request) const { return slots_.tokens_to_compute(request); }

  int32_t add(int32_t request);
  void remove(int32_t sequence) { slots_.remove(sequence); }
  // The first chunk is scheduled; `cached` tokens are in the cache.
  void start(int32_t sequence, int32_t cached, double now);
  const Speculation& speculation() const { return speculation_; }
  // The prompt was transferred to the engine at `now`, with the first token of the answer.
  void start_received(int32_t sequence, double now);
  AnswerProgress progress(int32_t request) const;
  // Of the cached tokens, so many were in lower tiers of the cache.
  void loaded(int32_t sequence, int32_t host, int32_t disk, double seconds);
  // Adds tokens of a sequence to a step: a chunk of its prompt, or its last token with draft tokens.
  void compute(int32_t sequence, int64_t tokens, ScheduledStep& step);
  // The sequence computes its prompt and its answer again. Tokens in flight count as part of the answer.
  void preempt(int32_t sequence);

  void launch();             // the step is complete and in flight
  void set_end(double end);  // of the launched step
  // The parts of the oldest step whose sequences were not preempted since.
  std::span<const Part> arrive();
  int64_t in_flight() const { return static_cast<int64_t>(flights_.size()); }

 private:
  SequenceSlots<Sequence> slots_;
  Speculation speculation_;
  std::vector<Part> parts_;  // of the step that is being scheduled
  std::deque<std::vector<Part>> flights_;
  std::vector<Part> arrived_;
  int64_t lives_ = 0;
};

}  // namespace shardscape
