// The KV cache that an engine allocates at its start: the memory that it may use, less everything else that
// it has measured in a run with the largest step (vLLM, v1/worker/gpu_worker.py, determine_available_memory).
//
// vLLM counts memory from the start of a worker on, when the CUDA context is there (V1: init_device takes the
// first snapshot, memory_profiling counts what is added to it). So the context is not part of its share.
// Estimates of graphs, which vLLM subtracts since 0.21, are not modelled.
//
// The largest step reads `max_num_batched_tokens` tokens in `max_num_seqs` prompts and samples once for each.
// That of TensorRT-LLM is one prompt.
// SGLang gives weights and cache a share of the memory that the runtime leaves, and activations the rest
// (model_executor/model_runner.py, profile_max_num_token). TensorRT-LLM gives the cache a share of what
// weights, runtime and the largest step leave (_torch/pyexecutor/_util.py).
//
// Hybrid models:
// - vLLM divides the memory into blocks of its cache groups (cache_layers.h).
// - SGLang stores windows in a pool of their own with 0.8 times the tokens of the other layers
//   (swa_full_tokens_ratio), and gives states 0.9 / 1.9 of the memory (mamba_full_memory_ratio;
//   model_executor/ model_runner_kv_cache_mixin.py). A running request needs three states while the radix
//   cache is on (MAMBA_CACHE_SIZE_MAX_RUNNING_REQUESTS_RATIO), else one.
// - TensorRT-LLM stores all tokens of all layers, unless max_attention_window is set, and the states of
//   max_batch_size sequences.
//
// The sampler works on the whole vocabulary in float32: it sorts the logits for top-k and top-p (vLLM,
// v1/worker/gpu_model_runner.py, _dummy_sampler_run; v1/sample/ops/topk_topp_sampler.py).
#pragma once

#include <cstdint>
#include <memory>

#include "base/plan_cache.h"
#include "design/design.h"
#include "serving/engine/draft.h"
#include "serving/requests/cache_layout.h"
#include "serving/requests/engine_settings.h"

namespace shardscape {

struct CacheSettings {
  // Of SGLang mem_fraction_static, 0: as SGLang estimates it; of TensorRT-LLM free_gpu_memory_fraction.
  double gpu_memory_utilization = 0.9;
  int64_t max_num_batched_tokens = 8192, max_num_seqs = 256, block_size = 16;
  int64_t memory_bytes = 0;  // of the accelerator; 0: what the catalogue says
  EngineKind engine = EngineKind::Vllm;
  bool disable_hybrid_kv_cache_manager = false;  // of vLLM
  int64_t request_states = 1;                    // of SGLang: places for states that a running request needs
  bool caches_prefixes = true;                   // of SGLang: the radix cache is on
  bool mxfp4_use_marlin = false;                 // of vLLM
  Draft draft = {};                              // its weights and its cache are on the last stage
};

// Bytes of the rank with the fewest tokens.
struct CacheCapacity {
  int64_t usable = 0;  // memory of the accelerator times the share; of TensorRT-LLM all memory
  int64_t states = 0;  // weights, those of a draft and the padding of the engine (padded_weights.h) included
  int64_t activations = 0;  // peak of the largest step without its cache, or of its sampler
  int64_t runtime = 0;      // outside of PyTorch's allocator: communicators, and the CUDA context except vLLM
  int64_t cache = 0;        // what is left; of TensorRT-LLM the share of it
  int64_t token_bytes = 0;  // cache of a token in the layers that store every token
  int64_t sequence_bytes = 0;  // states and full windows of a sequence
  CacheLayout layout;          // of the blocks
  int64_t row_tokens = 0;      // tokens of a row of blocks: block_size, unless layers store in different ways
  int64_t block_bytes = 0;     // of a block
  int64_t replica_block_bytes = 0;  // of a block on all ranks of an attention replica
  int64_t blocks = 0;               // 0: nothing is left
  int64_t tokens = 0;       // as the engine prints: those that sequences can store, if none left its window
  int64_t sequences = 0;    // the most running sequences, because of their states; 0: no limit
  int64_t state_slots = 0;  // of SGLang: states that the cache holds; 0: the model has none
};

// The layout of the blocks: layout, row_tokens, token_bytes, sequence_bytes and the bytes of a block, of the
// stage with the largest block.
Result<CacheCapacity> cache_storage(const Design& design, const CacheSettings& settings,
                                    std::shared_ptr<PlanCache> cache = {});
// All members.
Result<CacheCapacity> cache_capacity(const Design& design, const CacheSettings& settings,
                                     std::shared_ptr<PlanCache> cache = {});

}  // namespace shardscape
