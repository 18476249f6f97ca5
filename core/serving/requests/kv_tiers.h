// Tiers of a KV cache below the memory of the device: host memory, then disk.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "serving/requests/content_table.h"

namespace shardscape {

enum class CacheTier : uint8_t { Host, Disk };
inline constexpr size_t kCacheTiers = 2;

// Sizes in cache blocks, and the seconds that a block takes to the device. 0 blocks: there is no such tier.
struct CacheTierSettings {
  std::array<int64_t, kCacheTiers> blocks{};
  std::array<double, kCacheTiers> block_seconds{};
  bool any() const { return blocks[0] > 0 || blocks[1] > 0; }
  friend bool operator==(const CacheTierSettings&, const CacheTierSettings&) = default;
};

// A tier holds what the tier above has evicted, the least recently evicted first out. This is the rule of
// TensorRT-LLM (cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp, offload to secondary blocks) and of SGLang
// with hicache_write_policy write_back (mem_cache/hiradix_cache.py). vLLM's OffloadingConnector and SGLang's
// write_through copy blocks as soon as they are computed, so the host also holds what the device holds. With
// LRU on both levels that equals this rule with a host that is smaller by the size of the device.
class KvTiers {
 public:
  // contents: numbers of contents are below.
  KvTiers(const CacheTierSettings& settings, int32_t contents);

  bool any() const { return settings_.any(); }
  // The tier of a content: 0 is Host. -1: none.
  int find(int32_t content) const;
  // A block that the device evicts, of so many cache blocks. content -1: nobody asks for it again.
  void insert(int32_t content, int32_t blocks);
  void remove(int32_t content);  // it is loaded
  int64_t in_use(CacheTier tier) const { return levels_[static_cast<size_t>(tier)].used; }
  double block_seconds(size_t tier) const { return settings_.block_seconds[tier]; }

 private:
  struct Entry {
    int32_t content = -1, blocks = 0;
    int32_t before = 0, after = 0;
  };
  struct Level {
    std::vector<Entry> entries = std::vector<Entry>(1);  // ring from the oldest; entry 0 is its head
    std::vector<int32_t> spare;
    ContentTable places;
    int64_t used = 0;
  };
  void erase(Level& level, int32_t entry);

  CacheTierSettings settings_;
  std::array<Level, kCacheTiers> levels_;
};

}  // namespace shardscape
