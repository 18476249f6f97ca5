#include "serving/requests/radix_cache.h"

#include <algorithm>

namespace shardscape {

RadixCache::RadixCache(const BlockContents& contents) : contents_(&contents) {}

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
    out.tokens += std::min(left, length);
    return std::min(left, length);
  });
  return out;
}

RadixCache::Match RadixCache::insert(int32_t request, int32_t tokens) {
  Match out = match(request, tokens);
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
  at(node) = {content, length, parent, 0, 0, clock_};
  if (parent != kRoot) {
    if (is_victim(at(parent))) victims_.erase({at(parent).used, parent});
    ++at(parent).children;
  }
  by_content_[content] = node;
  victims_.insert({clock_, node});
  tokens_ += length;
  evictable_ += length;
  return node;
}

void RadixCache::use(int32_t node) {
  const bool victim = is_victim(at(node));
  if (victim) victims_.erase({at(node).used, node});
  at(node).used = clock_;
  if (victim) victims_.insert({clock_, node});
}

void RadixCache::split(int32_t node, int32_t length) {
  if (free_.empty()) {
    free_.push_back(static_cast<int32_t>(nodes_.size()));
    nodes_.emplace_back();
  }
  const int32_t start = free_.back();
  free_.pop_back();
  Node& end = at(node);
  at(start) = {end.content, length, end.parent, 1, end.locks, end.used};
  end.content += length;
  end.length -= length;
  end.parent = start;
  by_content_[at(start).content] = start;
  by_content_[end.content] = node;
}

void RadixCache::lock(int32_t node) {
  for (; node != kRoot; node = at(node).parent) {
    Node& n = at(node);
    if (is_victim(n)) victims_.erase({n.used, node});
    if (n.locks++ == 0) evictable_ -= n.length;
  }
}

void RadixCache::unlock(int32_t node) {
  for (; node != kRoot; node = at(node).parent) {
    Node& n = at(node);
    if (--n.locks > 0) continue;
    evictable_ += n.length;
    if (n.children == 0) victims_.insert({n.used, node});
  }
}

void RadixCache::evict(int64_t tokens) {
  while (tokens > 0 && !victims_.empty()) {
    const int32_t node = victims_.begin()->second;
    victims_.erase(victims_.begin());
    const Node n = at(node);
    by_content_.erase(n.content);
    free_.push_back(node);
    tokens -= n.length;
    tokens_ -= n.length;
    evictable_ -= n.length;
    if (n.parent == kRoot) continue;
    --at(n.parent).children;
    if (is_victim(at(n.parent))) victims_.insert({at(n.parent).used, n.parent});
  }
}

void RadixCache::clear() {
  nodes_.clear();
  free_.clear();
  by_content_.clear();
  victims_.clear();
  tokens_ = evictable_ = 0;
}

}  // namespace shardscape
