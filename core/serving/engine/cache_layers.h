// What the layers of a model store of a sequence, by kind of storage, and the groups that vLLM makes of them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/problem.h"
#include "plan/report.h"
#include "serving/requests/cache_layout.h"

namespace shardscape {

// Layers that store equally. Bytes are those of one layer on one rank.
struct CacheLayers {
  int64_t token_bytes = 0;      // of a stored token; 0: states
  int64_t window = 0;           // tokens that are stored at most; 0: all
  bool chunked = false;         // the window is a chunk
  int64_t state_bytes = 0;      // of a sequence
  std::vector<int64_t> layers;  // of each pipeline stage
  int64_t total() const;
  bool stores_like(const CacheLayers& other) const;  // whatever the numbers of layers
};

// The storage of all layers, read from the graph. The report is valid, its mode decode; its context exceeds
// every window. The layers of a kind that store tokens in several ways count once for each.
Result<std::vector<CacheLayers>> cache_layers(const Report& decode);

// The groups of vLLM (v1/core/kv_cache_utils.py, get_kv_cache_groups).
struct CacheGroups {
  CacheLayout layout;
  int64_t row_tokens = 0;
  int64_t groups = 1;                // for the tokens that vLLM prints: blocks / groups x tokens of a block
  int64_t block_tokens = 0;          // of the smallest block
  std::vector<int64_t> block_bytes;  // on a rank of each stage
};
// block_size: the setting. With states, blocks of attention are at least as large as a state
// (model_executor/models/config.py, HybridAttentionMambaModelConfig): a multiple of 16 tokens.
CacheGroups cache_groups(const std::vector<CacheLayers>& layers, int64_t block_size);

}  // namespace shardscape
