#include "serving/requests/scheduler.h"

#include <algorithm>

#include "serving/requests/sglang_scheduler.h"
#include "serving/requests/trtllm_scheduler.h"
#include "serving/requests/vllm_scheduler.h"

namespace shardscape {

const char* end_text(RequestEnd end) {
  switch (end) {
    case RequestEnd::Pending: return "pending";
    case RequestEnd::Finished: return "finished";
    case RequestEnd::LongerThanModel: return "longer than the longest sequence";
    case RequestEnd::LargerThanCache: return "larger than the KV cache";
    case RequestEnd::LargerThanBudget: return "larger than a step without chunked prefill";
    case RequestEnd::ParentRefused: return "the previous turn was refused";
  }
  return "";
}

void ScheduledStep::continue_since(double since, int64_t sequences) {
  if (sequences == 0) return;
  continued_sequences += sequences;
  if (!continued.empty() && continued.back().since == since)
    continued.back().sequences += sequences;
  else
    continued.push_back({since, sequences});
}

void ScheduledStep::clear() {
  decode_sequences = decode_context = prefill_tokens = draft_tokens = continued_sequences = 0;
  vain_sequences = 0;
  chunks.clear();
  first.clear();
  continued.clear();
  ending.clear();
  drafts.drafts = 0;
  drafts.accepted.clear();
  load_seconds = 0;
  loads_overlap = false;
}

int64_t ScheduledStep::decode(const Speculation& speculation, int32_t request, int64_t computed,
                              int64_t tokens, int64_t left) {
  ++decode_sequences;
  decode_context += computed + tokens;
  if (tokens == 1) return 1;
  draft_tokens += tokens - 1;
  const int64_t accepted = speculation.accepted(request, computed, tokens - 1);
  drafts.add(accepted);
  return std::min(1 + accepted, left);
}

void ScheduledStep::decode_in_vain(int64_t computed, int64_t tokens) {
  ++decode_sequences;
  ++vain_sequences;
  decode_context += computed + tokens;
  draft_tokens += tokens - 1;
}

std::unique_ptr<Scheduler> make_scheduler(const EngineSettings& settings, const Workload& workload,
                                          const BlockContents& contents, std::span<RequestRecord> records) {
  switch (settings.engine) {
    case EngineKind::Vllm: return std::make_unique<VllmScheduler>(settings, workload, contents, records);
    case EngineKind::Sglang: return std::make_unique<SglangScheduler>(settings, workload, contents, records);
    case EngineKind::Trtllm: return std::make_unique<TrtllmScheduler>(settings, workload, contents, records);
  }
  return nullptr;
}

RequestEnd refusal(const EngineSettings& settings, const Request& request) {
  const int64_t tokens = int64_t{request.prompt} + request.output;
  if (tokens > longest_sequence(settings)) return RequestEnd::LongerThanModel;
  // Tokens that must fit into the cache, and tokens that one step must be able to compute.
  int64_t stored = 0, step = 0, budget = 0;
  const int64_t drafts = draft_tokens(settings.speculation) + lookahead_tokens(settings.speculation);
  switch (settings.engine) {
    case EngineKind::Vllm:
      // The last token of the answer is not computed. A draft takes slots, too.
      stored = std::min(tokens - 1 + drafts, settings.max_model_len);
      // A preempted request computes its answer again.
      step = settings.enable_chunked_prefill ? 0 : tokens - 1;
      budget = settings.max_num_batched_tokens;
      break;
    case EngineKind::Sglang:
      // Admission adds a page, and demands more than it needs.
      stored = tokens + settings.sglang.page_size + 1 + drafts;
      break;
    case EngineKind::Trtllm: {
      const TrtllmSettings& s = settings.trtllm;
      stored = tokens + draft_tokens(settings.speculation);
      const bool pauses = s.capacity_scheduler_policy == CapacityPolicy::MaxUtilization;
      step = s.enable_chunked_context ? 0 : pauses ? tokens - 1 : request.prompt;
      budget = s.max_num_tokens;
      break;
    }
  }
  const int64_t block = cache_block_size(settings), usable = cache_blocks(settings);
  const int64_t most = settings.layout.most_blocks((stored + block - 1) / block,
                                                   most_step_tokens(settings) + drafts, block);
  if (usable > 0 && most > usable) return RequestEnd::LargerThanCache;
  if (step > budget) return RequestEnd::LargerThanBudget;
  return RequestEnd::Pending;
}

}  // namespace shardscape
