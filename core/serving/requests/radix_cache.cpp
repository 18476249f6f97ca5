#include "serving/requests/radix_cache.h"

#include <algorithm>

namespace shardscape {

RadixCache::RadixCache(const BlockContents& contents, const CacheTierSettings& tiers)
    : contents_(&contents), tiers_(tiers) {}

int32_t RadixCache::find(int32_t content) const {
  auto after = by_content_.upper_bound(content);
  if (after == by_content_.begin()) return kRoot;
  const int32_t node = std::prev(after)->second;
  return content < at(node).content + at(node).length ? node : kRoot;
}

template <class Visit>
void RadixCache::runs(int32_t request, int32_t tokens, const Visit& visit) const {
  if (!enabled()) return;
  const auto segments = contents_->segments(request);
  for (size_t i = 0; i < segments.size() && segments[i].first_block < tokens; ++i) {
    const int32_t end = i + 1 < segments.size() ? std::min(tokens, segments[i + 1].first_block) : tokens;
    int32_t content = segments[i].content, left = end - segments[i].first_block;
    while (left > 0) {
      const int32_t length = visit(content, left);
      if (length == 0) return;
      content += length;
      left -= length;
    }
  }
}

int32_t RadixCache::cached(int32_t request, int32_t most) const {
  int32_t out = 0;
  runs(request, most, [&](int32_t content, int32_t left) {
    const int32_t node = find(content);
    if (node == kRoot) return 0;
    const int32_t length = std::min(left, at(node).content + at(node).length - content);
    out += length;
    return length;
  });
  return out;
}

RadixCache::Match RadixCache::match(int32_t request, int32_t most) {
  Match out;
  ++clock_;
  runs(request, most, [&](int32_t content, int32_t left) {
    int32_t node = find(content);
    if (node == kRoot) return 0;
    // A match that ends inside of a node makes its start a node.
    const int32_t length = at(node).content + at(node).length - content;
    if (left < length) {
      split(node, at(node).length - (length - left));
      node = at(node).parent;
    }
    use(node);
    out.node = node;
    const int32_t found = std::min(left, length);
    out.tokens += found;
    if (const size_t level = at(node).level; level > 0)
      out.tier_tokens[level - 1] += found;
    else
      out.device_node = node;
    return found;
  });
  return out;
}

RadixCache::Match RadixCache::insert(int32_t request, int32_t tokens) {
  Match out = match(request, tokens);
  load(out.node);
  int32_t done = 0;
  runs(request, tokens, [&](int32_t content, int32_t left) {
    const int32_t known = std::clamp(out.tokens - done, 0, left);
    done += left;
    if (known < left) out.node = add(content + known, left - known, out.node);
    return left;
  });
  return out;
}

int32_t RadixCache::add(int32_t content, int32_t length, int32_t parent) {
  if (free_.empty()) {
    free_.push_back(static_cast<int32_t>(nodes_.size()));
    nodes_.emplace_back();
  }
  const int32_t node = free_.back();
  free_.pop_back();
  at(node) = {content, length, parent, 0, clock_, 0, {}};
  by_content_[content] = node;
  put(node, 0);
  return node;
}

void RadixCache::put(int32_t node, size_t level) {
  Node& n = at(node);
  n.level = static_cast<uint8_t>(level);
  tokens_[level] += n.length;
  if (level == 0 && n.locks == 0) evictable_ += n.length;
  if (is_victim(n)) victims_[level].insert({n.used, node});
  if (n.parent == kRoot) return;
  Node& parent = at(n.parent);
  if (is_victim(parent)) victims_[parent.level].erase({parent.used, n.parent});
  ++parent.children[level];
  if (is_victim(parent)) victims_[parent.level].insert({parent.used, n.parent});
}

void RadixCache::take_out(int32_t node) {
  const Node& n = at(node);
  const size_t level = n.level;
  tokens_[level] -= n.length;
  if (level == 0 && n.locks == 0) evictable_ -= n.length;
  victims_[level].erase({n.used, node});
  if (n.parent == kRoot) return;
  Node& parent = at(n.parent);
  --parent.children[level];
  if (is_victim(parent)) victims_[parent.level].insert({parent.used, n.parent});
}

void RadixCache::use(int32_t node) {
  Node& n = at(node);
  const bool victim = is_victim(n);
  if (victim) victims_[n.level].erase({n.used, node});
  n.used = clock_;
  if (victim) victims_[n.level].insert({clock_, node});
}

void RadixCache::split(int32_t node, int32_t length) {
  if (free_.empty()) {
    free_.push_back(static_cast<int32_t>(nodes_.size()));
    nodes_.emplace_back();
  }
  const int32_t start = free_.back();
  free_.pop_back();
  Node& end = at(node);
  at(start) = {end.content, length, end.parent, end.locks, end.used, end.level, {}};
  at(start).children[end.level] = 1;
  end.content += length;
  end.length -= length;
  end.parent = start;
  by_content_[at(start).content] = start;
  by_content_[end.content] = node;
}

void RadixCache::load(int32_t node) {
  std::vector<int32_t> path;
  for (; node != kRoot && at(node).level > 0; node = at(node).parent) path.push_back(node);
  for (size_t i = path.size(); i-- > 0;) {
    take_out(path[i]);
    put(path[i], 0);
  }
}

void RadixCache::lock(int32_t node) {
  for (; node != kRoot; node = at(node).parent) {
    Node& n = at(node);
    if (is_victim(n)) victims_[0].erase({n.used, node});
    if (n.locks++ == 0) evictable_ -= n.length;
  }
}

void RadixCache::unlock(int32_t node) {
  for (; node != kRoot; node = at(node).parent) {
    Node& n = at(node);
    if (--n.locks > 0) continue;
    evictable_ += n.length;
    if (is_victim(n)) victims_[0].insert({n.used, node});
  }
}

void RadixCache::remove(int32_t node) {
  // Nodes after it in lower tiers cannot be found without it.
  for (size_t level = kLevels; level-- > 1;)
    while (at(node).children[level] > 0) remove(victims_[level].begin()->second);
  take_out(node);
  by_content_.erase(at(node).content);
  free_.push_back(node);
}

void RadixCache::evict_node(int32_t node) {
  const int64_t length = at(node).length;
  for (size_t level = size_t{at(node).level} + 1; level < kLevels; ++level) {
    const int64_t room = tiers_.blocks[level - 1];
    if (length > room) {
      // No node may stay above the one before it.
      while (at(node).children[level] > 0) evict_node(victims_[level].begin()->second);
      continue;
    }
    while (tokens_[level] + length > room) evict_node(victims_[level].begin()->second);
    take_out(node);
    put(node, level);
    return;
  }
  remove(node);
}

void RadixCache::evict(int64_t tokens) {
  while (tokens > 0 && !victims_[0].empty()) {
    const int32_t node = victims_[0].begin()->second;
    tokens -= at(node).length;
    evict_node(node);
  }
}

void RadixCache::clear() {
  nodes_.clear();
  free_.clear();
  by_content_.clear();
  for (auto& victims : victims_) victims.clear();
  tokens_ = {};
  evictable_ = 0;
}

}  // namespace shardscape
