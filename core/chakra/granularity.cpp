#include "chakra/granularity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <vector>

#include "base/enum_count.h"
#include "chakra/lower.h"

namespace shardscape {
namespace {

constexpr std::array<std::string_view, enum_count<Granularity>()> kNames = {"op", "block", "layer", "pass",
                                                                            "between-communications"};
constexpr uint32_t kNoOp = std::numeric_limits<uint32_t>::max();

// "attention.q.grad" -> "attention"
std::string_view block_of(const TraceOp& op) {
  return std::string_view(op.name).substr(0, op.name.find('.'));
}

template <class T>
T sum_of(T a, T b, const TraceOp& op) {
  T sum{};
  if (__builtin_add_overflow(a, b, &sum))
    throw LoweringError(op.name +
                        ": the sum over merged nodes does not fit into a trace; use a finer granularity");
  return sum;
}

class Merger {
 public:
  Merger(const RankProgram& in, Granularity granularity) : in_(in), granularity_(granularity) {}

  RankProgram run() {
    find_limits();
    find_groups();
    connect();
    order();
    return emit();
  }

 private:
  size_t count() const { return in_.nodes.size(); }
  const TraceOp& op(size_t node) const { return in_.ops[in_.nodes[node].op]; }
  bool computes(size_t node) const { return op(node).type == chakra::NodeType::Comp; }
  std::span<const uint32_t> deps(size_t node) const {
    const TraceNode& n = in_.nodes[node];
    return {in_.deps.data() + n.deps, n.ctrl_count + n.data_count};
  }

  // Of every node: the last communication that it follows (after_) and the first that waits for it (before_),
  // as numbers along the chain, from 1; 0 and kNoOp: there is none.
  void find_limits() {
    after_.assign(count(), 0);
    before_.assign(count(), kNoOp);
    uint32_t chain = 0;
    for (size_t n = 0; n < count(); ++n) {
      for (const uint32_t id : deps(n)) after_[n] = std::max(after_[n], after_[id - 1]);
      if (!computes(n)) after_[n] = ++chain;
    }
    for (size_t n = count(); n-- != 0;) {
      const uint32_t limit = computes(n) ? before_[n] : after_[n];
      for (const uint32_t id : deps(n)) before_[id - 1] = std::min(before_[id - 1], limit);
    }
  }

  // Whether the granularity allows two compute nodes that follow each other in the program to be one node.
  bool together(size_t a, size_t b) const {
    const TraceNode &x = in_.nodes[a], &y = in_.nodes[b];
    const bool action = x.action == y.action && x.microbatch == y.microbatch;
    const bool layer = action && x.layer == y.layer && op(a).place == op(b).place;
    switch (granularity_) {
      case Granularity::Op: return false;
      case Granularity::Block: return layer && block_of(op(a)) == block_of(op(b));
      case Granularity::Layer: return layer;
      case Granularity::Pass: return action;
      case Granularity::BetweenCommunications: return true;
    }
    return false;
  }

  // A group is what becomes one node. A run is a series of compute nodes that the granularity allows to be
  // one; the nodes of a run with equal limits are a group. Runs and limits never decrease along a dependency,
  // so groups have no cycles.
  void find_groups() {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> of_run;  // by limits
    size_t last = count();                                     // compute node before this one
    group_.resize(count());
    for (size_t n = 0; n < count(); ++n) {
      uint32_t group = static_cast<uint32_t>(members_.size());
      if (computes(n)) {
        if (last == count() || !together(last, n)) of_run.clear();
        last = n;
        group = of_run.try_emplace({after_[n], before_[n]}, group).first->second;
      }
      if (group == members_.size()) members_.emplace_back();
      members_[group].push_back(static_cast<uint32_t>(n));
      group_[n] = group;
    }
  }

  // Dependencies between groups. A data dependency of any two members is one of their groups. Of several
  // communications, only the last along the chain is named.
  void connect() {
    edges_.resize(members_.size());
    for (size_t g = 0; g < members_.size(); ++g) {
      std::map<uint32_t, bool> found;  // group, whether it is a data dependency
      uint32_t last = kNoOp;           // communication
      for (const uint32_t n : members_[g]) {
        const std::span<const uint32_t> all = deps(n);
        for (size_t k = 0; k < all.size(); ++k) {
          const uint32_t other = group_[all[k] - 1];
          if (other == g) continue;
          found[other] |= k >= in_.nodes[n].ctrl_count;
          if (!computes(all[k] - 1) && (last == kNoOp || first(last) < all[k] - 1)) last = other;
        }
      }
      if (members_[g].size() > 1)
        std::erase_if(found, [&](const auto& f) { return !computes(first(f.first)) && f.first != last; });
      edges_[g].assign(found.begin(), found.end());
    }
  }

  uint32_t first(uint32_t group) const { return members_[group].front(); }

  // Groups so that dependencies come first; among those that are free, the one with the first node.
  void order() {
    std::vector<uint32_t> waits(members_.size());
    std::vector<std::vector<uint32_t>> next(members_.size());
    using Free = std::pair<uint32_t, uint32_t>;  // first node, group
    std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
    for (uint32_t g = 0; g < members_.size(); ++g) {
      waits[g] = static_cast<uint32_t>(edges_[g].size());
      for (const auto& [before, data] : edges_[g]) next[before].push_back(g);
      if (waits[g] == 0) free.emplace(first(g), g);
    }
    id_.assign(members_.size(), 0);
    while (!free.empty()) {
      const uint32_t g = free.top().second;
      free.pop();
      order_.push_back(g);
      id_[g] = static_cast<uint32_t>(order_.size());
      for (const uint32_t after : next[g])
        if (--waits[after] == 0) free.emplace(first(after), after);
    }
  }

  // The op of a group. Groups of the same ops share it.
  uint32_t merged_op(const std::vector<uint32_t>& members, RankProgram& out) {
    std::vector<uint32_t> ops;
    for (const uint32_t n : members) ops.push_back(in_.nodes[n].op);
    const auto same = [&](auto field) {
      return std::all_of(members.begin(), members.end(),
                         [&](uint32_t n) { return field(n) == field(members.front()); });
    };
    const bool layer = same([&](uint32_t n) { return in_.nodes[n].layer; }) &&
                       same([&](uint32_t n) { return op(n).place; });
    const bool block = layer && same([&](uint32_t n) { return block_of(op(n)); });
    const bool action = same([&](uint32_t n) { return in_.actions[in_.nodes[n].action]; });
    const std::string_view what = action ? in_.actions[in_.nodes[members.front()].action] : "compute";
    const auto [at, fresh] = made_.try_emplace({ops, std::string(what), layer},
                                               static_cast<uint32_t>(out.ops.size()));
    if (!fresh) return at->second;
    const std::string_view of = block ? block_of(op(members.front())) : "";
    TraceOp merged{
        .name = of.empty() || of == what ? std::string(what) : std::string(of) + "." + std::string(what),
        .place = layer ? op(members.front()).place : ""};
    for (const uint32_t n : members) {
      merged.num_ops = sum_of(merged.num_ops, op(n).num_ops, merged);
      merged.tensor_size = sum_of(merged.tensor_size, op(n).tensor_size, merged);
      merged.seconds += op(n).seconds;
    }
    out.ops.push_back(std::move(merged));
    return at->second;
  }

  TraceNode merged_node(const std::vector<uint32_t>& members, RankProgram& out) {
    TraceNode node = in_.nodes[members.front()];
    if (members.size() == 1) return node;
    node.op = merged_op(members, out);
    for (const uint32_t n : members) {
      if (in_.nodes[n].microbatch != node.microbatch) node.microbatch = -1;
      if (in_.nodes[n].layer != node.layer) node.layer = -1;
    }
    return node;
  }

  RankProgram emit() {
    RankProgram out{.stage = in_.stage,
                    .ring_position = in_.ring_position,
                    .roles = in_.roles,
                    .chunks = in_.chunks,
                    .tensors = in_.tensors,
                    .pass = in_.pass,
                    .actions = in_.actions,
                    .ops = in_.ops};
    for (const uint32_t g : order_) {
      TraceNode node = merged_node(members_[g], out);
      node.deps = static_cast<uint32_t>(out.deps.size());
      for (const bool data : {false, true}) {
        const size_t begin = out.deps.size();
        for (const auto& [before, is_data] : edges_[g])
          if (is_data == data) out.deps.push_back(id_[before]);
        std::sort(out.deps.begin() + static_cast<std::ptrdiff_t>(begin), out.deps.end());
        (data ? node.data_count : node.ctrl_count) = static_cast<uint32_t>(out.deps.size() - begin);
      }
      out.nodes.push_back(node);
      if (in_.durations.empty()) continue;
      uint32_t& microseconds = out.durations.emplace_back(0);
      for (const uint32_t n : members_[g]) microseconds = sum_of(microseconds, in_.durations[n], op(n));
    }
    return out;
  }

  const RankProgram& in_;
  const Granularity granularity_;
  std::vector<uint32_t> after_, before_;        // by node
  std::vector<uint32_t> group_;                 // by node
  std::vector<std::vector<uint32_t>> members_;  // by group: nodes, ascending
  // By group: the groups that it depends on, and whether for data.
  std::vector<std::vector<std::pair<uint32_t, bool>>> edges_;
  std::vector<uint32_t> order_, id_;  // groups in order; ids by group
  // By ops, action, and whether all are of one layer.
  std::map<std::tuple<std::vector<uint32_t>, std::string, bool>, uint32_t> made_;
};

}  // namespace

std::string_view granularity_name(Granularity granularity) {
  return kNames[static_cast<size_t>(granularity)];
}

std::string granularity_unit(Granularity granularity) {
  switch (granularity) {
    case Granularity::Op: return "op";
    case Granularity::Block: return "block of a layer";
    case Granularity::Layer: return "layer";
    case Granularity::Pass: return "pass of a microbatch";
    case Granularity::BetweenCommunications: return "pair of communications";
  }
  return "";
}

std::optional<Granularity> parse_granularity(std::string_view name) {
  const auto* at = std::find(kNames.begin(), kNames.end(), name);
  if (at == kNames.end()) return std::nullopt;
  return static_cast<Granularity>(at - kNames.begin());
}

std::string granularity_list() {
  std::string list;
  for (const std::string_view name : kNames) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

RankProgram merge_compute_nodes(RankProgram program, Granularity granularity) {
  if (granularity == Granularity::Op || program.tensors) return program;
  return Merger(program, granularity).run();
}

}  // namespace shardscape
