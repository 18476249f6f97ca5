#include "memory/caching_allocator.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "memory/segment_memory.h"

namespace shardscape {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kSmallest = 512;  // smallest block, and smallest remainder that is split off
constexpr int64_t kSmall = kMiB;    // largest block of the small pool
constexpr int64_t kSmallSegment = 2 * kMiB, kMiddleSegment = 20 * kMiB, kMiddle = 10 * kMiB, kStep = 2 * kMiB;
constexpr int64_t kAddresses = int64_t{1}
                               << 56;  // address range of an expandable segment: larger than any device

int64_t whole(int64_t bytes, int64_t step) { return (bytes + step - 1) / step * step; }
int64_t page(bool small) { return small ? kSmallSegment : kMiddleSegment; }

}  // namespace

CachingAllocator::CachingAllocator(SegmentMode mode, int64_t capacity) : mode_(mode), capacity_(capacity) {}

CachingAllocator::Block CachingAllocator::allocate(int64_t bytes, bool side) {
  const int64_t size = std::max(allocated_bytes(bytes), kSmallest);
  const bool small = size <= kSmall;
  const Kind kind{small, side};
  Block block = cached(kind, size);
  if (block == kNone) block = fresh(kind, size, false);
  if (block == kNone) {
    ++retries_;
    release_cached_segments();
    block = fresh(kind, size, false);
  }
  if (block == kNone) {
    ++refused_;
    block = fresh(kind, size, true);
  }
  const int64_t rest = at(block).size - size;
  if (mode_ == SegmentMode::Expandable || small ? rest >= kSmallest : rest > kSmall) cache(cut(block, size));
  at(block).used = true;
  allocated_ += at(block).size;
  return block;
}

void CachingAllocator::free(Block block) {
  if (!at(block).used) throw std::logic_error("a block of the allocator is freed twice");
  at(block).used = false;
  allocated_ -= at(block).size;
  join(block, at(block).before);
  join(block, at(block).after);
  cache(block);
}

int64_t CachingAllocator::largest_free() const {
  int64_t out = 0;
  for (const Pool& p : pools_)
    if (!p.free.empty()) out = std::max(out, std::get<0>(*p.free.rbegin()));
  return out;
}

CachingAllocator::Range CachingAllocator::range(Block block) const {
  return {at(block).begin, at(block).size};
}

CachingAllocator::Block CachingAllocator::make(Node node) {
  if (dropped_.empty()) {
    nodes_.push_back(node);
    return static_cast<Block>(nodes_.size() - 1);
  }
  const Block block = dropped_.back();
  dropped_.pop_back();
  at(block) = node;
  return block;
}

void CachingAllocator::drop(Block block) { dropped_.push_back(block); }

// Looks for a free block. A free block before unmapped addresses counts with the pages that can be mapped
// there.
CachingAllocator::Block CachingAllocator::cached(Kind kind, int64_t size) {
  std::set<Key>& free = pool(kind).free;
  auto it = free.lower_bound({size, -1, kNone});
  if (it == free.end()) return kNone;
  if (mode_ == SegmentMode::Expandable) {
    const auto could_be = [&](const Key& k) {
      const Node& n = at(std::get<2>(k));
      return n.size + (n.after != kNone && !at(n.after).mapped ? at(n.after).size : 0);
    };
    for (auto next = std::next(it); next != free.end() && could_be(*next) < could_be(*it); ++next) it = next;
  }
  const Block block = std::get<2>(*it);
  free.erase(it);
  return block;
}

CachingAllocator::Block CachingAllocator::fresh(Kind kind, int64_t size, bool ignore_capacity) {
  if (mode_ == SegmentMode::Expandable) return expanded(kind, size, ignore_capacity);
  const int64_t bytes = kind.small ? kSmallSegment : size < kMiddle ? kMiddleSegment : whole(size, kStep);
  if (!ignore_capacity && !room_for(bytes)) return kNone;
  reserved_ += bytes;
  Node node;
  node.begin = next_address_;
  node.size = bytes;
  node.kind = kind;
  next_address_ += bytes + kStep;
  return make(node);
}

// Returns the lowest address range of this size: a free block, unmapped addresses, or a free block followed
// by unmapped addresses.
CachingAllocator::Block CachingAllocator::expandable(Kind kind, int64_t size) {
  Pool& p = pool(kind);
  for (const auto& [address, block] : p.unmapped) {
    const Block before = at(block).before;
    const Block first = before != kNone && !at(before).used ? before : block;
    int64_t bytes = 0;
    for (Block b = first; b != kNone && !at(b).used && bytes < size; b = at(b).after) bytes += at(b).size;
    if (bytes >= size) return first;
  }
  Node node;
  node.begin = ((kind.small ? 0 : 2) + (kind.side ? 4 : 0)) * kAddresses;
  node.size = kAddresses;
  node.mapped = false;
  node.kind = kind;
  const Block block = make(node);
  p.unmapped.insert({node.begin, block});
  return block;
}

CachingAllocator::Block CachingAllocator::expanded(Kind kind, int64_t size, bool ignore_capacity) {
  Block block = expandable(kind, size);
  if (!at(block).mapped && !map(block, std::min(at(block).size, size), ignore_capacity)) return kNone;
  while (at(block).size < size) {
    const Block next = at(block).after;
    if (!map(next, std::min(size - at(block).size, at(next).size), ignore_capacity)) return kNone;
    block = next;  // `next` has joined the block before it
  }
  pool(kind).free.erase(key(block));
  return block;
}

bool CachingAllocator::map(Block block, int64_t size, bool ignore_capacity) {
  Pool& p = pool(at(block).kind);
  const int64_t bytes = whole(size, page(at(block).kind.small));
  if (!ignore_capacity && !room_for(bytes)) return false;
  p.unmapped.erase({at(block).begin, block});
  if (bytes < at(block).size) {
    const Block rest = cut(block, bytes);
    p.unmapped.insert({at(rest).begin, rest});
  }
  at(block).mapped = true;
  reserved_ += bytes;
  join(block, at(block).before);
  join(block, at(block).after);
  cache(block);
  return true;
}

// Unmaps the pages that lie completely inside a free block.
void CachingAllocator::unmap(Block block) {
  const int64_t size = page(at(block).kind.small), begin = whole(at(block).begin, size),
                end = (at(block).begin + at(block).size) / size * size;
  if (begin >= end) return;
  Pool& p = pool(at(block).kind);
  p.free.erase(key(block));
  if (const int64_t front = begin - at(block).begin; front > 0) {
    const Block rest = cut(block, front);
    cache(block);
    block = rest;
  }
  if (at(block).begin + at(block).size > end) cache(cut(block, end - begin));
  at(block).mapped = false;
  reserved_ -= end - begin;
  for (const Block neighbour : {at(block).before, at(block).after}) join(block, neighbour);
  p.unmapped.insert({at(block).begin, block});
}

void CachingAllocator::join(Block block, Block neighbour) {
  if (neighbour == kNone || at(neighbour).used || at(neighbour).mapped != at(block).mapped) return;
  Pool& p = pool(at(block).kind);
  if (at(neighbour).mapped)
    p.free.erase(key(neighbour));
  else
    p.unmapped.erase({at(neighbour).begin, neighbour});
  if (at(block).before == neighbour) {
    at(block).begin = at(neighbour).begin;
    at(block).before = at(neighbour).before;
    if (at(block).before != kNone) at(at(block).before).after = block;
  } else {
    at(block).after = at(neighbour).after;
    if (at(block).after != kNone) at(at(block).after).before = block;
  }
  at(block).size += at(neighbour).size;
  drop(neighbour);
}

CachingAllocator::Block CachingAllocator::cut(Block block, int64_t size) {
  Node node = at(block);
  node.begin += size;
  node.size -= size;
  node.before = block;
  const Block rest = make(node);
  if (node.after != kNone) at(node.after).before = rest;
  at(block).size = size;
  at(block).after = rest;
  return rest;
}

void CachingAllocator::release_cached_segments() {
  for (Pool& p : pools_) {
    const std::vector<Key> free(p.free.begin(), p.free.end());
    for (const auto& [size, begin, block] : free) {
      if (mode_ == SegmentMode::Expandable) {
        unmap(block);
      } else if (at(block).before == kNone && at(block).after == kNone) {
        p.free.erase({size, begin, block});
        reserved_ -= size;
        drop(block);
      }
    }
  }
}

}  // namespace shardscape
