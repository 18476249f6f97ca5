// The scheduler of SGLang (python/sglang/srt/managers/scheduler.py, schedule_policy.py, schedule_batch.py;
// commit 00550cd1).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "serving/requests/radix_cache.h"
#include "serving/requests/scheduler.h"
#include "serving/requests/sequence_table.h"

namespace shardscape {

// The rules of a step:
// 1. Prefill first: if waiting requests can start, the step computes their prompts only, and the running
//    sequences wait. enable_mixed_chunk adds the running sequences to that step.
// 2. A prefill batch has at most chunked_prefill_size tokens. The last prompt may be cut; the rest comes
// first
//    in the next batch. Without chunks it has at most max_prefill_tokens, or a single longer prompt.
// 3. A request starts if its prompt and its whole answer (at most 4,096 tokens) fit into the free and
// evictable
//    tokens, less the reserve: new_token_ratio times the remaining answers of the running sequences, and the
//    whole answers of the batch. A request that does not fit stops admission until a sequence has ended.
// 4. new_token_ratio starts at 0.7 x schedule_conservativeness (x 0.3 with data-parallel attention), and
//    falls over 600 decode steps to 0.14 of that. An idle engine resets it.
// 5. If the next tokens of all running sequences do not fit, sequences are retracted: fewest output tokens
//    first, then longest prompt. They join the end of the queue and compute prompt and answer again.
//    new_token_ratio becomes the computed share of the answers that are left, with 20 more tokens each.
//    Tokens that are in flight do not count in the answers (output_ids), because the scheduler has not seen
//    them. With speculative decoding a sequence needs room for its last token, its draft tokens, and as many
//    that the draft module computes. The room of rejected tokens is free after the step.
// 6. The radix cache has the prompts of ended prefills, and the answers of ended requests, in whole pages. At
//    least one token of a prompt is computed.
// 7. lpm sorts the queue by cached prefix, if at most 128 requests wait. Requests whose prefix of 32 tokens
//    or more is not cached, but is that of an earlier request in the queue, come last.
// 8. Requests that have arrived are received before a step: after a prefill batch, after
//    scheduler_recv_interval decode steps in a row, and when nothing can run (scheduler_recv_skipper.py).
// 9. Disaggregated serving: a decode engine takes the cache of a prompt if 512 tokens, or a shorter answer,
//    fit in addition, and 512 tokens remain for each running and each transferred sequence. It has no radix
//    cache (disaggregation/decode.py, DecodePreallocQueue.pop_preallocated).
//
// 10. Cached prefixes in host memory or on disk are loaded layer by layer while the prefill batch runs, which
//     takes at least as long as its loads (managers/cache_controller.py, LayerDoneCounter; HiCache).
//
// 11. Overlap: a step is scheduled before the tokens of the previous one are seen (event_loop_overlap). So a
//     sequence that ends in a step is still in the running batch, and the next decode step computes it once
//     more (scheduler_components/batch_result_processor.py, process_batch_result_decode: finished requests
//     are skipped). Its slot is free when the last token is seen. It counts in the reserve and for the room
//     of the step until then.
// 12. Pages of page_size tokens: sequences have whole pages. The budgets count prompts rounded up to pages,
//     admission demands one page more, and cut prompts end with a page (schedule_policy.py, PrefillAdder,
//     _select_prefill_admission).
// 13. Models whose mixers have states find a prefix only where the states are stored (mem_cache/
//     mamba_radix_cache.py, commit c1eb00f9). extra_buffer: at the last multiple of 64 tokens from the start
//     of a chunk, or where another request's tokens branch off if that lies before; and at the last multiple
//     of 256 tokens of an ended answer (schedule_batch.py, _mamba_radix_cache_v2_req_prepare_for_extend;
//     mamba_track_interval). Further chunks of a prompt are cut to multiples of 64 tokens
//     (floor_chunked_tokens). no_buffer: at the end of each chunk and each answer.
//
// A pipeline has one running batch for each stage; max_running_requests is divided among them. It schedules
// no batch whose tokens are in flight.
//
// Not as in SGLang: the token in flight of a retracted sequence is kept.
class SglangScheduler final : public Scheduler {
 public:
  SglangScheduler(const EngineSettings& settings, const Workload& workload, const BlockContents& contents,
                  std::span<RequestRecord> records);

  void add(int32_t request) override { arrived_.push_back(request); }
  bool schedule(double now, ScheduledStep& step) override;
  void set_end(double end) override { table_.set_end(end); }
  void arrive(std::span<const int32_t> ending) override;

  std::optional<int64_t> reserve(int32_t request) override;
  void add_received(int32_t request, double now) override { received_.emplace_back(request, now); }
  void release_kept(int32_t request) override;
  AnswerProgress progress(int32_t request) const override { return table_.progress(request); }

  int64_t running() const override { return running_; }
  int64_t cached_tokens(int32_t request) const override;
  CacheUse cache() const override { return {in_use(), peak_, capacity_}; }

 private:
  // Cache of a sequence: its first tokens are in the radix cache, the others its own.
  struct Held {
    int32_t shared = 0;  // tokens; whole pages
    int32_t node = RadixCache::kRoot;
    size_t batch = 0;
    int32_t branch = 0;  // where tokens of others go on that are stored without their states; 0: nowhere
    int64_t vain = 0;    // pages of tokens that are dropped
  };
  // The running batch of a pipeline stage.
  struct Batch {
    std::vector<int32_t> decoding;  // in the order of their start; also those whose last token is in flight
    std::vector<int32_t> joining;   // the last step ends their prompts
    int64_t sequences = 0;          // that hold cache
    bool full = false;              // no request starts until a sequence has ended
    bool ended = false;             // a sequence has ended since the last decode step
    bool in_flight = false;
  };
  // Cache of a request whose prompt is or will be transferred.
  struct Kept {
    int32_t node = RadixCache::kRoot;
    int64_t own = 0;  // pages
  };
  // What a prefill batch has left.
  struct Budget {
    double reserved = 0;  // tokens of the cache that are free but promised
    int64_t input = 0;    // tokens
    int64_t chunk = 0;    // tokens; no limit without chunks
    int64_t requests = 0;
  };
  int64_t pages(int64_t tokens) const { return (tokens + page_ - 1) / page_; }
  int64_t page_tokens(int64_t tokens) const { return pages(tokens) * page_; }
  // Pages that the sequence takes for so many more tokens.
  int64_t more_pages(const Sequence& s, int64_t tokens) const {
    return pages(s.computed + tokens) - pages(s.computed);
  }
  int64_t free_pages() const;  // that no sequence holds
  int64_t free_tokens() const { return capacity_ == 0 ? free_pages() : free_pages() * page_; }
  bool decode_fits(const Batch& batch) const;  // the next step of the batch
  int64_t in_use() const { return radix_.pages() - radix_.evictable() + own_; }
  void take(int32_t sequence, int64_t tokens, ScheduledStep& step);
  void drop(int32_t sequence);
  void release(int32_t sequence, int64_t own);
  int64_t own_pages(int32_t sequence) const;
  void cache(int32_t sequence, int64_t tokens);
  int64_t stored_prompt(const SequenceTable::Part& part) const;
  int64_t stored_answer(const Sequence& s) const;
  int64_t reserved_answer(const Sequence& s) const;

  void take_arrived();
  bool schedule_step(double now, ScheduledStep& step);
  void start_received(size_t number);
  bool schedule_batch(size_t number, double now, ScheduledStep& step);
  bool prefill(size_t number, double now, ScheduledStep& step);
  Budget prefill_budget(const Batch& batch) const;
  void continue_chunk(size_t number, Budget& budget, ScheduledStep& step);
  bool start_first(size_t number, double now, Budget& budget, ScheduledStep& step);
  int64_t first_part(int64_t prefix, int64_t prompt, const Budget& budget) const;
  void spend(int64_t tokens, Budget& budget) const;
  bool exhausted(Batch& batch, const Budget& budget) const;
  bool decode(Batch& batch, ScheduledStep& step);
  void retract(Batch& batch);
  void make_progress();
  void sort_waiting();

  SglangSettings settings_;
  EngineRole role_;
  const Workload* workload_;
  SequenceTable table_;
  RadixCache radix_, queued_;   // queued_: prompts of the queue, while it is sorted
  CacheTierSettings tiers_;     // in pages
  int64_t page_;                // tokens
  int64_t capacity_;            // pages; 0: endless
  bool has_states_, buffered_;  // the model has states of mixers; extra_buffer
  double first_ratio_, ratio_;
  int64_t most_in_batch_;
  int64_t chunk_size_;            // INT64_MAX: no chunks
  int64_t sequence_room_;         // of a decode sequence in a step
  std::vector<int32_t> arrived_;  // requests that are not received
  int64_t passed_ = 0;            // decode steps since the last receipt
  std::deque<int32_t> waiting_;
  std::vector<Held> held_;  // of each sequence
  std::vector<Batch> batches_;
  std::map<int32_t, Kept> kept_;  // by request
  std::deque<std::pair<int32_t, double>>
      received_;                 // requests that wait for their start, end of the transfer
  std::deque<size_t> launched_;  // batches of the steps in flight
  size_t next_batch_ = 0;
  int32_t chunked_ = -1;  // the sequence whose prompt is cut
  int64_t running_ = 0, own_ = 0, peak_ = 0;
};

}  // namespace shardscape
