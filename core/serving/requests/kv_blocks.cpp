#include "serving/requests/kv_blocks.h"

#include <algorithm>
#include <utility>

namespace shardscape {
namespace {

// Each window of attention has its own numbers. Throws TooManyContents.
int32_t all_contents(const BlockContents& contents, const CacheLayout& layout) {
  const int64_t all = int64_t{contents.contents()} * static_cast<int64_t>(1 + layout.windows.size());
  if (all > BlockContents::kMostContents) throw TooManyContents("cache blocks");
  return static_cast<int32_t>(all);
}

}  // namespace

KvBlocks::KvBlocks(int64_t num_blocks, const BlockContents& contents, CacheLayout layout, int64_t row_tokens,
                   const CacheTierSettings& tiers)
    : contents_(&contents),
      layout_(std::move(layout)),
      row_tokens_(row_tokens),
      row_blocks_(layout_.row_blocks()),
      usable_(std::max<int64_t>(0, num_blocks - 1)),
      empty_(usable_),
      units_(1),
      table_(all_contents(contents, layout_)),
      tiers_(tiers, all_contents(contents, layout_)) {}

void KvBlocks::unlink(int32_t unit) {
  Unit& u = at(unit);
  at(u.previous).next = u.next;
  at(u.next).previous = u.previous;
}

void KvBlocks::link_before(int32_t place, int32_t unit) {
  Unit& u = at(unit);
  u.next = place;
  u.previous = at(place).previous;
  at(u.previous).next = unit;
  at(place).previous = unit;
}

void KvBlocks::forget(int32_t unit) {
  Unit& u = at(unit);
  if (u.content < 0) return;
  // Requests find the oldest twin.
  if (table_.find(u.content) == unit) table_.set(u.content, u.twin_after == unit ? -1 : u.twin_after);
  at(u.twin_before).twin_after = u.twin_after;
  at(u.twin_after).twin_before = u.twin_before;
  u.content = kEmpty;
}

// Takes a unit out of the free list. Its content moves to the lower tiers, unless the device has it twice.
void KvBlocks::evict(int32_t unit) {
  unlink(unit);
  const int32_t content = at(unit).content;
  forget(unit);
  if (tiers_.any() && content != kEmpty && (content == kPrivate || table_.find(content) < 0))
    tiers_.insert(content == kPrivate ? -1 : content, at(unit).blocks);
  at(unit).content = kEmpty;
  empty_ += at(unit).blocks;
  spare_.push_back(unit);
}

// The cached rows of a window that all queries after them need: the last ones, or all from the start on.
int32_t KvBlocks::window_hits(int32_t request, size_t window, int32_t rows, bool tiers) const {
  const CacheWindow& of = layout_.windows[window];
  const int32_t base = first_content(window);
  ContentWalk walk(contents_->segments(request), 0);
  if (of.chunked) {
    const auto first = static_cast<int32_t>(CacheLayout::skipped_rows(of, rows * row_tokens_, row_tokens_));
    int32_t found = 0;
    for (; found < rows; ++found)
      if (const int32_t content = base + walk.next(); found >= first && !cached(content, tiers)) break;
    return found;
  }
  const int64_t last = (of.tokens - 1 + row_tokens_ - 1) / row_tokens_;
  int32_t out = 0, run = 0;
  for (int32_t i = 0; i < rows; ++i) {
    run = cached(base + walk.next(), tiers) ? run + 1 : 0;
    if (run >= last || run == i + 1) out = i + 1;
  }
  return out;
}

void KvBlocks::count(Hits& hits, int32_t content, int32_t blocks, bool first_group) const {
  if (const int32_t unit = table_.find(content); unit >= 0) {
    hits.held += blocks;
    if (at(unit).users == 0) hits.free += blocks;
    return;
  }
  const auto tier = static_cast<size_t>(tiers_.find(content));
  hits.tier_rows[tier] += first_group;
  hits.tier_blocks[tier] += blocks;
}

KvBlocks::Hits KvBlocks::hits(int32_t request, int32_t most, bool tiers) const {
  Hits out;
  if (contents_->contents() == 0 || most <= 0) return out;
  int32_t rows = most;
  if (layout_.full > 0) {
    ContentWalk walk(contents_->segments(request), 0);
    for (rows = 0; rows < most; ++rows) {
      const int32_t content = walk.next();
      if (!cached(content, tiers)) break;
      if (layout_.windows.empty()) count(out, content, layout_.full, true);
    }
  }
  if (layout_.windows.empty()) {
    out.rows = rows;
    return out;
  }
  for (int32_t before = rows + 1; rows < before;) {
    before = rows;
    for (size_t w = 0; w < layout_.windows.size(); ++w) rows = window_hits(request, w, rows, tiers);
  }
  out.rows = rows;
  ContentWalk walk(contents_->segments(request), 0);
  for (int32_t i = 0; i < rows; ++i) {
    const int32_t content = walk.next();
    if (layout_.full > 0) count(out, content, layout_.full, true);
    for (size_t w = 0; w < layout_.windows.size(); ++w)
      if (const CacheWindow& of = layout_.windows[w];
          i >= CacheLayout::skipped_rows(of, rows * row_tokens_, row_tokens_))
        count(out, first_content(w) + content, of.blocks, layout_.full == 0 && w == 0);
  }
  return out;
}

double KvBlocks::load_seconds(const Hits& hits) const {
  double out = 0;
  for (size_t tier = 0; tier < kCacheTiers; ++tier)
    out += static_cast<double>(hits.tier_blocks[tier]) * tiers_.block_seconds(tier);
  return out;
}

int64_t KvBlocks::needed(const Hits& hits, int64_t rows, bool whole, int64_t step) const {
  const int64_t all = whole ? std::max(layout_.most_blocks(rows, step, row_tokens_),
                                       hits.held + (rows - hits.rows) * layout_.full)
                            : layout_.blocks(rows, hits.rows * row_tokens_, row_tokens_);
  return all - hits.held + hits.free;
}

int32_t KvBlocks::new_unit(int32_t blocks) {
  while (!endless() && empty_ < blocks) evict(at(0).next);
  // An endless cache takes free units only if nobody asks for their content.
  if (const int32_t oldest = at(0).next; endless() && oldest != 0 && at(oldest).content < 0) evict(oldest);
  if (spare_.empty()) {
    spare_.push_back(static_cast<int32_t>(units_.size()));
    units_.emplace_back();
  }
  const int32_t unit = spare_.back();
  spare_.pop_back();
  empty_ -= blocks;
  at(unit).blocks = blocks;
  at(unit).users = 1;
  in_use_ += blocks;
  return unit;
}

// A unit with a content: that of the device, or a new one that is loaded.
int32_t KvBlocks::take_content(int32_t content, int32_t blocks) {
  const int32_t cached = table_.find(content);
  if (cached >= 0) {
    if (at(cached).users++ == 0) {
      unlink(cached);
      in_use_ += blocks;
    }
    return cached;
  }
  const int32_t unit = new_unit(blocks);
  publish_unit(unit, content);
  return unit;
}

void KvBlocks::take_hits(int32_t request, int32_t rows, Table& table) {
  if (rows == 0) return;
  table.windows.resize(layout_.windows.size());
  table.skipped.resize(layout_.windows.size());
  // Blocks on the device first: loads of others must not evict them, nor push each other out of their tier.
  for (const bool on_device : {true, false}) {
    ContentWalk walk(contents_->segments(request), 0);
    const auto take = [&](std::vector<int32_t>& list, int32_t i, int32_t content, int32_t blocks) {
      if (on_device) {
        const bool found = table_.find(content) >= 0;
        if (!found) tiers_.remove(content);
        list.push_back(found ? take_content(content, blocks) : 0);
      }
      if (!on_device && list[static_cast<size_t>(i)] == 0)
        list[static_cast<size_t>(i)] = take_content(content, blocks);
    };
    for (int32_t i = 0; i < rows; ++i) {
      const int32_t content = walk.next();
      if (layout_.full > 0)
        take(table.rows, i, content, layout_.full);
      else if (on_device)
        table.rows.push_back(0);
      for (size_t w = 0; w < layout_.windows.size(); ++w) {
        const CacheWindow& of = layout_.windows[w];
        table.skipped[w] = static_cast<int32_t>(
            CacheLayout::skipped_rows(of, rows * row_tokens_, row_tokens_));
        if (i >= table.skipped[w])
          take(table.windows[w], i, first_content(w) + content, of.blocks);
        else if (on_device)
          table.windows[w].push_back(0);
      }
    }
    if (!tiers_.any()) break;
  }
  peak_ = std::max(peak_, in_use_);
}

void KvBlocks::take(int64_t rows, Table& table) {
  for (int64_t i = 0; i < rows; ++i) table.rows.push_back(layout_.full > 0 ? new_unit(layout_.full) : 0);
  if (!layout_.windows.empty()) {
    table.windows.resize(layout_.windows.size());
    table.skipped.resize(layout_.windows.size());
    for (size_t w = 0; w < layout_.windows.size(); ++w)
      for (int64_t i = 0; i < rows; ++i) table.windows[w].push_back(new_unit(layout_.windows[w].blocks));
  }
  if (table.states == 0 && layout_.states > 0) table.states = new_unit(layout_.states);
  peak_ = std::max(peak_, in_use_);
}

void KvBlocks::skip(int64_t computed, Table& table) {
  for (size_t w = 0; w < table.windows.size(); ++w) {
    std::vector<int32_t>& rows = table.windows[w];
    const auto end = static_cast<int32_t>(
        std::min(CacheLayout::skipped_rows(layout_.windows[w], computed, row_tokens_), table.size()));
    for (int32_t i = end; i-- > table.skipped[w];)
      release_unit(std::exchange(rows[static_cast<size_t>(i)], 0), false);
    table.skipped[w] = std::max(table.skipped[w], end);
  }
}

void KvBlocks::publish_unit(int32_t unit, int32_t content) {
  if (unit == 0 || at(unit).content >= 0) return;
  Unit& u = at(unit);
  const int32_t oldest = table_.find(content);
  if (oldest < 0) {
    table_.set(content, unit);
    u.twin_before = u.twin_after = unit;
  } else {
    u.twin_after = oldest;
    u.twin_before = at(oldest).twin_before;
    at(u.twin_before).twin_after = unit;
    at(oldest).twin_before = unit;
  }
  u.content = content;
}

void KvBlocks::publish(int32_t request, const Table& table, int32_t from, int32_t to) {
  if (contents_->contents() == 0 || from >= to) return;
  ContentWalk walk(contents_->segments(request), from);
  for (int32_t i = from; i < to; ++i) {
    const int32_t content = walk.next();
    publish_unit(table.rows[static_cast<size_t>(i)], content);
    for (size_t w = 0; w < table.windows.size(); ++w)
      publish_unit(table.windows[w][static_cast<size_t>(i)], first_content(w) + content);
  }
}

void KvBlocks::release_unit(int32_t unit, bool is_private) {
  if (unit == 0 || --at(unit).users > 0) return;
  in_use_ -= at(unit).blocks;
  if (is_private && at(unit).content >= 0) {
    forget(unit);
    at(unit).content = kPrivate;
  }
  // An endless cache uses empty units again before it grows.
  link_before(endless() && at(unit).content < 0 ? at(0).next : 0, unit);
}

void KvBlocks::release(Table& table, int32_t private_from) {
  for (auto i = static_cast<int32_t>(table.size()); i-- > 0;)
    release_unit(table.rows[static_cast<size_t>(i)], i >= private_from);
  for (std::vector<int32_t>& window : table.windows) {
    for (auto i = static_cast<int32_t>(window.size()); i-- > 0;)
      release_unit(window[static_cast<size_t>(i)], i >= private_from);
    window.clear();
  }
  release_unit(table.states, true);
  table.rows.clear();
  std::fill(table.skipped.begin(), table.skipped.end(), 0);
  table.states = 0;
}

}  // namespace shardscape
