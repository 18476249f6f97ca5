// A cache of results that many designs share: graphs, step models, gradient-sync plans, seconds and memory of
// segments, orders of schedules. Each owner of many plans has its own cache: the window's session, a search,
// a command. Two caches never influence each other.
//
// A cache kind and the words of a key identify a value. A key contains everything that the value depends on,
// so results do not depend on earlier computations. The size is bounded in bytes; the least recently used
// values are evicted. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace shardscape {

// Kinds of values. Each kind stands for one C++ type.
enum class CacheKind : uint8_t {
  Segments,  // segments of a graph
  Graph,
  StepModel,
  BoundModel,       // the step model of bound plans
  SyncBasis,        // inputs of gradient-sync plans
  SyncParts,        // gradient sync of a stage shape
  GradientProgram,  // sizes of gradients that a step allocates and frees
  StateShape,       // expressions of the states of a stage shape
  StageStates,      // parameters, gradients and optimizer states of a stage
  SyncPlan,
  Lifetimes,        // lifetimes of the storages of a graph
  MemoryTable,      // bytes of these lifetimes in a bound graph
  PeakCandidates,   // peak candidates of a stage's schedule
  StagePeaks,       // peaks of all stages above the bytes that are always allocated
  CompiledOps,      // compiled expressions of the ops of a graph
  LayerSeconds,     // layer times of a bound graph on a machine
  ActionOrder,      // order of the actions of a schedule
  WarmUp,           // the start of a steady-state simulation
  ZeroBubbleOrders  // orders that the zb-auto search found
};

// The words that determine a value, in an order that the caller fixes.
class CacheKey {
 public:
  CacheKey() { words_.reserve(kUsualWords); }
  void add(int64_t word) { words_.push_back(word); }
  void add(double word) { words_.push_back(static_cast<int64_t>(std::bit_cast<uint64_t>(word))); }
  void add(std::string_view text);
  std::span<const int64_t> words() const { return words_; }
  uint64_t hash(CacheKind kind) const;

 private:
  static constexpr size_t kUsualWords = 48;
  std::vector<int64_t> words_;
};

class PlanCache {
 public:
  static constexpr size_t kUsualBytes = size_t{256} << 20;
  explicit PlanCache(size_t bytes = kUsualBytes) : bytes_(bytes) {}
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;

  // make() returns a shared_ptr<const T>; null (stopped or failed) is returned and not cached. bytes(const
  // T&): approximate memory of the value. If two threads make the same value at the same time, the first
  // stored value wins.
  template <typename T, typename Make, typename Bytes>
  std::shared_ptr<const T> get(CacheKind kind, const CacheKey& key, const Make& make, const Bytes& bytes) {
    if (auto found = find(kind, key)) return std::static_pointer_cast<const T>(std::move(found));
    std::shared_ptr<const T> made = make();
    if (!made) return nullptr;
    const size_t weight = bytes(*made);
    return std::static_pointer_cast<const T>(keep(kind, key, std::move(made), weight));
  }

  // A number that is unique in this cache: a short key for a value that other keys depend on.
  int64_t next_serial() { return ++serial_; }
  size_t size() const;   // number of values
  size_t bytes() const;  // approximate memory of all values

 private:
  using Value = std::shared_ptr<const void>;
  struct Entry {
    CacheKind kind;
    std::vector<int64_t> words;
    Value value;
    size_t bytes;
  };
  using Map = std::unordered_multimap<uint64_t, Entry>;
  // Two generations. A hit moves a value into the young generation. A full young generation becomes the old
  // one, and the previous old generation is evicted.
  struct Shard {
    mutable std::mutex mutex;
    Map young, old;
    uint64_t generation = 0;
  };
  static constexpr size_t kShards = 16;

  Shard& shard_of(uint64_t hash) { return shards_[hash >> 56 & (kShards - 1)]; }
  Value find(CacheKind kind, const CacheKey& key);
  Value keep(CacheKind kind, const CacheKey& key, Value value, size_t bytes);
  Value find_in(Shard& shard, CacheKind kind, const CacheKey& key, uint64_t hash);
  void age(Shard& shard, Map& dropped) const;
  void grow(size_t bytes);

  const size_t bytes_;
  std::atomic<int64_t> serial_{0};
  std::atomic<uint64_t> generation_{0};
  std::atomic<size_t> young_bytes_{0};
  std::array<Shard, kShards> shards_;
};

}  // namespace shardscape
