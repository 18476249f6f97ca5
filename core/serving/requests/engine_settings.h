// The settings of a serving engine's scheduler, with the names and defaults of vLLM, SGLang and TensorRT-LLM.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/problem.h"
#include "serving/requests/cache_layout.h"
#include "serving/requests/kv_tiers.h"

namespace shardscape {

enum class EngineKind : uint8_t { Vllm, Sglang, Trtllm };
inline constexpr const char* kEngineIds[] = {"vllm", "sglang", "trtllm"};
const char* engine_name(EngineKind kind);  // "vLLM"

enum class SchedulingPolicy : uint8_t {
  Fcfs,      // first come, first served
  Priority,  // the smallest Request::priority first, then the earliest arrival
};

// SGLang (python/sglang/srt/server_args.py, commit 00550cd1). context_len is --context-length, which is a
// setting of designs, too. chunked_prefill_size is the default for GPUs with 60 to 160 GiB,
// max_running_requests the least one that SGLang derives from the size of the cache. page_size is 1 unless
// the attention backend needs more (FlashMLA 64, TensorRT-LLM's MLA 32 or 64).
enum class SglangPolicy : uint8_t {
  Fcfs,  // first come, first served
  Lpm,   // longest cached prefix first
};
// At which tokens the radix cache stores the states of mixers (arg_groups/overrides.py,
// _mamba_radix_cache_resolution: extra_buffer is the choice of "auto" for the models that support it).
enum class StateStrategy : uint8_t {
  ExtraBuffer,  // at the last multiple of 64 tokens of a chunk, and of 256 tokens of an answer
  NoBuffer,     // at the end of each chunk and each answer; pages of one token, no overlap
};
struct SglangSettings {
  int64_t context_len = 32768;          // most tokens of a prompt and its answer
  int64_t max_total_tokens = 0;         // of the cache; 0: the cache is endless
  int64_t max_running_requests = 2048;  // most running sequences; stages of a pipeline share them
  int64_t max_prefill_tokens = 16384;   // of a prefill batch
  int64_t chunked_prefill_size = 8192;  // most prompt tokens of a step; -1: prompts are not cut
  bool enable_mixed_chunk = false;      // prefill batches contain the decode sequences
  SglangPolicy schedule_policy = SglangPolicy::Fcfs;
  double schedule_conservativeness = 1;  // factor of the reserved share of an answer
  bool disable_radix_cache = false;
  bool disable_overlap_schedule = false;  // no step is scheduled while the previous one runs
  int64_t scheduler_recv_interval = 1;    // most decode steps in a row without a look at new requests
  int32_t page_size = 1;                  // tokens of a page of the cache
  int64_t max_mamba_cache_size = 0;       // states of mixers that the cache holds; 0: the model has none
  StateStrategy mamba_radix_cache_strategy = StateStrategy::ExtraBuffer;
  friend bool operator==(const SglangSettings&, const SglangSettings&) = default;
};

// TensorRT-LLM (tensorrt_llm/llmapi/llm_args.py). enable_chunked_context is enable_chunked_prefill of its LLM
// API; max_tokens, tokens_per_block and enable_block_reuse belong to KvCacheConfig; enable_balance,
// timeout_iters and batching_wait_iters to AttentionDpConfig (context_waits.h).
enum class CapacityPolicy : uint8_t { GuaranteedNoEvict, MaxUtilization, StaticBatch };
enum class ChunkingPolicy : uint8_t { FirstComeFirstServed, EqualProgress };
struct TrtllmSettings {
  int64_t max_seq_len = 32768;     // most tokens of a prompt and its answer
  int64_t max_batch_size = 2048;   // most sequences of a step
  int64_t max_num_tokens = 8192;   // the token budget of a step
  int64_t max_tokens = 0;          // of the cache; 0: the cache is endless
  int32_t tokens_per_block = 32;   // tokens of a cache block
  bool enable_block_reuse = true;  // prefix cache
  CapacityPolicy capacity_scheduler_policy = CapacityPolicy::GuaranteedNoEvict;
  bool enable_chunked_context = false;
  ChunkingPolicy context_chunking_policy = ChunkingPolicy::FirstComeFirstServed;
  bool disable_overlap_scheduler = false;                // no step is scheduled while the previous one runs
  bool enable_balance = false;                           // prompts wait for those of other attention replicas
  int64_t timeout_iters = 50, batching_wait_iters = 10;  // steps
  int64_t batch_wait_timeout_iters = 0;                  // steps; without attention replicas
  double batch_wait_max_tokens_ratio = 0;                // share of max_num_tokens
  friend bool operator==(const TrtllmSettings&, const TrtllmSettings&) = default;
};

// Speculative decoding, of all engines. The methods have the names of vLLM (vllm/config/speculative.py).
enum class SpeculativeMethod : uint8_t {
  None,
  Mtp,        // the module for multi-token prediction of the model
  Eagle,      // a layer that is trained for the model: EAGLE, EAGLE-3
  Ngram,      // tokens that followed the last ones earlier in the text; no computation
  DraftModel  // a smaller model
};
inline constexpr int64_t kMostSpeculativeTokens = 16;
struct SpeculativeSettings {
  SpeculativeMethod method = SpeculativeMethod::None;
  int64_t num_speculative_tokens = 1;  // draft tokens of a sequence in each step
  // Share of the drafts whose token is accepted, for each position. A single rate is that of the first token;
  // every further token is then accepted with the same probability, given those before it.
  std::vector<double> acceptance{0.7};
  int64_t seed = 0;  // of the draws
  friend bool operator==(const SpeculativeSettings&, const SpeculativeSettings&) = default;
};
// Rates of the positions (speculation.h); empty without speculative decoding. The settings are valid.
std::vector<double> acceptance_rates(const SpeculativeSettings& settings);
// Draft tokens of a sequence in each step; 0 without speculative decoding.
int64_t draft_tokens(const SpeculativeSettings& settings);
// Slots of the cache that the module which proposes the tokens takes for each sequence (vLLM,
// v1/core/sched/scheduler.py, num_lookahead_tokens; SGLang, managers/scheduler.py,
// decode_mem_cache_buf_multiplier). 0 for n-grams.
int64_t lookahead_tokens(const SpeculativeSettings& settings);

// What an engine does with requests. Prefill and Decode: disaggregated serving.
enum class EngineRole : uint8_t {
  Combined,
  Prefill,  // computes prompts; keeps their blocks until they are transferred
  Decode,   // receives the blocks of prompts and generates the answers
};

// Values without a struct belong to vLLM V1 (vllm/config/scheduler.py, cache.py). max_num_batched_tokens and
// max_num_seqs are the defaults of EngineArgs for small GPUs; API servers on GPUs with 70 GiB or more use
// 8,192 and 1,024.
struct EngineSettings {
  EngineKind engine = EngineKind::Vllm;
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
  bool disable_hybrid_kv_cache_manager = false;  // layers with a window store all tokens
  bool mxfp4_use_marlin = false;  // kernels of experts in MXFP4; decides on the size of the cache
  // The next step is scheduled while the previous one runs.
  bool async_scheduling = true;
  SglangSettings sglang;
  TrtllmSettings trtllm;
  SpeculativeSettings speculation;
  // The layout of the engine, for all kinds.
  int32_t pipeline_stages = 1;  // as many steps are in flight
  int32_t attention_dp = 1;     // data-parallel replicas that share experts and step together
  EngineRole role = EngineRole::Combined;
  CacheLayout layout;       // of vLLM's cache; block_size is the tokens of a row
  CacheTierSettings tiers;  // sizes in cache blocks; of SGLang in pages
  friend bool operator==(const EngineSettings&, const EngineSettings&) = default;
};

// The first setting of the engine out of its range.
std::optional<Problem> check_settings(const EngineSettings& settings);

// Values that each kind of engine has under a name of its own.
int64_t allocated_blocks(const EngineSettings& settings);  // of the cache, vLLM's null block included
int64_t cache_blocks(const EngineSettings& settings);      // that sequences can use; 0: endless
void set_cache_tokens(EngineSettings& settings, int64_t tokens);
int32_t cache_block_size(const EngineSettings& settings);  // tokens
bool caches_prefixes(const EngineSettings& settings);
int64_t longest_sequence(const EngineSettings& settings);  // tokens of a prompt and its answer
int64_t most_sequences(const EngineSettings& settings);    // running at once
int64_t most_step_tokens(const EngineSettings& settings);
// Whether the engine schedules a step while the previous one runs. States without a buffer forbid it.
bool overlaps(const SglangSettings& settings);
// Places for states of mixers that a running request needs: three with the radix cache, of which prefixes can
// use two, and two with overlap or one without as the buffer (model_executor/model_runner_kv_cache_mixin.py,
// MAMBA_CACHE_SIZE_MAX_RUNNING_REQUESTS_RATIO, MAMBA_CACHE_V2_ADDITIONAL_RATIO_OVERLAP and _NO_OVERLAP).
int64_t request_states(const SglangSettings& settings);
// Whether the engine schedules a step while the previous one runs, without pipeline stages.
bool schedules_ahead(const EngineSettings& settings);
// Steps that are scheduled and have not ended: one for each stage of a pipeline; without a pipeline two if
// the engine schedules a step while the previous one runs (vLLM, max_concurrent_batches).
int32_t steps_in_flight(const EngineSettings& settings);

}  // namespace shardscape
