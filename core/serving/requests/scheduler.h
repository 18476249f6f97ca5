// What an engine asks of a scheduler: which sequences the next step computes.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "serving/requests/block_contents.h"
#include "serving/requests/context_waits.h"
#include "serving/requests/engine_settings.h"
#include "serving/requests/request.h"
#include "serving/requests/request_record.h"
#include "serving/requests/speculation.h"
#include "serving/requests/step_clock.h"

namespace shardscape {

// One step as the scheduler decided it. The vectors keep their memory from step to step.
struct ScheduledStep {
  // Sequences that get tokens, and when they got their previous ones.
  struct Continued {
    double since = 0;
    int64_t sequences = 0;
  };
  int64_t decode_sequences = 0, decode_context = 0, prefill_tokens = 0;
  int64_t draft_tokens = 0;  // of the decode sequences
  // Decode sequences whose last token is in flight: their new tokens are dropped (decode_in_vain).
  int64_t vain_sequences = 0;
  std::vector<PrefillChunk> chunks;
  std::vector<int32_t> first;  // requests that get their first token
  std::vector<Continued> continued;
  int64_t continued_sequences = 0;  // in `continued`
  std::vector<int32_t> ending;      // requests that get their last token
  // Seconds of loads from lower tiers of the cache that the step waits for: before it starts, or, if loads
  // overlap, layer by layer.
  double load_seconds = 0;
  bool loads_overlap = false;
  DraftCounts drafts;

  StepBatch batch() const {
    return {decode_sequences, decode_context, chunks,
            continued_sequences + static_cast<int64_t>(first.size()) + vain_sequences, draft_tokens};
  }
  // Adds a decode sequence that computes `tokens` tokens after `computed` others. Returns how many tokens it
  // gets: one and the accepted ones, but at most `left`.
  int64_t decode(const Speculation& speculation, int32_t request, int64_t computed, int64_t tokens,
                 int64_t left);
  // An engine that schedules a step before it has seen the tokens of the previous one may compute a sequence
  // once more whose answer that step ends. It takes the time of a decode sequence and yields nothing.
  void decode_in_vain(int64_t computed, int64_t tokens);
  void continue_since(double since, int64_t sequences);
  bool empty() const { return decode_sequences == 0 && chunks.empty(); }
  void clear();
};

// Blocks of the KV cache. Blocks of an endless cache: usable is 0.
struct CacheUse {
  int64_t in_use = 0, peak = 0, usable = 0;
};

// How far the answer of a request is.
struct AnswerProgress {
  int32_t tokens = 0;     // that the steps have yielded
  double last_token = 0;  // when the last one arrived
};

// Steps end in the order in which they are scheduled.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  virtual void add(int32_t request) = 0;
  // Decides on the next step. False: nothing can run.
  virtual bool schedule(double now, ScheduledStep& step) = 0;
  // What schedule() would take now. It then takes that, or with hold_contexts() only the sequences that
  // generate. Of TensorRT-LLM.
  virtual SelectedStep select() { return {}; }
  virtual void hold_contexts() {}
  // The tokens of the step that schedule() returned arrive at `end`.
  virtual void set_end(double end) = 0;
  // The oldest step in flight has ended. `ending`: its requests that got their last token.
  virtual void arrive(std::span<const int32_t> ending) = 0;

  // Disaggregated serving. A prefill engine keeps the blocks of an ended request until release_kept(). A
  // decode engine takes the blocks of a prompt before its transfer: reserve() returns the tokens to transfer,
  // or nothing while the blocks do not suffice. The request joins the sequences with add_received() at the
  // end of the transfer, or gives its blocks back with release_kept().
  virtual std::optional<int64_t> reserve(int32_t request) = 0;
  virtual void add_received(int32_t request, double now) = 0;
  virtual void release_kept(int32_t request) = 0;
  // Of a request that was added and has not ended. No step is in flight.
  virtual AnswerProgress progress(int32_t request) const = 0;

  virtual int64_t running() const = 0;  // sequences that have started and hold cache blocks
  virtual int64_t cached_tokens(int32_t request) const = 0;  // of the prompt
  virtual CacheUse cache() const = 0;
  // When the next load from a lower tier of the cache ends that requests wait for; infinite: none.
  virtual double load_end() const { return std::numeric_limits<double>::infinity(); }
  // Requests that lost their blocks and wait again since this list was last emptied.
  std::vector<int32_t>& preempted() { return preempted_; }

 protected:
  std::vector<int32_t> preempted_;
};

// All references outlive the scheduler. Schedulers write scheduled, cached, chunks, preemptions and the last
// token of preempted requests to `records`.
std::unique_ptr<Scheduler> make_scheduler(const EngineSettings& settings, const Workload& workload,
                                          const BlockContents& contents, std::span<RequestRecord> records);

// Why an engine can never run a request; Pending if it can.
RequestEnd refusal(const EngineSettings& settings, const Request& request);

}  // namespace shardscape
