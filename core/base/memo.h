// Values made once per key and shared between threads; what was not asked for longest goes when there are too many.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace shardscape {

// The numbers that a value depends on, in an order that its maker fixes.
class MemoKey {
 public:
  void clear() { words_.clear(); }
  void add(int64_t word) { words_.push_back(word); }
  void add(double word) { words_.push_back(static_cast<int64_t>(std::bit_cast<uint64_t>(word))); }
  void add(const void* what) { words_.push_back(static_cast<int64_t>(reinterpret_cast<uintptr_t>(what))); }
  std::span<const int64_t> words() const { return words_; }
  uint64_t hash() const {
    uint64_t out = 0x9e3779b97f4a7c15u;
    for (const int64_t word : words_) {
      out = (out ^ static_cast<uint64_t>(word)) * 0xbf58476d1ce4e5b9u;
      out ^= out >> 29;
    }
    return out;
  }

 private:
  std::vector<int64_t> words_;
};

template <typename T>
class Memo {
 public:
  using Weigh = size_t (*)(const T&);
  // Keeps so many values, or as many as weigh so much.
  explicit Memo(size_t kept, Weigh weigh = nullptr) : kept_(kept / kShards + 1), weigh_(weigh) {}

  // make() returns a shared_ptr<const T>, null where it was stopped; two threads may make the same value at once, the first one stays.
  template <typename Make>
  std::shared_ptr<const T> get(const MemoKey& key, const Make& make) {
    const uint64_t hash = key.hash();
    Shard& shard = shards_[hash >> 56 & (kShards - 1)];
    {
      const std::scoped_lock lock(shard.mutex);
      if (const auto found = shard.find(key, hash)) return found;
    }
    std::shared_ptr<const T> made = make();
    if (!made) return nullptr;
    Map dropped;  // freed without the lock
    const std::scoped_lock lock(shard.mutex);
    if (const auto found = shard.find(key, hash)) return found;
    const size_t weight = weigh_ ? weigh_(*made) : 1;
    shard.young.emplace(hash, Entry{{key.words().begin(), key.words().end()}, made, weight});
    shard.weight += weight;
    if (shard.weight >= kept_ / 2 + 1) {
      dropped = std::move(shard.old);
      shard.old = std::move(shard.young);
      shard.young.clear();
      shard.weight = 0;
    }
    return made;
  }

  size_t size() const {
    size_t out = 0;
    for (const Shard& shard : shards_) {
      const std::scoped_lock lock(shard.mutex);
      out += shard.young.size() + shard.old.size();
    }
    return out;
  }

 private:
  static constexpr size_t kShards = 16;
  struct Entry {
    std::vector<int64_t> words;
    std::shared_ptr<const T> value;
    size_t weight;
  };
  using Map = std::unordered_multimap<uint64_t, Entry>;
  // Two generations: what is asked for moves to the young one, the old one goes as a whole.
  struct Shard {
    mutable std::mutex mutex;
    Map young, old;
    size_t weight = 0;  // of the young ones

    std::shared_ptr<const T> find(const MemoKey& key, uint64_t hash) {
      const auto same = [&](const Entry& entry) { return std::equal(entry.words.begin(), entry.words.end(), key.words().begin(), key.words().end()); };
      for (auto [it, end] = young.equal_range(hash); it != end; ++it)
        if (same(it->second)) return it->second.value;
      for (auto [it, end] = old.equal_range(hash); it != end; ++it)
        if (same(it->second)) {
          weight += it->second.weight;
          return young.insert(old.extract(it))->second.value;
        }
      return nullptr;
    }
  };
  size_t kept_;
  Weigh weigh_;
  std::array<Shard, kShards> shards_;
};

}  // namespace shardscape
