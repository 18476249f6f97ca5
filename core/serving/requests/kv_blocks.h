// The blocks of a KV cache with prefix caching, as vLLM V1 manages them (vllm/v1/core/block_pool.py).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "serving/requests/block_contents.h"

namespace shardscape {

// From contents (BlockContents) to blocks. Pages exist only where a content is cached, so the memory follows
// the size of the cache and not the length of the run.
class ContentTable {
 public:
  explicit ContentTable(int32_t contents = 0);
  int32_t find(int32_t content) const {  // -1: none
    const int32_t page = page_of_[static_cast<size_t>(content >> kBits)];
    return page < 0 ? -1 : pages_[static_cast<size_t>(page)][static_cast<size_t>(content & kMask)];
  }
  void set(int32_t content, int32_t block);  // -1 removes

 private:
  static constexpr int32_t kBits = 7, kMask = (1 << kBits) - 1;
  std::vector<int32_t> page_of_;
  std::vector<std::array<int32_t, 1 << kBits>> pages_;
  std::vector<int32_t> used_;  // contents of each page
  std::vector<int32_t> free_pages_;
};

// Every operation takes constant time per block. Blocks that no sequence uses are free; they keep their
// content until they are given out. The free list is least recently used first. A sequence frees its last
// blocks first, so the start of a prompt stays longest. Block 0 is vLLM's null block, which is never given
// out.
class KvBlocks {
 public:
  // num_blocks includes the null block; 0: endless. contents: outlives the object.
  KvBlocks(int64_t num_blocks, const BlockContents& contents);

  bool endless() const { return usable_ == 0; }
  int64_t usable() const { return usable_; }  // blocks of an endless cache: 0
  int64_t in_use() const { return in_use_; }
  int64_t peak_in_use() const { return peak_; }
  bool has_free(int64_t blocks) const { return endless() || usable_ - in_use_ >= blocks; }

  // The cached blocks at the start of a request, and how many of them are free.
  struct Hits {
    int32_t blocks = 0;
    int32_t free = 0;
  };
  // At most `most` blocks.
  Hits hits(int32_t request, int32_t most) const;

  using Table = std::vector<int32_t>;  // the blocks of a sequence in order
  void take_hits(int32_t request, int32_t blocks, Table& table);
  // Appends blocks that are not cached. has_free(blocks) holds.
  void take(int64_t blocks, Table& table);
  // Blocks [from, to) of the table are full: later requests find them. Nothing if prefix caching is off, or
  // for blocks that are published already.
  void publish(int32_t request, const Table& table, int32_t from, int32_t to);
  // Frees all blocks and clears the table. Contents of blocks from `private_from` on are forgotten, because
  // nobody asks for them again; their place in the free list does not depend on it.
  void release(Table& table, int32_t private_from);

 private:
  struct Block {
    int32_t previous = 0, next = 0;  // of the free list; block 0 is its head
    int32_t users = 0;
    int32_t content = -1;
    // Ring of the blocks with the same content, in the order of their publication.
    int32_t twin_before = 0, twin_after = 0;
  };
  Block& at(int32_t block) { return blocks_[static_cast<size_t>(block)]; }
  const Block& at(int32_t block) const { return blocks_[static_cast<size_t>(block)]; }
  void unlink(int32_t block);
  void link_before(int32_t place, int32_t block);
  void forget(int32_t block);
  int32_t unused_block();

  const BlockContents* contents_;
  int64_t usable_, in_use_ = 0, peak_ = 0;
  std::vector<Block> blocks_;  // those that were ever given out; others come before the free list
  ContentTable table_;
};

}  // namespace shardscape
