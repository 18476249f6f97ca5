#include "trace/trace_graph.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace shardscape {

void TraceGraph::add(const RawNode& node) {
  ids_.push_back(node.id);
  durations_.push_back(node.duration);
  for (const auto* deps : {&node.ctrl_deps, &node.data_deps})
    deps_.insert(deps_.end(), deps->begin(), deps->end());
  begin_.push_back(deps_.size());
  if (node.is_root()) ++roots_;
}

void TraceGraph::finish() {
  if (ids_.empty()) return;
  const auto [low, high] = std::minmax_element(ids_.begin(), ids_.end());
  first_id_ = *low;
  last_id_ = *high;
  // A table with one entry per id, unless most entries would be empty.
  constexpr uint64_t kSparse = 4;
  table_ = last_id_ - first_id_ < kSparse * ids_.size();
  if (table_) {
    by_id_.assign(last_id_ - first_id_ + 1, kMissing);
    for (uint32_t p = 0; p < size(); ++p) {
      uint32_t& entry = by_id_[ids_[p] - first_id_];
      if (entry == kMissing)
        entry = p;
      else
        ++duplicates_;
    }
  } else {
    by_id_.resize(ids_.size());
    std::iota(by_id_.begin(), by_id_.end(), 0u);
    std::sort(by_id_.begin(), by_id_.end(),
              [&](uint32_t a, uint32_t b) { return std::tie(ids_[a], a) < std::tie(ids_[b], b); });
    for (size_t k = 1; k < by_id_.size(); ++k) duplicates_ += ids_[by_id_[k]] == ids_[by_id_[k - 1]];
  }
  for (uint64_t& dep : deps_) {
    dep = find(dep).value_or(kMissing);
    missing_ += dep == kMissing;
  }
}

std::optional<uint32_t> TraceGraph::find(uint64_t id) const {
  if (ids_.empty() || id < first_id_ || id > last_id_) return std::nullopt;
  if (table_) {
    const uint32_t position = by_id_[id - first_id_];
    return position == kMissing ? std::nullopt : std::optional(position);
  }
  const auto it = std::lower_bound(by_id_.begin(), by_id_.end(), id,
                                   [&](uint32_t p, uint64_t wanted) { return ids_[p] < wanted; });
  return it != by_id_.end() && ids_[*it] == id ? std::optional(*it) : std::nullopt;
}

std::vector<uint32_t> TraceGraph::dependencies(uint32_t position) const {
  std::vector<uint32_t> out;
  for (uint64_t k = begin_[position]; k < begin_[position + 1]; ++k)
    out.push_back(static_cast<uint32_t>(deps_[k]));
  return out;
}

std::vector<std::vector<uint32_t>> TraceGraph::dependents_of(const std::vector<uint32_t>& positions) const {
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> place(ids_.size(), kNone);
  for (size_t k = 0; k < positions.size(); ++k) place[positions[k]] = static_cast<uint32_t>(k);
  std::vector<std::vector<uint32_t>> out(positions.size());
  for (uint32_t p = 0; p < size(); ++p)
    for (uint64_t k = begin_[p]; k < begin_[p + 1]; ++k)
      if (deps_[k] != kMissing && place[deps_[k]] != kNone) {
        auto& list = out[place[deps_[k]]];
        if (list.empty() || list.back() != p) list.push_back(p);
      }
  return out;
}

// Visits all positions, dependencies first. Returns the nodes that a cycle leaves over; empty if there is
// none.
template <class Visit>
std::vector<bool> TraceGraph::in_order(const Visit& visit) const {
  bool sorted = true;
  for (uint32_t p = 0; p < size() && sorted; ++p)
    for (uint64_t k = begin_[p]; k < begin_[p + 1]; ++k) sorted &= deps_[k] == kMissing || deps_[k] < p;
  if (sorted) {
    for (uint32_t p = 0; p < size(); ++p) visit(p);
    return {};
  }
  // Kahn's algorithm over the reversed dependencies.
  std::vector<uint64_t> at(uint64_t{size()} + 1, 0);
  std::vector<uint32_t> waits(size(), 0);
  for (uint32_t p = 0; p < size(); ++p)
    for (uint64_t k = begin_[p]; k < begin_[p + 1]; ++k)
      if (deps_[k] != kMissing) {
        ++at[deps_[k] + 1];
        ++waits[p];
      }
  std::partial_sum(at.begin(), at.end(), at.begin());
  std::vector<uint32_t> dependents(at.back());
  std::vector<uint64_t> next(at.begin(), at.end() - 1);
  for (uint32_t p = 0; p < size(); ++p)
    for (uint64_t k = begin_[p]; k < begin_[p + 1]; ++k)
      if (deps_[k] != kMissing) dependents[next[deps_[k]]++] = p;
  std::vector<uint32_t> ready;
  for (uint32_t p = 0; p < size(); ++p)
    if (waits[p] == 0) ready.push_back(p);
  size_t visited = 0;
  while (!ready.empty()) {
    const uint32_t p = ready.back();
    ready.pop_back();
    ++visited;
    visit(p);
    for (uint64_t k = at[p]; k < at[p + 1]; ++k)
      if (--waits[dependents[k]] == 0) ready.push_back(dependents[k]);
  }
  if (visited == ids_.size()) return {};
  std::vector<bool> stuck(size());
  for (uint32_t p = 0; p < size(); ++p) stuck[p] = waits[p] > 0;
  return stuck;
}

// From a node that never runs, a walk along dependencies that never run comes back to one of its nodes.
std::vector<uint32_t> TraceGraph::cycle_among(const std::vector<bool>& stuck) const {
  std::vector<uint32_t> walk, step(ids_.size(), kMissing);
  uint32_t p = static_cast<uint32_t>(std::find(stuck.begin(), stuck.end(), true) - stuck.begin());
  while (step[p] == kMissing) {
    step[p] = static_cast<uint32_t>(walk.size());
    walk.push_back(p);
    const auto deps = dependencies(p);
    p = *std::find_if(deps.begin(), deps.end(), [&](uint32_t d) { return d != kMissing && stuck[d]; });
  }
  return {walk.begin() + step[p], walk.end()};
}

TraceGraph::Chain TraceGraph::longest_chain() const {
  struct Length {
    uint64_t microseconds = 0;
    uint32_t nodes = 0, previous = kMissing;
    bool operator<(const Length& o) const {
      return std::tie(microseconds, nodes) < std::tie(o.microseconds, o.nodes);
    }
  };
  std::vector<Length> to(ids_.size());
  uint32_t last = kMissing;
  Chain chain;
  const std::vector<bool> stuck = in_order([&](uint32_t p) {
    Length& own = to[p];
    for (uint64_t k = begin_[p]; k < begin_[p + 1]; ++k) {
      if (deps_[k] == kMissing) continue;
      const Length& before = to[deps_[k]];
      if (own < before) own = {before.microseconds, before.nodes, static_cast<uint32_t>(deps_[k])};
    }
    const uint64_t sum = own.microseconds + durations_[p];
    own.microseconds = sum < durations_[p] ? UINT64_MAX : sum;
    ++own.nodes;
    if (last == kMissing || to[last] < own) last = p;
  });
  if (!stuck.empty()) {
    chain.stuck = std::count(stuck.begin(), stuck.end(), true);
    chain.cycle = cycle_among(stuck);
  }
  if (chain.stuck > 0 || last == kMissing) return chain;
  chain.microseconds = to[last].microseconds;
  for (uint32_t p = last; p != kMissing; p = to[p].previous) chain.nodes.push_back(p);
  std::reverse(chain.nodes.begin(), chain.nodes.end());
  return chain;
}

}  // namespace shardscape
