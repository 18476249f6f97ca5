// How the layers of a model share the blocks of a KV cache.
#pragma once

#include <cstdint>
#include <vector>

namespace shardscape {

// vLLM V1 gives the layers of a model block tables by groups (v1/core/kv_cache_utils.py,
// _get_kv_cache_groups_uniform_page_size): groups have equally many layers that store in the same way, and a
// block has the same bytes in every group, so all groups take their blocks from one pool. A *row* holds the
// same tokens in all groups.
//
// - Layers that store every token: a sequence of n tokens has ceil(n / tokens of a row) rows.
// - Layers with a window or a chunk: rows that no later token reads are freed
// (single_type_kv_cache_manager.py,
//   remove_skipped_blocks).
// - Layers with states: a sequence has one block in each group (MambaManager, mamba_cache_mode none).
struct CacheWindow {
  int64_t tokens = 0;    // of the window or chunk
  bool chunked = false;  // queries read the tokens of their own chunk
  int32_t blocks = 0;    // of a row, over the groups with this window
  friend bool operator==(const CacheWindow&, const CacheWindow&) = default;
};
struct CacheLayout {
  int32_t full = 1;  // blocks of a row in the groups that store every token
  std::vector<CacheWindow> windows;
  int32_t states = 0;  // blocks of a sequence, whatever its length
  // Whether requests can reuse the rows of others. With states of mixers they cannot: the states of a prefix
  // are not stored.
  bool prefixes = true;
  friend bool operator==(const CacheLayout&, const CacheLayout&) = default;

  int64_t row_blocks() const;  // of a row in all groups
  // Rows at the start of a sequence that no query after `computed` tokens reads in the window.
  static int64_t skipped_rows(const CacheWindow& window, int64_t computed, int64_t row_tokens);
  // Blocks of a sequence with `rows` rows whose first `computed` tokens are computed.
  int64_t blocks(int64_t rows, int64_t computed, int64_t row_tokens) const;
  // The most blocks of a sequence of `rows` rows whose steps compute at most `step` tokens: groups with
  // windows free rows before each step (kv_cache_interface.py, max_admission_blocks_per_request).
  int64_t most_blocks(int64_t rows, int64_t step, int64_t row_tokens) const;
};

}  // namespace shardscape
