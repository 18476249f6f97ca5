#include "chakra/shape_analysis.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>

namespace shardscape {
namespace {

using chakra::NodeType;

constexpr size_t kWideReady = 500;  // the simulator scans all ready nodes at every completion
constexpr size_t kJoin = 8;

bool communicates(const ShapeNode& n) {
  return n.slot != kNoSlot &&
         (n.type == NodeType::Coll || n.type == NodeType::Send || n.type == NodeType::Recv);
}
bool blocking(const ShapeNode& n) { return n.type != NodeType::Recv; }

class Analyser {
 public:
  Analyser(const TraceShape& shape, int64_t rank, bool folded, Findings& findings)
      : shape_(shape), rank_(rank), folded_(folded), findings_(findings) {}

  ShapeAnalysis run() {
    index_ids();
    link();
    order();
    reduce();
    check_order();
    collect();
    return std::move(out_);
  }

 private:
  int64_t id(uint32_t node) const { return static_cast<int64_t>(shape_.nodes[node].id); }

  void index_ids() {
    const auto& nodes = shape_.nodes;
    for (size_t i = 1; i < nodes.size() && consecutive_; ++i) consecutive_ = nodes[i].id == nodes[0].id + i;
    if (consecutive_) return;
    for (uint32_t i = 0; i < nodes.size(); ++i)
      if (!index_.try_emplace(nodes[i].id, i).second)
        findings_.error("DUPLICATE_ID", rank_, id(i),
                        "another node has the same id; the simulator drops one of the nodes");
  }

  std::optional<uint32_t> find(uint64_t id) const {
    if (consecutive_) {
      const uint64_t offset = id - shape_.nodes[0].id;
      return offset < shape_.nodes.size() ? std::optional(static_cast<uint32_t>(offset)) : std::nullopt;
    }
    const auto it = index_.find(id);
    return it == index_.end() ? std::nullopt : std::optional(it->second);
  }

  void link() {
    const size_t n = shape_.nodes.size();
    first_pred_.resize(n + 1);
    waits_.resize(n);
    std::vector<uint32_t> preds;
    for (uint32_t i = 0; i < n; ++i) {
      const ShapeNode& node = shape_.nodes[i];
      preds.clear();
      for (uint32_t d = 0; d < node.dep_count; ++d) {
        const uint64_t dep = shape_.deps[node.deps + d];
        const auto at = find(dep);
        if (dep == node.id) {
          findings_.error("SELF_DEPENDENCY", rank_, id(i), "the node depends on itself: it never runs");
          ++waits_[i];  // never resolved
        } else if (!at) {
          findings_.error("DEP_MISSING", rank_, id(i),
                          "depends on node " + std::to_string(dep) + ", which does not exist");
        } else {
          preds.push_back(*at);
        }
      }
      std::sort(preds.begin(), preds.end());
      preds.erase(std::unique(preds.begin(), preds.end()), preds.end());
      waits_[i] += static_cast<uint32_t>(preds.size());
      preds_.insert(preds_.end(), preds.begin(), preds.end());
      first_pred_[i + 1] = static_cast<uint32_t>(preds_.size());
    }
  }

  // Topological order with the lowest ready id first, as in the simulator.
  void order() {
    const auto n = static_cast<uint32_t>(shape_.nodes.size());
    std::vector<uint32_t> first(n + 1), next(n), succs(preds_.size());
    for (const uint32_t p : preds_) ++first[p + 1];
    for (uint32_t i = 0; i < n; ++i) first[i + 1] += first[i];
    std::copy(first.begin(), first.end() - 1, next.begin());
    for (uint32_t i = 0; i < n; ++i)
      for (uint32_t k = first_pred_[i]; k < first_pred_[i + 1]; ++k) succs[next[preds_[k]]++] = i;

    using Entry = std::pair<uint64_t, uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (uint32_t i = 0; i < n; ++i)
      if (waits_[i] == 0) ready.push({shape_.nodes[i].id, i});
    size_t width = ready.size();
    while (!ready.empty()) {
      const uint32_t i = ready.top().second;
      ready.pop();
      order_.push_back(i);
      for (uint32_t k = first[i]; k < first[i + 1]; ++k)
        if (--waits_[succs[k]] == 0) ready.push({shape_.nodes[succs[k]].id, succs[k]});
      width = std::max(width, ready.size());
    }
    out_.complete = order_.size() == n;
    if (!out_.complete) report_cycle();
    if (width > kWideReady)
      findings_.warning("WIDE_READY", rank_, -1,
                        std::to_string(width) +
                            " nodes are ready at once; the simulator scans all of them at every completion");
  }

  void report_cycle() {
    // Follows unfinished predecessors until a node repeats.
    std::vector<uint32_t> path;
    std::unordered_map<uint32_t, size_t> seen;
    uint32_t at = 0;
    while (waits_[at] == 0) ++at;
    while (!seen.contains(at)) {
      seen[at] = path.size();
      path.push_back(at);
      const auto end = preds_.begin() + first_pred_[at + 1];
      const auto it = std::find_if(preds_.begin() + first_pred_[at], end,
                                   [&](uint32_t p) { return waits_[p] != 0; });
      if (it == end) break;  // depends on itself, or on a missing node
      at = *it;
    }
    std::string text;
    if (seen.contains(at) && path.size() > seen[at] + 1) {
      text = ": ";
      for (size_t k = path.size(); k-- > seen[at];) text += std::to_string(id(path[k])) + " -> ";
      text += std::to_string(id(path.back()));
    }
    findings_.error("CYCLE", rank_, id(at),
                    std::to_string(shape_.nodes.size() - order_.size()) +
                        " nodes never become ready; the simulator skips them silently" + text);
  }

  void reduce() {
    std::vector<std::vector<uint32_t>> front(shape_.nodes.size());
    std::vector<uint32_t> uses(shape_.nodes.size());
    for (const uint32_t p : preds_) ++uses[p];
    for (const uint32_t i : order_) {
      std::vector<uint32_t> before;
      for (uint32_t k = first_pred_[i]; k < first_pred_[i + 1]; ++k) {
        const uint32_t p = preds_[k];
        if (before.empty())
          before = front[p];
        else
          before.insert(before.end(), front[p].begin(), front[p].end());
        // A front is freed after its last use.
        if (--uses[p] == 0) std::vector<uint32_t>().swap(front[p]);
      }
      std::sort(before.begin(), before.end());
      before.erase(std::unique(before.begin(), before.end()), before.end());
      const bool comm = communicates(shape_.nodes[i]);
      if (folded_ && !comm && before.size() <= kJoin) {
        front[i] = std::move(before);
        continue;
      }
      front[i] = {static_cast<uint32_t>(out_.comm.size())};
      out_.comm.push_back({.node = i,
                           .join = !comm,
                           .preds = static_cast<uint32_t>(out_.preds.size()),
                           .pred_count = static_cast<uint32_t>(before.size())});
      out_.preds.insert(out_.preds.end(), before.begin(), before.end());
    }
    link_successors();
  }

  void link_successors() {
    for (const uint32_t p : out_.preds) ++out_.comm[p].succ_count;
    uint32_t at = 0;
    for (CommNode& c : out_.comm) {
      c.succs = at;
      at += c.succ_count;
      c.succ_count = 0;
    }
    out_.succs.resize(out_.preds.size());
    for (uint32_t i = 0; i < out_.comm.size(); ++i) {
      const CommNode& c = out_.comm[i];
      for (uint32_t k = 0; k < c.pred_count; ++k) {
        CommNode& p = out_.comm[out_.preds[c.preds + k]];
        out_.succs[p.succs + p.succ_count++] = i;
      }
    }
  }

  // Warns about collectives and sends that do not depend on the previous one: timing decides their order.
  void check_order() {
    std::vector<int64_t> reach(out_.comm.size(), -1);
    int64_t position = -1, free = 0, example = -1;
    for (uint32_t i = 0; i < out_.comm.size(); ++i) {
      const CommNode& c = out_.comm[i];
      for (uint32_t k = 0; k < c.pred_count; ++k)
        reach[i] = std::max(reach[i], reach[out_.preds[c.preds + k]]);
      if (c.join || !blocking(shape_.nodes[c.node])) continue;
      if (reach[i] != position && free++ == 0) example = id(c.node);
      reach[i] = ++position;
    }
    if (free > 0)
      findings_.warning("ORDER_FREE", rank_, example,
                        std::to_string(free) + " of " + std::to_string(position + 1) +
                            " collectives and sends do not depend on the previous one; timing decides "
                            "whether the order is equal on all ranks");
  }

  void collect() {
    out_.collectives.resize(shape_.group_slots);
    out_.collective_hash.resize(shape_.group_slots, 1469598103934665603ull);
    out_.sends.resize(shape_.peer_slots);
    out_.receives.resize(shape_.peer_slots);
    for (uint32_t i = 0; i < out_.comm.size(); ++i) {
      CommNode& c = out_.comm[i];
      if (c.join) continue;
      const ShapeNode& n = shape_.nodes[c.node];
      if (n.type == NodeType::Coll) {
        ++out_.collective_count;
        if (n.collective == chakra::CollectiveType::Broadcast) continue;  // replayed locally
        c.issue = static_cast<uint32_t>(out_.collectives[n.slot].size());
        out_.collectives[n.slot].push_back(i);
        uint64_t& hash = out_.collective_hash[n.slot];
        hash = (hash ^ static_cast<uint64_t>(n.collective.value())) * 1099511628211ull;
        hash = (hash ^ static_cast<uint64_t>(n.size)) * 1099511628211ull;
        hash ^= hash >> 29;
      } else {
        const bool send = n.type == NodeType::Send;
        out_.send_count += send;
        (send ? out_.sends : out_.receives)[n.slot].push_back({n.tag, n.size, n.id});
      }
    }
    for (auto* lists : {&out_.sends, &out_.receives})
      for (auto& list : *lists) std::sort(list.begin(), list.end());
    for (const auto& list : out_.sends)
      for (size_t k = 1; k < list.size(); ++k)
        if (list[k].tag == list[k - 1].tag && list[k].size == list[k - 1].size)
          findings_.warning("TAG_REUSED", rank_, static_cast<int64_t>(list[k].id),
                            "another send to the same rank has tag " + std::to_string(list[k].tag) + " and " +
                                std::to_string(list[k].size) + " bytes; they pair in order of issue");
  }

  const TraceShape& shape_;
  int64_t rank_;
  bool folded_;
  Findings& findings_;
  ShapeAnalysis out_;
  bool consecutive_ = true;
  std::unordered_map<uint64_t, uint32_t> index_;
  std::vector<uint32_t> preds_, first_pred_, waits_, order_;
};

}  // namespace

ShapeAnalysis analyse_shape(const TraceShape& shape, int64_t rank, bool folded, Findings& findings) {
  return Analyser(shape, rank, folded, findings).run();
}

}  // namespace shardscape
