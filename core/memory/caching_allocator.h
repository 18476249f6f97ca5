// A model of PyTorch's caching allocator on one device: it splits, joins and caches blocks. Sizes are in
// bytes.
//
// The model follows c10/cuda/CUDACachingAllocator.cpp (PyTorch 2.6, DeviceCachingAllocator) with default
// settings, for the compute stream and one side stream, without CUDA graphs:
// - Sizes are multiples of 512 bytes. Blocks of at most 1 MiB come from the pool of small blocks.
// - An allocation takes the smallest sufficient free block and splits off the remainder. In the large pool
// only remainders above 1 MiB are split off. Free neighbours are joined.
// - On a full device, all segments without a live block are released and the allocation is tried again.
// - Native segments are results of cudaMalloc: 2 MiB for small blocks, 20 MiB for blocks below 10 MiB,
// otherwise the size in whole 2 MiB.
// - Expandable segments (expandable_segments:True) are one address range per pool. Pages of 2 MiB (small
// blocks) or 20 MiB are mapped at the end of the range or in released gaps. A remainder is always split off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

namespace shardscape {

enum class SegmentMode : uint8_t { Native, Expandable };

class CachingAllocator {
 public:
  using Block = int32_t;
  struct Range {
    int64_t begin = 0, bytes = 0;
  };

  // capacity: bytes of the device that segments may use; 0: unlimited.
  explicit CachingAllocator(SegmentMode mode, int64_t capacity = 0);
  // If the device is too small even with an empty cache, the segment is made anyway and refused() increases.
  // side: the block belongs to the side stream, which has its own pools.
  Block allocate(int64_t bytes, bool side = false);
  void free(Block block);

  int64_t allocated() const { return allocated_; }
  int64_t reserved() const { return reserved_; }
  int64_t largest_free() const;  // largest cached block
  int64_t free_blocks() const {
    return static_cast<int64_t>(pools_[0].free.size() + pools_[1].free.size() + pools_[2].free.size() +
                                pools_[3].free.size());
  }
  int64_t retries() const { return retries_; }  // allocations that released cached segments
  // Allocations that failed even with an empty cache: PyTorch would raise an out-of-memory error.
  int64_t refused() const { return refused_; }
  Range range(Block block) const;  // address range; ranges of different segments never touch

 private:
  static constexpr Block kNone = -1;
  struct Kind {
    bool small = false, side = false;
  };
  struct Node {
    int64_t begin = 0, size = 0;
    Block before = kNone, after = kNone;  // neighbours in the segment
    bool used = false, mapped = true;
    Kind kind{};
  };
  using Key = std::tuple<int64_t, int64_t, Block>;  // size, address, block
  struct Pool {
    std::set<Key> free;                            // cached blocks
    std::set<std::pair<int64_t, Block>> unmapped;  // expandable: addresses without pages
  };

  Pool& pool(Kind kind) { return pools_[(kind.small ? 0 : 1) + (kind.side ? 2 : 0)]; }
  Node& at(Block block) { return nodes_[static_cast<std::size_t>(block)]; }
  const Node& at(Block block) const { return nodes_[static_cast<std::size_t>(block)]; }
  Key key(Block block) const { return {at(block).size, at(block).begin, block}; }
  Block make(Node node);
  void drop(Block block);
  void cache(Block block) { pool(at(block).kind).free.insert(key(block)); }
  Block cached(Kind kind, int64_t size);
  Block fresh(Kind kind, int64_t size, bool ignore_capacity);
  Block expanded(Kind kind, int64_t size, bool ignore_capacity);
  Block expandable(Kind kind, int64_t size);
  bool map(Block block, int64_t size, bool ignore_capacity);
  void unmap(Block block);
  void join(Block block, Block neighbour);
  Block cut(Block block, int64_t size);  // returns the block after the cut
  void release_cached_segments();
  bool room_for(int64_t bytes) const { return capacity_ == 0 || reserved_ + bytes <= capacity_; }

  SegmentMode mode_;
  int64_t capacity_;
  int64_t allocated_ = 0, reserved_ = 0, retries_ = 0, refused_ = 0, next_address_ = 0;
  Pool pools_[4];
  std::vector<Node> nodes_;
  std::vector<Block> dropped_;
};

}  // namespace shardscape
