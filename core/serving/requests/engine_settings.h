// The settings of vLLM's scheduler, with its names and defaults.
#pragma once

#include <cstdint>
#include <optional>

#include "base/problem.h"

namespace shardscape {

enum class SchedulingPolicy : uint8_t {
  Fcfs,      // first come, first served
  Priority,  // the smallest Request::priority first, then the earliest arrival
};

// vLLM V1 (vllm/config/scheduler.py, cache.py). max_num_batched_tokens and max_num_seqs are the defaults of
// EngineArgs for small GPUs; API servers on GPUs with 70 GiB or more use 8,192 and 1,024.
struct EngineSettings {
  int64_t max_num_batched_tokens = 2048;  // the token budget of a step
  int64_t max_num_seqs = 256;             // most running sequences
  int64_t max_model_len = 32768;          // most tokens of a prompt and its answer
  int32_t block_size = 16;                // tokens of a cache block
  int64_t num_gpu_blocks = 0;             // with the null block; 0: the cache is endless
  bool enable_chunked_prefill = true;
  int64_t long_prefill_token_threshold = 0;  // most prompt tokens of a sequence in a step; 0: no limit
  bool enable_prefix_caching = true;
  SchedulingPolicy policy = SchedulingPolicy::Fcfs;
  // A waiting request starts only if all its tokens fit into the free blocks, not only its first chunk.
  bool scheduler_reserve_full_isl = true;
  // Share of the blocks that stays free when a waiting request starts. Ignored while nothing runs.
  double watermark = 0;
  // The next step is scheduled while the previous one runs.
  bool async_scheduling = true;
  friend bool operator==(const EngineSettings&, const EngineSettings&) = default;
};

// The first setting out of its range.
std::optional<Problem> check_settings(const EngineSettings& settings);

}  // namespace shardscape
