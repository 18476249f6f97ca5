// The scheduler of TensorRT-LLM (cpp/tensorrt_llm/batch_manager/capacityScheduler.cpp,
// microBatchScheduler.cpp; commits 02a10fed, 0a949d31).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "serving/requests/kv_blocks.h"
#include "serving/requests/scheduler.h"
#include "serving/requests/sequence_table.h"
#include "serving/requests/waiting_queue.h"

namespace shardscape {

// The rules of a step:
// 1. Requests are active in the order of their arrival, at most max_batch_size for each stage of a pipeline.
// 2. The capacity scheduler chooses the active requests that fit into the free blocks.
//    GUARANTEED_NO_EVICT: all that generate, then contexts in order as long as the blocks suffice for all
//    remaining tokens of all chosen requests. So no request is ever paused.
//    STATIC_BATCH: contexts are chosen only if nothing generates.
//    MAX_UTILIZATION: all in order, as long as the blocks suffice for this step. If they do not suffice, the
//    last started request is paused: it loses its blocks and computes its prompt and answer again.
// 3. A context waits if the first block that it has to compute is being computed by another context.
// 4. The micro-batch scheduler takes the chosen requests in order up to max_batch_size and max_num_tokens.
//    Contexts come before generation in the step. The budget counts a whole prompt, cached blocks included.
// 5. enable_chunked_context cuts contexts that exceed the budget: to whole blocks in the order of arrival, or
//    with EQUAL_PROGRESS block by block in turns. Otherwise a context waits until the budget suffices.
//    With speculative decoding a sequence that generates counts with its last token and its draft tokens, and
//    has blocks for them. The slots of rejected tokens are used again.
// 6. Cached blocks in host memory or on disk are copied to the device before the step starts
// (kvCacheManager.cpp,
//    onboardBlock; kvCacheTransferManager.cpp).
// 7. A context gets the blocks of its whole prompt with its first chunk. Its blocks are cached when it has
// ended.
// 8. Contexts can be held back for others (context_waits.h). An answer's length is known, so overlap computes
//    no ended sequence again (GENERATION_TO_COMPLETE).
// 9. Disaggregated serving: the capacity scheduler decides when a generation engine takes the blocks of a
//    prompt that will be transferred (fitting_disagg_gen_init_requests). Paused requests come first.
class TrtllmScheduler final : public Scheduler {
 public:
  TrtllmScheduler(const EngineSettings& settings, const Workload& workload, const BlockContents& contents,
                  std::span<RequestRecord> records);

  void add(int32_t request) override { waiting_.add(request); }
  bool schedule(double now, ScheduledStep& step) override;
  SelectedStep select() override;
  void hold_contexts() override { contexts_.clear(); }
  void set_end(double end) override { table_.set_end(end); }
  void arrive(std::span<const int32_t> ending) override;

  std::optional<int64_t> reserve(int32_t request) override;
  void add_received(int32_t request, double now) override { received_.emplace_back(request, now); }
  void release_kept(int32_t request) override;
  AnswerProgress progress(int32_t request) const override { return table_.progress(request); }

  int64_t running() const override { return running_; }
  int64_t cached_tokens(int32_t request) const override;
  CacheUse cache() const override { return {blocks_.in_use(), blocks_.peak_in_use(), blocks_.usable()}; }

 private:
  struct Chunk {
    int32_t sequence = 0;
    int64_t tokens = 0;
  };
  int64_t blocks_of(int64_t tokens) const {
    return (tokens + settings_.tokens_per_block - 1) / settings_.tokens_per_block;
  }
  KvBlocks::Table& blocks(int32_t sequence) { return tables_[static_cast<size_t>(sequence)]; }
  int64_t free_blocks() const;
  int64_t missing_blocks(int32_t sequence, int64_t tokens);  // for the first tokens of a sequence
  int64_t step_tokens(const Sequence& s) const;              // that a sequence computes to generate

  void activate();
  void activate_received();
  void choose_without_eviction();
  void choose_with_pauses();
  bool pause_last(size_t first, size_t& end);
  bool waits_for_context(int32_t sequence);
  int32_t first_new_content(int32_t sequence) const;
  void collect_contexts();
  void choose_step();
  void cut_contexts(int64_t budget);
  void start_context(const Chunk& chunk, double now, ScheduledStep& step);
  void release(int32_t sequence, int32_t private_from);

  TrtllmSettings settings_;
  EngineRole role_;
  bool pipeline_;
  size_t most_active_;
  const BlockContents* contents_;
  SequenceTable table_;
  KvBlocks blocks_;
  WaitingQueue waiting_;
  std::vector<KvBlocks::Table> tables_;      // of each sequence
  std::map<int32_t, KvBlocks::Table> kept_;  // blocks of requests whose prompt is or will be transferred
  std::vector<std::pair<int32_t, double>>
      received_;                              // requests with such blocks, and the end of the transfer
  std::vector<int32_t> active_;               // sequences in the order of arrival
  std::unordered_set<int32_t> new_contents_;  // first blocks that the contexts of this step compute
  std::vector<int32_t> chosen_;               // by the capacity scheduler
  std::vector<Chunk> contexts_;               // of the step
  std::vector<int32_t> generating_;           // of the step
  bool selected_ = false;                     // the step is chosen and not scheduled
  int64_t running_ = 0;
};

}  // namespace shardscape
