#include "base/plan_cache.h"

#include <algorithm>
#include <cstring>

namespace shardscape {

void CacheKey::add(std::string_view text) {
  words_.push_back(static_cast<int64_t>(text.size()));
  for (size_t at = 0; at < text.size(); at += sizeof(int64_t)) {
    int64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min(sizeof word, text.size() - at));
    words_.push_back(word);
  }
}

uint64_t CacheKey::hash(CacheKind kind) const {
  uint64_t out = 0x9e3779b97f4a7c15u + static_cast<uint64_t>(kind);
  for (const int64_t word : words_) {
    out = (out ^ static_cast<uint64_t>(word)) * 0xbf58476d1ce4e5b9u;
    out ^= out >> 29;
  }
  return out;
}

size_t PlanCache::size() const {
  size_t out = 0;
  for (const Shard& shard : shards_) {
    const std::scoped_lock lock(shard.mutex);
    out += shard.young.size() + shard.old.size();
  }
  return out;
}

size_t PlanCache::bytes() const {
  size_t out = 0;
  for (const Shard& shard : shards_) {
    const std::scoped_lock lock(shard.mutex);
    for (const Map* map : {&shard.young, &shard.old})
      for (const auto& [hash, entry] : *map) out += entry.bytes;
  }
  return out;
}

PlanCache::Value PlanCache::find(CacheKind kind, const CacheKey& key) {
  const uint64_t hash = key.hash(kind);
  Shard& shard = shard_of(hash);
  Map dropped;  // freed after the lock is released
  const std::scoped_lock lock(shard.mutex);
  age(shard, dropped);
  return find_in(shard, kind, key, hash);
}

PlanCache::Value PlanCache::keep(CacheKind kind, const CacheKey& key, Value value, size_t bytes) {
  const uint64_t hash = key.hash(kind);
  Shard& shard = shard_of(hash);
  Map dropped;
  const std::scoped_lock lock(shard.mutex);
  age(shard, dropped);
  if (auto found = find_in(shard, kind, key, hash)) return found;
  const size_t all = bytes + sizeof(Entry) + key.words().size_bytes();
  shard.young.emplace(hash, Entry{kind, {key.words().begin(), key.words().end()}, value, all});
  grow(all);
  return value;
}

PlanCache::Value PlanCache::find_in(Shard& shard, CacheKind kind, const CacheKey& key, uint64_t hash) {
  const auto same = [&](const Entry& entry) {
    return entry.kind == kind &&
           std::equal(entry.words.begin(), entry.words.end(), key.words().begin(), key.words().end());
  };
  for (auto [it, end] = shard.young.equal_range(hash); it != end; ++it)
    if (same(it->second)) return it->second.value;
  for (auto [it, end] = shard.old.equal_range(hash); it != end; ++it)
    if (same(it->second)) {
      grow(it->second.bytes);
      return shard.young.insert(shard.old.extract(it))->second.value;
    }
  return nullptr;
}

void PlanCache::age(Shard& shard, Map& dropped) const {
  const uint64_t now = generation_.load(std::memory_order_relaxed);
  if (shard.generation == now) return;
  dropped = std::move(shard.old);
  if (now == shard.generation + 1)
    shard.old = std::move(shard.young);
  else
    dropped.merge(shard.young);
  if (now != shard.generation + 1) shard.old.clear();
  shard.young.clear();
  shard.generation = now;
}

void PlanCache::grow(size_t bytes) {
  if (young_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes < bytes_ / 2) return;
  // Several threads may come here at once: one of them takes the bytes.
  if (young_bytes_.exchange(0, std::memory_order_relaxed) >= bytes_ / 2)
    generation_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace shardscape
