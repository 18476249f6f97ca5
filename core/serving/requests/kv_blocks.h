// The blocks of a KV cache with prefix caching, as vLLM V1 manages them (vllm/v1/core/block_pool.py,
// kv_cache_coordinator.py).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "serving/requests/block_contents.h"
#include "serving/requests/cache_layout.h"
#include "serving/requests/content_table.h"
#include "serving/requests/kv_tiers.h"

namespace shardscape {

// A sequence has rows of tokens (CacheLayout). A row has one unit of blocks in the groups that store every
// token, and one for each window; blocks of a unit come and go together. Without windows and states, a row is
// a block.
//
// Every operation takes constant time per unit. Units that no sequence uses are free; they keep their content
// until their blocks are given out. The free list is least recently used first. A sequence frees its last
// rows first, so the start of a prompt stays longest. Block 0 is vLLM's null block, which is never given
// out. Contents that are evicted go to the lower tiers.
class KvBlocks {
 public:
  // num_blocks includes the null block; 0: endless. contents: of rows; outlives the object. row_tokens: of a
  // row.
  KvBlocks(int64_t num_blocks, const BlockContents& contents, CacheLayout layout = {}, int64_t row_tokens = 1,
           const CacheTierSettings& tiers = {});

  bool endless() const { return usable_ == 0; }
  int64_t usable() const { return usable_; }  // blocks of an endless cache: 0
  int64_t in_use() const { return in_use_; }
  int64_t peak_in_use() const { return peak_; }
  bool has_free(int64_t blocks) const { return endless() || usable_ - in_use_ >= blocks; }
  const KvTiers& tiers() const { return tiers_; }

  // The rows of a sequence in order. Rows outside of a window are 0 in the list of the window.
  struct Table {
    std::vector<int32_t> rows;  // 0 if no group stores every token
    std::vector<std::vector<int32_t>> windows;
    std::vector<int32_t> skipped;  // rows at the start that a window no longer has
    int32_t states = 0;            // unit of the sequence; 0: none
    int64_t size() const { return static_cast<int64_t>(rows.size()); }
  };

  // The cached rows at the start of a request.
  struct Hits {
    int32_t rows = 0;
    int64_t held = 0;                                // blocks of these rows on the device
    int64_t free = 0;                                // of these: in the free list
    std::array<int32_t, kCacheTiers> tier_rows{};    // rows that are loaded from a lower tier
    std::array<int64_t, kCacheTiers> tier_blocks{};  // blocks that are loaded
  };
  double load_seconds(const Hits& hits) const;  // of its rows in lower tiers
  // At most `most` rows. A row counts if all groups that read it later have it: of a window only the last
  // rows (kv_cache_coordinator.py, find_longest_cache_hit). tiers: also rows of lower tiers count.
  Hits hits(int32_t request, int32_t most, bool tiers = true) const;

  // Blocks that a sequence has to take to have so many rows.
  int64_t missing(const Table& table, int64_t rows) const {
    const int64_t more = rows > table.size() ? rows - table.size() : 0;
    return more * row_blocks_ + (table.states == 0 ? layout_.states : 0);
  }
  // Blocks that have to be free for a request to start: of all its rows if `whole`, in steps of at most
  // `step` tokens; otherwise of its first step.
  int64_t needed(const Hits& hits, int64_t rows, bool whole, int64_t step) const;

  // Takes blocks from lower tiers, too: as many of them as hits() said have to be free.
  void take_hits(int32_t request, int32_t rows, Table& table);
  // Appends rows that are not cached, and takes the states. has_free(missing) holds.
  void take(int64_t rows, Table& table);
  // Frees the rows that no window reads after `computed` tokens.
  void skip(int64_t computed, Table& table);
  // Rows [from, to) of the table are full: later requests find them. Nothing if prefix caching is off, or
  // for rows that are published already.
  void publish(int32_t request, const Table& table, int32_t from, int32_t to);
  // Frees all blocks and clears the table. Contents of rows from `private_from` on are forgotten, because
  // nobody asks for them again; their place in the free list does not depend on it.
  void release(Table& table, int32_t private_from);

 private:
  static constexpr int32_t kEmpty = -1, kPrivate = -2;  // contents: none, and one that nobody asks for
  struct Unit {
    int32_t previous = 0, next = 0;  // of the free list; unit 0 is its head
    int32_t users = 0;
    int32_t content = kEmpty;
    int32_t blocks = 1;
    // Ring of the units with the same content, in the order of their publication.
    int32_t twin_before = 0, twin_after = 0;
  };
  Unit& at(int32_t unit) { return units_[static_cast<size_t>(unit)]; }
  const Unit& at(int32_t unit) const { return units_[static_cast<size_t>(unit)]; }
  void unlink(int32_t unit);
  void link_before(int32_t place, int32_t unit);
  void forget(int32_t unit);
  void evict(int32_t unit);
  int32_t new_unit(int32_t blocks);
  int32_t take_content(int32_t content, int32_t blocks);
  void publish_unit(int32_t unit, int32_t content);
  void release_unit(int32_t unit, bool is_private);
  void count(Hits& hits, int32_t content, int32_t blocks, bool first_group) const;
  int32_t window_hits(int32_t request, size_t window, int32_t rows, bool tiers) const;
  int32_t first_content(size_t window) const {  // of the contents of a window
    return contents_->contents() * static_cast<int32_t>(window + 1);
  }
  bool cached(int32_t content, bool tiers) const {
    return table_.find(content) >= 0 || (tiers && tiers_.find(content) >= 0);
  }

  const BlockContents* contents_;
  CacheLayout layout_;
  int64_t row_tokens_, row_blocks_;
  int64_t usable_, in_use_ = 0, peak_ = 0;
  int64_t empty_;            // free blocks that are in no unit
  std::vector<Unit> units_;  // those that were ever given out
  std::vector<int32_t> spare_;
  ContentTable table_;
  KvTiers tiers_;
};

}  // namespace shardscape
