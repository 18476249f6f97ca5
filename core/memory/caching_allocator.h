// PyTorch's caching allocator on one device, as it hands out, splits, joins and caches blocks: what tensors
// make it reserve. Bytes. By behaviour of c10/cuda/CUDACachingAllocator.cpp (PyTorch 2.6,
// DeviceCachingAllocator) with its default settings, on the stream of compute and one beside it, without
// graphs: sizes in blocks of 512 bytes; blocks of at most 1 MiB from a pool of small ones; the smallest free
// block that suffices; of what is left over a block of its own (in the large pool where that is more than 1
// MiB); free neighbours joined; and where the device is full, all segments without a live block given back
// and the allocation tried again. Native segments are what cudaMalloc returned: 2 MiB for small blocks, 20
// MiB for those below 10 MiB, else the size in whole 2 MiB. Expandable ones (expandable_segments:True) are
// one range of addresses for each pool, which gets pages of 2 MiB (small blocks) or 20 MiB at its end, or
// where it has given some back; what is left over of a block is always split off.
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

  // capacity: bytes of the device that segments may take; 0: no end of them.
  explicit CachingAllocator(SegmentMode mode, int64_t capacity = 0);
  // Where the device is too small, even with nothing cached, the segment is made all the same (refused()
  // counts). side: on another stream than that of compute, which has pools of its own.
  Block allocate(int64_t bytes, bool side = false);
  void free(Block block);

  int64_t allocated() const { return allocated_; }
  int64_t reserved() const { return reserved_; }
  int64_t largest_free() const;  // of the cached blocks
  int64_t free_blocks() const {
    return static_cast<int64_t>(pools_[0].free.size() + pools_[1].free.size() + pools_[2].free.size() +
                                pools_[3].free.size());
  }
  int64_t retries() const { return retries_; }  // allocations for which cached segments were given back
  int64_t refused() const { return refused_; }  // for which that did not help: the program would have stopped
  Range range(Block block) const;               // addresses of different segments do not touch

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
  using Key = std::tuple<int64_t, int64_t, Block>;  // size, address
  struct Pool {
    std::set<Key> free;                            // cached
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
  Block fresh(Kind kind, int64_t size, bool at_all_costs);
  Block expanded(Kind kind, int64_t size, bool at_all_costs);
  Block expandable(Kind kind, int64_t size);
  bool map(Block block, int64_t size, bool at_all_costs);
  void unmap(Block block);
  void join(Block block, Block neighbour);
  Block cut(Block block, int64_t size);  // the rest behind it
  void give_back();
  bool room_for(int64_t bytes) const { return capacity_ == 0 || reserved_ + bytes <= capacity_; }

  SegmentMode mode_;
  int64_t capacity_;
  int64_t allocated_ = 0, reserved_ = 0, retries_ = 0, refused_ = 0, next_address_ = 0;
  Pool pools_[4];
  std::vector<Node> nodes_;
  std::vector<Block> dropped_;
};

}  // namespace shardscape
