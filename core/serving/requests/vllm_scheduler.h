// The scheduler of vLLM V1 (vllm/v1/core/sched/scheduler.py and async_scheduler.py).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "serving/requests/kv_blocks.h"
#include "serving/requests/scheduler.h"
#include "serving/requests/sequence_slots.h"
#include "serving/requests/waiting_queue.h"

namespace shardscape {

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
// 7. Speculative decoding: a decode sequence computes its last token and its draft tokens, as far as the
// budget
//    and max_model_len allow, and advances by one and the accepted ones. The slots of rejected tokens are
//    used again. Blocks are taken for these tokens, and for as many that the draft module computes (MTP,
//    EAGLE). These modules need the last hidden states of the prompt, so the last cached block is computed
//    again (v1/core/single_type_kv_cache_manager.py, use_eagle).
// 8. Disaggregated serving: the blocks of a prompt are taken before its transfer, which blocks in the cache
// of
//    the device shorten. Lower tiers do not: of several connectors the first one that has tokens loads all of
//    them (distributed/kv_transfer/kv_connector/v1/multi_connector.py, get_num_new_matched_tokens), and
//    NixlConnector has the whole prompt. The request then starts with its last prompt token, whose logits
//    give the first token of the answer, in a step like that of a decode sequence
//    (_update_waiting_for_remote_kv; NixlConnector). While preempted requests wait, no blocks are taken for
//    transfers.
// 9. Cached blocks in host memory or on disk are loaded one request after the other, while steps of other
//    sequences run (OffloadingConnector, WAITING_FOR_REMOTE_KVS). The request has its blocks, and starts when
//    they are loaded.
// With async scheduling a sequence whose last token is in flight gets no more tokens, and leaves when that
// token arrives, because max_tokens is the recorded length of its answer. With speculative decoding the
// scheduler takes all drafts in flight for accepted (num_output_placeholders): a sequence has blocks for them
// and for the next drafts, which max_model_len limits, and a sequence that ends with accepted drafts is
// computed once more in vain.
// max_num_partial_prefills and max_long_partial_prefills: V1 accepts their defaults only, which change
// nothing.
//
// A pipeline has one step in flight for each stage. A sequence whose token is in flight is not scheduled, so
// the sequences of a step form a cohort that returns when the step has ended. Requests that start join the
// cohort of the step. Chunks of a prompt follow each other in consecutive steps.
//
// A step costs constant time plus time for sequences that prefill, start, end or need a block: decode
// sequences advance by one shared counter. Steps that run short of blocks or budget walk over all sequences,
// and so does speculative decoding, whose sequences advance at their own pace.
class VllmScheduler final : public Scheduler {
 public:
  VllmScheduler(const EngineSettings& settings, const Workload& workload, const BlockContents& contents,
                std::span<RequestRecord> records);

  void add(int32_t request) override;
  bool schedule(double now, ScheduledStep& step) override;
  void set_end(double end) override { here().last_end = end; }
  void arrive(std::span<const int32_t> ending) override;

  std::optional<int64_t> reserve(int32_t request) override;
  void add_received(int32_t request, double) override { received_.push_back(request); }
  void release_kept(int32_t request) override;
  AnswerProgress progress(int32_t request) const override;

  int64_t running() const override { return running_; }
  int64_t cached_tokens(int32_t request) const override;
  double load_end() const override;
  CacheUse cache() const override { return {blocks_.in_use(), blocks_.peak_in_use(), blocks_.usable()}; }

 private:
  enum class State : uint8_t { Prefill, Decode, Drained };
  struct Sequence : SequenceTokens {
    int32_t computed = 0;             // in Prefill
    int64_t base = 0;                 // in Decode: computed tokens are base + ticks of the cohort
    int64_t order = -1;               // of the start
    int64_t scheduled_in = -1;        // the number of the last walk that scheduled it
    int32_t before = -1, after = -1;  // running sequences in the order of their start
    int32_t place = 0;                // in its bucket
    int32_t cohort = 0;               // in Decode and Drained
    State state = State::Prefill;
    bool late = false;      // in Decode, but without a token in the last step
    bool by_draft = false;  // in Drained: accepted drafts ended the answer
    int32_t rejected = 0;   // drafts of its last step
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
  // Decode sequences that advance together. `ticks` counts their steps. A sequence needs a block when its
  // computed tokens fill the last one; then ticks modulo block_size is the number of its bucket.
  struct Cohort {
    int64_t ticks = 0, decoding = 0, decode_computed = 0, newest = -1;
    std::vector<std::vector<int32_t>> buckets;
    std::vector<End> ends;  // heap; entries of preempted or delayed sequences are checked when they surface
    std::vector<int32_t> late;
    double last_end = 0;  // of its last step
    bool in_flight = false;
  };
  Sequence& at(int32_t sequence) { return sequences_.at(sequence); }
  KvBlocks::Table& table(int32_t sequence) { return tables_[static_cast<size_t>(sequence)]; }
  Cohort& here() { return cohorts_[here_]; }
  Cohort& cohort(const Sequence& s) { return cohorts_[static_cast<size_t>(s.cohort)]; }
  const Cohort& cohort(const Sequence& s) const { return cohorts_[static_cast<size_t>(s.cohort)]; }
  bool pipeline() const { return cohorts_.size() > 1; }
  int64_t computed(const Sequence& s) const {
    return s.state == State::Prefill ? s.computed : s.base + cohort(s).ticks;
  }
  int64_t blocks_of(int64_t tokens) const {
    return (tokens + settings_.block_size - 1) / settings_.block_size;
  }
  int64_t chunk(int64_t tokens) const;  // limited by the threshold
  int64_t missing(int32_t sequence, int64_t slots);
  // Tokens that the scheduler counts as computed, of drafts in flight that are rejected.
  int64_t unseen(const Sequence& s) const;
  bool computes(const Sequence& s) const;  // in an exact step
  int64_t wanted_tokens(const Sequence& s, int64_t budget) const;
  void account(const Part& part, ScheduledStep& step);
  size_t bucket(const Sequence& s) const;

  bool schedule_fast(ScheduledStep& step, int64_t& budget);
  // True if a sequence was preempted.
  bool schedule_exact(ScheduledStep& step, int64_t& budget);
  bool make_room(int32_t sequence, int64_t blocks, int64_t& budget);
  void select_cohort();
  void postpone(int32_t sequence, size_t to, int64_t ticks);
  void skip_unscheduled();
  void tick(ScheduledStep& step);
  void start_waiting(double now, ScheduledStep& step, int64_t budget);
  void start_received(ScheduledStep& step, int64_t& budget);
  // Tokens of the budget that are left; nothing if no other request may start.
  int64_t start_loaded(double now, ScheduledStep& step, int64_t budget);
  void load(int32_t sequence, double now, const KvBlocks::Hits& hits);
  int32_t new_sequence(int32_t request);
  // A sequence with the cached blocks of its request, which does not run yet.
  int32_t create(int32_t request, const KvBlocks::Hits& hits);
  void join(int32_t sequence);  // the running ones
  void start(int32_t sequence, double now, int64_t tokens, ScheduledStep& step);
  void begin_answer(int32_t sequence, ScheduledStep& step);
  // Blocks for the first `slots` tokens of a sequence, of which the step computes `tokens`.
  void take_blocks(int32_t sequence, int64_t tokens, int64_t slots);
  int64_t slots(const Sequence& s, int64_t tokens) const;  // of a running sequence that computes `tokens`
  KvBlocks::Hits hits(int32_t request, int64_t tokens, bool tiers = true) const;
  void publish_answer(int32_t sequence, int64_t done);
  void skip_ahead(int32_t sequence, int64_t tokens);
  void prefill(int32_t sequence, int64_t tokens, ScheduledStep& step);
  void preempt(int32_t sequence);
  void finish(int32_t request);
  int32_t victim() const;
  void enter_decode(int32_t sequence);
  void leave_decode(int32_t sequence);
  void leave(int32_t sequence, int32_t private_from);
  void discard(int32_t sequence, int32_t private_from);

  EngineSettings settings_;
  const BlockContents* contents_;
  Speculation speculation_;
  int64_t lookahead_;
  bool drafts_ahead_;  // the next drafts are scheduled while those before are in flight
  KvBlocks blocks_;
  WaitingQueue waiting_;
  int64_t watermark_blocks_ = 0;

  SequenceSlots<Sequence> sequences_;
  std::vector<KvBlocks::Table> tables_;  // of each sequence
  int32_t first_ = -1, last_ = -1;       // running sequences
  int64_t running_ = 0, started_ = 0;

  std::vector<Cohort> cohorts_;    // of a pipeline: one for each stage, and one for postponed sequences
  size_t here_ = 0;                // the cohort of the scheduled step
  std::vector<size_t> in_flight_;  // cohorts of the steps in flight, the oldest first
  int64_t walks_ = 0;
  std::vector<int32_t> prefilling_;          // in the order of their start
  std::vector<Part> parts_;                  // of an exact step
  std::map<int32_t, KvBlocks::Table> kept_;  // blocks of requests whose prompt is or will be transferred
  std::deque<int32_t> received_;             // requests with such blocks that wait for their start
  struct Load {
    int32_t sequence = 0;
    double end = 0;
  };
  std::deque<Load> loads_;  // in the order of their ends
  double link_free_ = 0;    // when the last one ends
  // The refused head of the waiting requests is tried again when blocks are released or prompts are cached.
  int64_t changes_ = 0;
  int32_t refused_ = -1;
  int64_t refused_version_ = 0, refused_budget_ = 0;
};

}  // namespace shardscape
