// The scheduler of vLLM V1 (vllm/v1/core/sched/scheduler.py and async_scheduler.py).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "serving/requests/engine_settings.h"
#include "serving/requests/kv_blocks.h"
#include "serving/requests/request.h"
#include "serving/requests/request_record.h"
#include "serving/requests/step_clock.h"
#include "serving/requests/waiting_queue.h"

namespace shardscape {

// One step as the scheduler decided it. The vectors keep their memory from step to step.
struct ScheduledStep {
  int64_t decode_sequences = 0, decode_context = 0, prefill_tokens = 0;
  std::vector<PrefillChunk> chunks;
  std::vector<int32_t> first;   // requests that get their first token
  std::vector<int32_t> late;    // that get a token, but got none in the step before
  std::vector<int32_t> ending;  // that get their last token
  int64_t regular = 0;          // decode sequences that also got a token in the step before
  int64_t sampled() const {
    return regular + static_cast<int64_t>(first.size()) + static_cast<int64_t>(late.size());
  }
  StepBatch batch() const { return {decode_sequences, decode_context, chunks, sampled()}; }
  void clear();
};

// The rules of a step:
// 1. Running sequences in the order of their start, then waiting requests, share the token budget. There is
//    no prefill phase and no decode phase.
// 2. A sequence gets all tokens that it has not computed, at most long_prefill_token_threshold.
// 3. If the blocks do not suffice for a running sequence, the last one (Fcfs) or the least urgent one
//    (Priority) loses its blocks and returns to the waiting requests. It computes its prompt and its answer
//    again. No request starts in such a step.
// 4. Waiting requests start until max_num_seqs, the budget or the free blocks are used up.
// 5. A request that starts takes the cached whole blocks of its prompt, but computes at least one token. Full
//    blocks are found by others from the step in which they are scheduled.
// 6. scheduler_reserve_full_isl and watermark raise the free blocks that a start needs.
// With async scheduling a sequence whose last token is in flight gets no more tokens, and leaves when that
// token arrives. Answers end at their recorded length, so no token is computed in vain.
//
// A step costs constant time plus time for sequences that prefill, start, end or need a block: decode
// sequences advance by one shared counter. Steps that run short of blocks or budget walk over all sequences.
class VllmScheduler {
 public:
  // All arguments outlive the scheduler. The scheduler writes scheduled, cached, chunks and
  // preemptions of records.
  VllmScheduler(const EngineSettings& settings, const Workload& workload, const BlockContents& contents,
                std::span<RequestRecord> records);

  // Why a request can never run.
  static RequestEnd refusal(const EngineSettings& settings, const Request& request);

  void add(int32_t request);
  // Decides on the next step. in_flight: steps whose tokens have not arrived. False: nothing can run.
  bool schedule(double now, int64_t in_flight, ScheduledStep& step);
  // The tokens of the scheduled step arrive at `end`.
  void set_end(double end) { last_end_ = end; }
  // The last token of a request has arrived.
  void finish(int32_t request);

  int64_t running() const { return running_; }
  int64_t waiting() const { return waiting_.size(); }
  const KvBlocks& blocks() const { return blocks_; }

 private:
  enum class State : uint8_t { Prefill, Decode, Drained };
  struct Sequence {
    int32_t request = -1;
    int32_t prompt = 0, total = 0;    // tokens; total: with the whole answer
    int32_t tokens = 0;               // to compute before the next new token
    int32_t computed = 0;             // in Prefill
    int64_t base = 0;                 // in Decode: computed tokens are base + ticks_
    int64_t order = 0;                // of the start
    int64_t scheduled_in = -1;        // the tick of the last walk that scheduled it
    int32_t before = -1, after = -1;  // running sequences in the order of their start
    int32_t place = 0;                // in its bucket
    State state = State::Prefill;
    bool late = false;  // in Decode, but without a token in the last step
  };
  struct Part {
    int32_t sequence = 0;
    int64_t tokens = 0;
  };
  struct End {
    int64_t tick = 0, order = 0;
    int32_t sequence = 0;
    bool operator<(const End& other) const { return tick > other.tick; }  // the earliest is on top
  };
  Sequence& at(int32_t sequence) { return sequences_[static_cast<size_t>(sequence)]; }
  KvBlocks::Table& table(int32_t sequence) { return tables_[static_cast<size_t>(sequence)]; }
  int64_t computed(const Sequence& s) const {
    return s.state == State::Prefill ? s.computed : s.base + ticks_;
  }
  int64_t blocks_of(int64_t tokens) const {
    return (tokens + settings_.block_size - 1) / settings_.block_size;
  }
  int64_t chunk(int64_t tokens) const;  // limited by the threshold
  size_t bucket(const Sequence& s) const;

  bool schedule_fast(ScheduledStep& step, int64_t& budget);
  // True if a sequence was preempted.
  bool schedule_exact(ScheduledStep& step, int64_t& budget, int64_t in_flight);
  bool make_room(int32_t sequence, int64_t blocks, int64_t in_flight, int64_t& budget);
  void skip_unscheduled();
  void tick(ScheduledStep& step);
  void start_waiting(double now, ScheduledStep& step, int64_t budget);
  void start(int32_t request, double now, int64_t hits, int64_t tokens, ScheduledStep& step);
  void take_blocks(int32_t sequence, int64_t tokens);
  void prefill(int32_t sequence, int64_t tokens, ScheduledStep& step);
  void preempt(int32_t sequence, int64_t in_flight);
  int32_t victim() const;
  void enter_decode(int32_t sequence);
  void leave_decode(int32_t sequence);
  void leave(int32_t sequence, int32_t private_from);

  EngineSettings settings_;
  const Workload* workload_;
  const BlockContents* contents_;
  std::span<RequestRecord> records_;
  KvBlocks blocks_;
  WaitingQueue waiting_;
  int64_t watermark_blocks_ = 0;

  std::vector<Sequence> sequences_;
  std::vector<KvBlocks::Table> tables_;  // of each sequence
  std::vector<int32_t> free_sequences_;
  std::vector<int32_t> sequence_of_;  // of each request; -1: not running
  std::vector<int32_t> sampled_;      // tokens of each request before its last preemption
  int32_t first_ = -1, last_ = -1;    // running sequences
  int64_t running_ = 0, started_ = 0;

  // Decode: ticks_ counts steps. A sequence needs a block when its computed tokens fill the last one; then
  // ticks_ modulo block_size is the number of its bucket.
  int64_t ticks_ = 0, decoding_ = 0, decode_computed_ = 0, newest_decoding_ = -1;
  std::vector<std::vector<int32_t>> buckets_;
  std::vector<End> ends_;  // heap; entries of preempted or delayed sequences are checked when they surface
  std::vector<int32_t> late_;
  std::vector<int32_t> prefilling_;  // in the order of their start
  std::vector<Part> parts_;          // of an exact step
  double last_end_ = 0;
  // The refused head of the waiting requests is tried again when blocks are released or prompts are cached.
  int64_t changes_ = 0;
  int32_t refused_ = -1;
  int64_t refused_version_ = 0, refused_budget_ = 0;
};

}  // namespace shardscape
