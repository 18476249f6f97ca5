#include "serving/requests/radix_cache.h"

#include <algorithm>

namespace shardscape {

RadixCache::RadixCache(const BlockContents& contents, const CacheTierSettings& tiers, int64_t states)
    : contents_(&contents), tiers_(tiers), state_pool_(states) {}

int32_t RadixCache::find(int32_t content) const {
  auto after = by_content_.upper_bound(content);
  if (after == by_content_.begin()) return kRoot;
  const int32_t node = std::prev(after)->second;
  return content < at(node).content + at(node).length ? node : kRoot;
}

template <class Visit>
void RadixCache::runs(int32_t request, int32_t pages, const Visit& visit) const {
  if (!enabled()) return;
  const auto segments = contents_->segments(request);
  for (size_t i = 0; i < segments.size() && segments[i].first_block < pages; ++i) {
    const int32_t end = i + 1 < segments.size() ? std::min(pages, segments[i + 1].first_block) : pages;
    int32_t content = segments[i].content, left = end - segments[i].first_block;
    while (left > 0) {
      const int32_t length = visit(content, left);
      if (length == 0) return;
      content += length;
      left -= length;
    }
  }
}

std::vector<int32_t> RadixCache::whole_nodes(int32_t request, int32_t most, int32_t& stored) const {
  std::vector<int32_t> out;
  runs(request, most, [&](int32_t content, int32_t left) {
    const int32_t node = find(content);
    if (node == kRoot) return 0;
    const int32_t length = at(node).content + at(node).length - content, found = std::min(left, length);
    stored += found;
    if (found < length) return 0;
    out.push_back(node);
    return found;
  });
  return out;
}

void RadixCache::drop_without_states(std::vector<int32_t>& nodes) const {
  while (!nodes.empty() && !at(nodes.back()).states) nodes.pop_back();
}

int32_t RadixCache::cached(int32_t request, int32_t most) const {
  int32_t out = 0;
  if (state_pool_ > 0) {
    int32_t stored = 0;
    std::vector<int32_t> nodes = whole_nodes(request, most, stored);
    drop_without_states(nodes);
    for (const int32_t node : nodes) out += at(node).length;
    return out;
  }
  runs(request, most, [&](int32_t content, int32_t left) {
    const int32_t node = find(content);
    if (node == kRoot) return 0;
    const int32_t length = std::min(left, at(node).content + at(node).length - content);
    out += length;
    return length;
  });
  return out;
}

// The match goes on with pages of a node.
void RadixCache::extend(Match& match, int32_t node, int32_t pages) const {
  match.node = node;
  match.pages += pages;
  if (const size_t level = at(node).level; level > 0)
    match.tier_pages[level - 1] += pages;
  else
    match.device_node = node;
}

RadixCache::Match RadixCache::match(int32_t request, int32_t most) {
  if (state_pool_ == 0) return match_pages(request, most);
  Match out;
  std::vector<int32_t> nodes = whole_nodes(request, most, out.stored);
  drop_without_states(nodes);
  for (const int32_t node : nodes) {
    use(node);
    extend(out, node, at(node).length);
  }
  return out;
}

// Whether or not the states are stored.
RadixCache::Match RadixCache::match_pages(int32_t request, int32_t most) {
  Match out;
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
    const int32_t found = std::min(left, length);
    extend(out, node, found);
    return found;
  });
  out.stored = out.pages;
  return out;
}

RadixCache::Match RadixCache::insert(int32_t request, int32_t pages) {
  Match out = match_pages(request, pages);
  load(out.node);
  int32_t done = 0;
  runs(request, pages, [&](int32_t content, int32_t left) {
    const int32_t known = std::clamp(out.pages - done, 0, left);
    done += left;
    if (known < left) out.node = add(content + known, left - known, out.node);
    return left;
  });
  if (state_pool_ > 0 && out.node != kRoot) set_states(out.node);
  return out;
}

void RadixCache::take_states() {
  make_state_room();
  ++running_states_;
}

void RadixCache::set_states(int32_t node) {
  if (at(node).states) return;
  // The node stays while others lose their states.
  lock(node);
  make_state_room();
  at(node).states = true;
  ++states_;
  unlock(node);
}

// One of a running sequence or of the tree fits into the pool then.
void RadixCache::make_state_room() {
  while (states_ + running_states_ >= state_pool_ && !state_victims_.empty()) {
    const int32_t node = state_victims_.begin()->second;
    if (is_victim(at(node))) {
      evict_leaf(node);
    } else {
      state_victims_.erase(state_victims_.begin());
      at(node).states = false;
      --states_;
    }
  }
}

int32_t RadixCache::add(int32_t content, int32_t length, int32_t parent) {
  if (free_.empty()) {
    free_.push_back(static_cast<int32_t>(nodes_.size()));
    nodes_.emplace_back();
  }
  const int32_t node = free_.back();
  free_.pop_back();
  at(node) = {content, length, parent, 0, ++clock_, 0, {}, false, 0};
  by_content_[content] = node;
  put(node, 0);
  return node;
}

void RadixCache::put(int32_t node, size_t level) {
  Node& n = at(node);
  n.level = static_cast<uint8_t>(level);
  pages_[level] += n.length;
  if (level == 0 && n.locks == 0) evictable_ += n.length;
  if (level == 0) states_ += n.states;
  if (states_are_victim(n)) state_victims_.insert({n.used, node});
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
  pages_[level] -= n.length;
  if (level == 0 && n.locks == 0) evictable_ -= n.length;
  if (level == 0) states_ -= n.states;
  state_victims_.erase({n.used, node});
  victims_[level].erase({n.used, node});
  if (n.parent == kRoot) return;
  Node& parent = at(n.parent);
  --parent.children[level];
  if (is_victim(parent)) victims_[parent.level].insert({parent.used, n.parent});
}

void RadixCache::use(int32_t node) {
  Node& n = at(node);
  const bool victim = is_victim(n), states = states_are_victim(n);
  if (victim) victims_[n.level].erase({n.used, node});
  if (states) state_victims_.erase({n.used, node});
  n.used = ++clock_;
  if (victim) victims_[n.level].insert({n.used, node});
  if (states) state_victims_.insert({n.used, node});
}

void RadixCache::split(int32_t node, int32_t length) {
  if (free_.empty()) {
    free_.push_back(static_cast<int32_t>(nodes_.size()));
    nodes_.emplace_back();
  }
  const int32_t start = free_.back();
  free_.pop_back();
  Node& end = at(node);
  at(start) = {end.content, length, end.parent, end.locks, end.used, end.level, {}, false, 0};
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
  if (node != kRoot && at(node).state_locks++ == 0) state_victims_.erase({at(node).used, node});
  for (; node != kRoot; node = at(node).parent) {
    Node& n = at(node);
    if (is_victim(n)) victims_[0].erase({n.used, node});
    if (n.locks++ == 0) evictable_ -= n.length;
  }
}

void RadixCache::unlock(int32_t node) {
  if (node != kRoot) {
    --at(node).state_locks;
    if (states_are_victim(at(node))) state_victims_.insert({at(node).used, node});
  }
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
    while (pages_[level] + length > room) evict_node(victims_[level].begin()->second);
    take_out(node);
    put(node, level);
    return;
  }
  remove(node);
}

// With the nodes before it that have neither states nor children, if the model has states.
int64_t RadixCache::evict_leaf(int32_t node) {
  int64_t out = 0;
  for (bool first = true; node != kRoot && at(node).level == 0 && is_victim(at(node)); first = false) {
    if (!first && (state_pool_ == 0 || at(node).states)) break;
    const int32_t parent = at(node).parent;
    out += at(node).length;
    evict_node(node);
    node = parent;
  }
  return out;
}

void RadixCache::evict(int64_t pages) {
  while (pages > 0 && !victims_[0].empty()) pages -= evict_leaf(victims_[0].begin()->second);
}

void RadixCache::clear() {
  nodes_.clear();
  free_.clear();
  by_content_.clear();
  for (auto& victims : victims_) victims.clear();
  pages_ = {};
  evictable_ = states_ = running_states_ = 0;
  state_victims_.clear();
}

}  // namespace shardscape
