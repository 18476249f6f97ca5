// The KV cache that an engine allocates at its start: the memory that it may use, less everything else that
// it has measured in a run with the largest step (vLLM, v1/worker/gpu_worker.py, determine_available_memory).
//
// The largest step reads `max_num_batched_tokens` tokens in `max_num_seqs` prompts and samples once for each.
// SGLang gives weights and cache a share of the memory that the runtime leaves, and activations the rest
// (model_executor/model_runner.py, profile_max_num_token). TensorRT-LLM gives the cache a share of what
// weights, runtime and the largest step leave (_torch/pyexecutor/_util.py).
//
// The sampler works on the whole vocabulary in float32: it sorts the logits for top-k and top-p (vLLM,
// v1/worker/gpu_model_runner.py, _dummy_sampler_run; v1/sample/ops/topk_topp_sampler.py).
#pragma once

#include <cstdint>
#include <memory>

#include "base/plan_cache.h"
#include "design/design.h"
#include "serving/requests/engine_settings.h"

namespace shardscape {

struct CacheSettings {
  double gpu_memory_utilization = 0.9;  // of SGLang mem_fraction_static, of TensorRT-LLM
                                        // free_gpu_memory_fraction
  int64_t max_num_batched_tokens = 8192, max_num_seqs = 256, block_size = 16;
  int64_t memory_bytes = 0;  // of the accelerator; 0: what the catalogue says
  EngineKind engine = EngineKind::Vllm;
};

// Bytes of the rank with the fewest tokens.
struct CacheCapacity {
  int64_t usable = 0;          // memory of the accelerator times the share; of TensorRT-LLM all memory
  int64_t states = 0;          // weights
  int64_t activations = 0;     // peak of the largest step without its cache, or of its sampler
  int64_t runtime = 0;         // CUDA context and communicators, outside of PyTorch's allocator
  int64_t cache = 0;           // what is left; of TensorRT-LLM the share of it
  int64_t token_bytes = 0;     // cache of a token
  int64_t sequence_bytes = 0;  // states and windows of a sequence, whatever its length
  int64_t blocks = 0;          // of block_size tokens; 0: nothing is left
};

Result<CacheCapacity> cache_capacity(const Design& design, const CacheSettings& settings,
                                     std::shared_ptr<PlanCache> cache = {});

}  // namespace shardscape
