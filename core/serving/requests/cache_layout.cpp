#include "serving/requests/cache_layout.h"

#include <algorithm>

namespace shardscape {

int64_t CacheLayout::row_blocks() const {
  int64_t out = full;
  for (const CacheWindow& window : windows) out += window.blocks;
  return out;
}

int64_t CacheLayout::skipped_rows(const CacheWindow& window, int64_t computed, int64_t row_tokens) {
  // The next query is that of token `computed`.
  const int64_t first = window.chunked ? computed / window.tokens * window.tokens
                                       : computed - window.tokens + 1;
  return std::max<int64_t>(0, first) / row_tokens;
}

int64_t CacheLayout::blocks(int64_t rows, int64_t computed, int64_t row_tokens) const {
  int64_t out = full * rows + states;
  for (const CacheWindow& window : windows)
    out += window.blocks * (rows - std::min(rows, skipped_rows(window, computed, row_tokens)));
  return out;
}

int64_t CacheLayout::most_blocks(int64_t rows, int64_t step, int64_t row_tokens) const {
  int64_t out = full * rows + states;
  for (const CacheWindow& window : windows) {
    // What a step reads can begin inside of a row, unless chunks have whole rows.
    const bool whole = window.chunked && window.tokens % row_tokens == 0;
    const int64_t tokens = window.tokens + step - (window.chunked ? 0 : 1);
    const int64_t most = (tokens + row_tokens - 1) / row_tokens + !whole;
    out += window.blocks * std::min(rows, most);
  }
  return out;
}

}  // namespace shardscape
