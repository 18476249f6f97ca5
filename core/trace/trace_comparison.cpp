#include "trace/trace_comparison.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/units.h"
#include "model/parallel_loop.h"
#include "trace/trace_query.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;

CommShape shape_of(const CommKey& key, const TraceSide& side) {
  if (key.group.empty()) return {key.what, 0, key.bytes};
  const auto it = side.group_sizes.find(key.group);
  return {key.what, it == side.group_sizes.end() ? -1 : static_cast<int64_t>(it->second), key.bytes};
}

// What is compared of a node: everything but ids, dependencies and the names of groups.
struct NodeFacts {
  uint64_t id = 0;
  std::string text;
};

std::string facts_text(const RawNode& node, const TraceSide& side) {
  std::string text = type_text(node.type);
  if (const auto key = comm_key(node)) {
    const CommShape shape = shape_of(*key, side);
    if (shape.what != text) text = shape.what;
    text += " of " + grouped(shape.bytes) + " bytes";
    if (shape.ranks > 0) text += " over " + std::to_string(shape.ranks) + " ranks";
    for (const auto& [attr, word] : {std::pair(Attr::CommSrc, " from "), std::pair(Attr::CommDst, " to ")})
      if (node.attr(attr).present) text += word + std::to_string(attr_integer(node, attr));
    if (node.attr(Attr::CommTag).present) text += " tag " + std::to_string(attr_integer(node, Attr::CommTag));
  }
  for (const auto& [attr, unit] :
       {std::pair(Attr::NumOps, " FLOP"), std::pair(Attr::TensorSize, " bytes of tensors")})
    if (const int64_t value = attr_integer(node, attr); value != 0) text += ", " + grouped(value) + unit;
  if (node.duration != 0) text += ", " + grouped(static_cast<Wide>(node.duration)) + " µs";
  return text;
}

// The nodes of a trace by name, in file order.
using Named = std::unordered_map<std::string, std::vector<NodeFacts>>;

struct Loaded {
  Named nodes;
  std::vector<std::pair<std::string, size_t>> order;  // name, number among nodes of this name
};

// Stopped: without its nodes.
Result<Loaded> load(const TraceSide& side, int64_t rank, const std::stop_token& stop) {
  const fs::path& file = side.traces.at(rank);
  const auto content = load_trace(file, stop);
  if (const auto* problem = std::get_if<Problem>(&content)) return *problem;
  Loaded out;
  if (stop.stop_requested()) return out;
  const auto header = visit_nodes(
      file, std::get<std::string>(content),
      [&](const RawNode& node, std::string_view) {
        std::vector<NodeFacts>& list = out.nodes[std::string(node.name)];
        out.order.emplace_back(node.name, list.size());
        list.push_back({node.id, facts_text(node, side)});
      },
      stop);
  if (const auto* problem = std::get_if<Problem>(&header)) return *problem;
  return out;
}

// Calls `differ` for each difference, in the order of A, then of B.
template <class Visit>
void each_difference(const Loaded& a, const Loaded& b, const Visit& differ) {
  const auto find = [](const Loaded& side, const auto& entry) -> const NodeFacts* {
    const auto it = side.nodes.find(entry.first);
    return it != side.nodes.end() && entry.second < it->second.size() ? &it->second[entry.second] : nullptr;
  };
  using Kind = NodeDifference::Kind;
  for (const auto& entry : a.order) {
    const NodeFacts &own = *find(a, entry), *other = find(b, entry);
    if (!other)
      differ(NodeDifference{Kind::OnlyA, entry.first, own.id, 0, own.text, {}});
    else if (own.text != other->text)
      differ(NodeDifference{Kind::Changed, entry.first, own.id, other->id, own.text, other->text});
  }
  for (const auto& entry : b.order)
    if (!find(a, entry)) {
      const NodeFacts& own = *find(b, entry);
      differ(NodeDifference{Kind::OnlyB, entry.first, 0, own.id, {}, own.text});
    }
}

class Comparer {
 public:
  Comparer(const TraceSide& a, const TraceSide& b, size_t most, const std::stop_token& stop)
      : a_(a), b_(b), most_(most), stop_(stop) {}

  Result<TraceComparison> run() {
    out_.names = {a_.name, b_.name};
    if (auto problem = sum(
            a_, [](auto& both) -> auto& { return both.a; }))
      return *problem;
    if (auto problem = sum(
            b_, [](auto& both) -> auto& { return both.b; }))
      return *problem;
    if (auto problem = compare_ranks()) return *problem;
    return std::move(out_);
  }

 private:
  template <class Select>
  std::optional<Problem> sum(const TraceSide& side, const Select& of) {
    auto folder = summarize_folder(side.traces, {}, stop_);
    if (auto* problem = std::get_if<Problem>(&folder)) return std::move(*problem);
    const auto& summary = std::get<FolderSummary>(folder);
    of(out_.ranks) = summary.ranks;
    for (const auto& [kind, totals] : summary.kinds) {
      of(out_.kinds[kind]) = totals;
      of(out_.nodes) += totals.nodes;
    }
    for (const auto& [key, totals] : summary.comm) {
      CommTotals& to = of(out_.comm[shape_of(key, side)]);
      to.calls += totals.calls;
      to.microseconds += totals.microseconds;
    }
    return std::nullopt;
  }

  std::optional<Problem> compare_ranks() {
    std::vector<int64_t> ranks;
    for (const auto& [rank, path] : a_.traces)
      if (b_.traces.contains(rank)) ranks.push_back(rank);
    // Two single files are compared, whatever ranks their names have.
    if (ranks.empty() && a_.traces.size() == 1 && b_.traces.size() == 1)
      return compare_pair(a_.traces.begin()->first, b_.traces.begin()->first);
    std::vector<Result<bool>> different(ranks.size(), false);
    parallel_loop(ranks.size(), [&](size_t k) {
      if (!stop_.stop_requested()) different[k] = differs(ranks[k], ranks[k]);
    });
    for (size_t k = 0; k < ranks.size(); ++k) {
      if (auto* problem = std::get_if<Problem>(&different[k])) return std::move(*problem);
      if (std::get<bool>(different[k])) out_.different_ranks.push_back(ranks[k]);
    }
    if (out_.different_ranks.empty()) return std::nullopt;
    return compare_pair(out_.different_ranks.front(), out_.different_ranks.front());
  }

  Result<bool> differs(int64_t rank_a, int64_t rank_b) {
    const auto a = load(a_, rank_a, stop_), b = load(b_, rank_b, stop_);
    for (const auto* side : {&a, &b})
      if (const auto* problem = std::get_if<Problem>(side)) return *problem;
    bool any = false;
    each_difference(std::get<Loaded>(a), std::get<Loaded>(b), [&](const NodeDifference&) { any = true; });
    return any;
  }

  std::optional<Problem> compare_pair(int64_t rank_a, int64_t rank_b) {
    const auto a = load(a_, rank_a, stop_), b = load(b_, rank_b, stop_);
    for (const auto* side : {&a, &b})
      if (const auto* problem = std::get_if<Problem>(side)) return *problem;
    each_difference(std::get<Loaded>(a), std::get<Loaded>(b), [&](NodeDifference difference) {
      if (++out_.difference_count <= static_cast<int64_t>(most_))
        out_.differences.push_back(std::move(difference));
    });
    if (out_.difference_count == 0) return std::nullopt;
    out_.compared_rank = rank_a;
    if (out_.different_ranks.empty()) out_.different_ranks.push_back(rank_a);
    return std::nullopt;
  }

  const TraceSide &a_, &b_;
  const size_t most_;
  const std::stop_token& stop_;
  TraceComparison out_;
};

}  // namespace

bool TraceComparison::equal() const {
  const auto same = [](const auto& entry) { return !entry.second.differ(); };
  return !ranks.differ() && different_ranks.empty() && std::all_of(kinds.begin(), kinds.end(), same) &&
         std::all_of(comm.begin(), comm.end(), same);
}

Result<TraceComparison> compare_traces(const TraceSide& a, const TraceSide& b, size_t most,
                                       std::stop_token stop) {
  return Comparer(a, b, most, stop).run();
}

}  // namespace shardscape
