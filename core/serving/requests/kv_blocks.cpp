#include "serving/requests/kv_blocks.h"

#include <algorithm>

namespace shardscape {

ContentTable::ContentTable(int32_t contents) : page_of_(static_cast<size_t>((contents >> kBits) + 1), -1) {}

void ContentTable::set(int32_t content, int32_t block) {
  int32_t& page = page_of_[static_cast<size_t>(content >> kBits)];
  if (page < 0) {
    if (free_pages_.empty()) {
      free_pages_.push_back(static_cast<int32_t>(pages_.size()));
      pages_.emplace_back().fill(-1);
      used_.push_back(0);
    }
    page = free_pages_.back();
    free_pages_.pop_back();
  }
  const auto number = static_cast<size_t>(page);
  int32_t& entry = pages_[number][static_cast<size_t>(content & kMask)];
  used_[number] += (block >= 0) - (entry >= 0);
  entry = block;
  if (used_[number] == 0) {
    free_pages_.push_back(page);
    page = -1;
  }
}

KvBlocks::KvBlocks(int64_t num_blocks, const BlockContents& contents)
    : contents_(&contents),
      usable_(std::max<int64_t>(0, num_blocks - 1)),
      blocks_(1),
      table_(contents.contents()) {}

void KvBlocks::unlink(int32_t block) {
  Block& b = at(block);
  at(b.previous).next = b.next;
  at(b.next).previous = b.previous;
}

void KvBlocks::link_before(int32_t place, int32_t block) {
  Block& b = at(block);
  b.next = place;
  b.previous = at(place).previous;
  at(b.previous).next = block;
  at(place).previous = block;
}

void KvBlocks::forget(int32_t block) {
  Block& b = at(block);
  if (b.content < 0) return;
  // Requests find the oldest twin.
  if (table_.find(b.content) == block) table_.set(b.content, b.twin_after == block ? -1 : b.twin_after);
  at(b.twin_before).twin_after = b.twin_after;
  at(b.twin_after).twin_before = b.twin_before;
  b.content = -1;
}

KvBlocks::Hits KvBlocks::hits(int32_t request, int32_t most) const {
  Hits out;
  if (contents_->contents() == 0 || most <= 0) return out;
  ContentWalk walk(contents_->segments(request), 0);
  while (out.blocks < most) {
    const int32_t block = table_.find(walk.next());
    if (block < 0) break;
    ++out.blocks;
    out.free += at(block).users == 0;
  }
  return out;
}

void KvBlocks::take_hits(int32_t request, int32_t blocks, Table& table) {
  if (blocks == 0) return;
  ContentWalk walk(contents_->segments(request), 0);
  for (int32_t i = 0; i < blocks; ++i) {
    const int32_t block = table_.find(walk.next());
    if (at(block).users++ == 0) {
      unlink(block);
      ++in_use_;
    }
    table.push_back(block);
  }
  peak_ = std::max(peak_, in_use_);
}

int32_t KvBlocks::unused_block() {
  const int32_t oldest = at(0).next;
  // Blocks that were never used come first. An endless cache takes free blocks only if they are empty.
  const bool reuse = oldest != 0 &&
                     (endless() ? at(oldest).content < 0 : static_cast<int64_t>(blocks_.size()) > usable_);
  if (!reuse) {
    blocks_.emplace_back();
    return static_cast<int32_t>(blocks_.size()) - 1;
  }
  unlink(oldest);
  forget(oldest);
  return oldest;
}

void KvBlocks::take(int64_t blocks, Table& table) {
  for (int64_t i = 0; i < blocks; ++i) {
    const int32_t block = unused_block();
    at(block).users = 1;
    table.push_back(block);
  }
  in_use_ += blocks;
  peak_ = std::max(peak_, in_use_);
}

void KvBlocks::publish(int32_t request, const Table& table, int32_t from, int32_t to) {
  if (contents_->contents() == 0 || from >= to) return;
  ContentWalk walk(contents_->segments(request), from);
  for (int32_t i = from; i < to; ++i) {
    const int32_t content = walk.next(), block = table[static_cast<size_t>(i)];
    if (at(block).content >= 0) continue;
    Block& b = at(block);
    const int32_t oldest = table_.find(content);
    if (oldest < 0) {
      table_.set(content, block);
      b.twin_before = b.twin_after = block;
    } else {
      b.twin_after = oldest;
      b.twin_before = at(oldest).twin_before;
      at(b.twin_before).twin_after = block;
      at(oldest).twin_before = block;
    }
    b.content = content;
  }
}

void KvBlocks::release(Table& table, int32_t private_from) {
  for (auto i = static_cast<int32_t>(table.size()); i-- > 0;) {
    const int32_t block = table[static_cast<size_t>(i)];
    if (--at(block).users > 0) continue;
    --in_use_;
    if (i >= private_from) forget(block);
    // An endless cache uses empty blocks again before it grows.
    link_before(endless() && at(block).content < 0 ? at(0).next : 0, block);
  }
  table.clear();
}

}  // namespace shardscape
