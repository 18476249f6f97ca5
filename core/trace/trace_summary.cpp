#include "trace/trace_summary.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>
#include <set>
#include <tuple>

#include "chakra/chakra.h"
#include "model/parallel_loop.h"

namespace shardscape {
namespace {

namespace fs = std::filesystem;
using chakra::CollectiveType;
using chakra::NodeType;

std::string collective_text_of(const AttrValue& type) {
  if (!type.present || !type.is_integer()) return "collective without comm_type";
  if (type.integer < 0 || type.integer >= chakra::kCollectiveTypeCount)
    return "comm_type " + std::to_string(type.integer);
  return std::string(chakra::collective_type_name(static_cast<CollectiveType>(type.integer)));
}

std::string group_text(const AttrValue& group) {
  if (!group.present) return {};
  std::string text = group.is_integer() ? std::to_string(group.integer) : std::string(group.text);
  return text == "0" ? std::string() : text;  // ASTRA-sim: "" and "0" are all ranks
}

// A key without copies, for look-ups.
struct KeyView {
  int64_t type, collective;
  std::string_view group;
  int64_t group_number, bytes;
  auto operator<=>(const KeyView&) const = default;
};

// Sums of one trace. Names are made once per key, not once per node.
class Totals {
 public:
  void add(const RawNode& node) {
    const bool known = node.type >= 0 && node.type < chakra::kNodeTypeCount;
    KindTotals& kind = known ? known_kinds_[static_cast<size_t>(node.type)] : other_kinds_[node.type];
    ++kind.nodes;
    kind.flops += std::max<int64_t>(0, attr_integer(node, Attr::NumOps));
    kind.tensor_bytes += std::max<int64_t>(0, attr_integer(node, Attr::TensorSize));
    kind.microseconds += static_cast<Wide>(node.duration);
    const bool coll = node.type == static_cast<int64_t>(NodeType::Coll);
    if (!coll && node.type != static_cast<int64_t>(NodeType::Send) &&
        node.type != static_cast<int64_t>(NodeType::Recv))
      return;
    const AttrValue& group = node.attr(Attr::PgName);
    const AttrValue& type = node.attr(Attr::CommType);
    const KeyView view{node.type, coll && type.is_integer() ? type.integer : -1, group.text, group.integer,
                       attr_integer(node, Attr::CommSize)};
    auto it = comm_.find(view);
    if (it == comm_.end()) {
      KeyView kept = view;
      kept.group = *groups_.emplace(view.group).first;
      it = comm_.emplace(kept, std::pair(comm_key(node).value(), CommTotals{})).first;
    }
    ++it->second.second.calls;
    it->second.second.microseconds += static_cast<Wide>(node.duration);
  }
  void into(TraceSummary& out) const {
    for (size_t type = 0; type < known_kinds_.size(); ++type)
      if (known_kinds_[type].nodes > 0) out.kinds[type_text(static_cast<int64_t>(type))] = known_kinds_[type];
    for (const auto& [type, totals] : other_kinds_) out.kinds[type_text(type)] = totals;
    for (const auto& [view, entry] : comm_) {
      CommTotals& to = out.comm[entry.first];
      to.calls += entry.second.calls;
      to.microseconds += entry.second.microseconds;
    }
  }

 private:
  std::array<KindTotals, chakra::kNodeTypeCount> known_kinds_;
  std::map<int64_t, KindTotals> other_kinds_;
  std::map<KeyView, std::pair<CommKey, CommTotals>> comm_;
  std::set<std::string, std::less<>> groups_;
};

void add_totals(KindTotals& to, const KindTotals& from) {
  to.nodes += from.nodes;
  to.flops += from.flops;
  to.tensor_bytes += from.tensor_bytes;
  to.microseconds += from.microseconds;
}

std::map<std::tuple<std::string, int64_t>, CommTotals> without_groups(
    const std::map<CommKey, CommTotals>& comm) {
  std::map<std::tuple<std::string, int64_t>, CommTotals> out;
  for (const auto& [key, totals] : comm) {
    CommTotals& to = out[{key.what, key.bytes}];
    to.calls += totals.calls;
    to.microseconds += totals.microseconds;
  }
  return out;
}

// Where the nodes of a trace are in its bytes.
struct NodePlaces {
  std::vector<uint64_t> begin;
  std::vector<uint32_t> size;
};

// Takes the names of the longest nodes of the chain.
void describe_chain(std::string_view content, const NodePlaces& places, const TraceGraph& graph,
                    const TraceGraph::Chain& chain, TraceSummary& out) {
  constexpr size_t kDescribed = 10;
  out.stuck = chain.stuck;
  for (const uint32_t p : chain.cycle) out.cycle.push_back(graph.id(p));
  out.chain_microseconds = chain.microseconds;
  out.chain_length = static_cast<int64_t>(chain.nodes.size());
  if (chain.microseconds == 0) return;
  std::vector<size_t> longest(chain.nodes.size());  // places in the chain
  std::iota(longest.begin(), longest.end(), size_t{0});
  const auto last = longest.begin() + static_cast<std::ptrdiff_t>(std::min(kDescribed, longest.size()));
  std::partial_sort(longest.begin(), last, longest.end(), [&](size_t a, size_t b) {
    const uint64_t left = graph.duration(chain.nodes[a]), right = graph.duration(chain.nodes[b]);
    return left != right ? left > right : a < b;
  });
  std::sort(longest.begin(), last);
  for (auto it = longest.begin(); it != last; ++it) {
    const uint32_t p = chain.nodes[*it];
    out.chain.push_back({graph.id(p),
                         node_name(content.substr(places.begin[p], places.size[p]), out.header.binary),
                         graph.duration(p)});
  }
}

}  // namespace

std::string type_text(int64_t type) {
  if (type < 0 || type >= chakra::kNodeTypeCount) return "type " + std::to_string(type);
  return std::string(chakra::node_type_name(static_cast<NodeType>(type)));
}

std::optional<CommKey> comm_key(const RawNode& node) {
  if (node.type == static_cast<int64_t>(NodeType::Coll))
    return CommKey{collective_text_of(node.attr(Attr::CommType)), group_text(node.attr(Attr::PgName)),
                   attr_integer(node, Attr::CommSize)};
  if (node.type == static_cast<int64_t>(NodeType::Send) || node.type == static_cast<int64_t>(NodeType::Recv))
    return CommKey{type_text(node.type), {}, attr_integer(node, Attr::CommSize)};
  return std::nullopt;
}

int64_t attr_integer(const RawNode& node, Attr attr) { return node.attr(attr).integer; }

KindTotals sum_of(const std::map<std::string, KindTotals>& kinds) {
  KindTotals sum;
  for (const auto& [kind, totals] : kinds) add_totals(sum, totals);
  return sum;
}

KindTotals TraceSummary::totals() const { return sum_of(kinds); }

bool TraceSummary::same_content(const TraceSummary& o) const {
  return nodes == o.nodes && kinds == o.kinds && dependencies == o.dependencies &&
         chain_microseconds == o.chain_microseconds && chain_length == o.chain_length &&
         missing_dependencies == o.missing_dependencies && duplicate_ids == o.duplicate_ids &&
         stuck == o.stuck && without_groups(comm) == without_groups(o.comm);
}

namespace {

// Equal for summaries with the same content.
uint64_t content_hash(const TraceSummary& of) {
  uint64_t sum = static_cast<uint64_t>(of.nodes) + 31 * static_cast<uint64_t>(of.dependencies) +
                 37 * of.chain_microseconds;
  // A sum, because the groups give the order of the keys. The bytes count with their square, so that equal
  // totals of different sizes differ.
  for (const auto& [key, totals] : of.comm) {
    const auto bytes = static_cast<uint64_t>(key.bytes);
    sum += static_cast<uint64_t>(totals.calls) *
           (bytes * bytes + 41 * bytes + std::hash<std::string>()(key.what));
  }
  return sum;
}

}  // namespace

Result<TraceSummary> summarize_trace(const fs::path& file, std::string_view content,
                                     const std::stop_token& stop) {
  TraceSummary out;
  Totals totals;
  TraceGraph graph;
  bool timed = false;
  NodePlaces places;
  auto header = visit_nodes(
      file, content,
      [&](const RawNode& node, std::string_view bytes) {
        totals.add(node);
        graph.add(node);
        places.begin.push_back(static_cast<uint64_t>(bytes.data() - content.data()));
        places.size.push_back(static_cast<uint32_t>(bytes.size()));
        if (node.start == 0 && node.duration == 0) return;
        const uint64_t end = node.start + std::min(node.duration, UINT64_MAX - node.start);
        out.begin = timed ? std::min(out.begin, node.start) : node.start;
        out.end = std::max(out.end, end);
        timed = true;
      },
      stop);
  if (auto* problem = std::get_if<Problem>(&header)) return std::move(*problem);
  if (stop.stop_requested()) return out;
  out.header = std::move(std::get<TraceHeader>(header));
  out.file_bytes = static_cast<int64_t>(content.size());
  totals.into(out);
  graph.finish();
  out.nodes = graph.size();
  out.first_id = graph.first_id();
  out.last_id = graph.last_id();
  out.dense_ids = graph.dense_ids();
  out.dependencies = graph.dependency_count();
  out.roots = graph.root_count();
  out.missing_dependencies = graph.missing_count();
  out.duplicate_ids = graph.duplicate_count();
  describe_chain(content, places, graph, graph.longest_chain(), out);
  return out;
}

Result<TraceSummary> summarize_trace(const fs::path& file, const std::stop_token& stop) {
  auto content = load_trace(file, stop);
  if (auto* problem = std::get_if<Problem>(&content)) return std::move(*problem);
  if (stop.stop_requested()) return TraceSummary();
  return summarize_trace(file, std::get<std::string>(content), stop);
}

void FolderSummaryBuilder::add(int64_t rank, TraceSummary summary) {
  ++out_.ranks;
  out_.file_bytes += summary.file_bytes;
  for (const auto& [kind, totals] : summary.kinds) add_totals(out_.kinds[kind], totals);
  for (const auto& [key, totals] : summary.comm) {
    CommTotals& to = out_.comm[key];
    to.calls += totals.calls;
    to.microseconds += totals.microseconds;
  }
  std::vector<size_t>& alike = by_hash_[content_hash(summary)];
  for (const size_t k : alike) {
    RankClass& c = out_.classes[k];
    if (!c.summary.same_content(summary)) continue;
    if (rank < c.ranks.front()) c.summary = std::move(summary);
    c.ranks.insert(std::lower_bound(c.ranks.begin(), c.ranks.end(), rank), rank);
    return;
  }
  alike.push_back(out_.classes.size());
  out_.classes.push_back({{rank}, std::move(summary)});
}

FolderSummary FolderSummaryBuilder::take() {
  std::sort(out_.classes.begin(), out_.classes.end(),
            [](const RankClass& a, const RankClass& b) { return a.ranks.front() < b.ranks.front(); });
  return std::move(out_);
}

Result<FolderSummary> summarize_folder(const std::map<int64_t, fs::path>& traces,
                                       const std::function<void(double)>& progress, std::stop_token stop) {
  const std::vector<std::pair<int64_t, fs::path>> files(traces.begin(), traces.end());
  FolderSummaryBuilder builder;
  std::optional<Problem> problem;
  std::mutex mutex;
  size_t done = 0;
  parallel_loop(files.size(), [&](size_t k) {
    if (stop.stop_requested()) return;
    auto summary = summarize_trace(files[k].second, stop);
    if (stop.stop_requested()) return;
    const std::scoped_lock lock(mutex);
    if (auto* p = std::get_if<Problem>(&summary)) {
      if (!problem || p->where < problem->where) problem = std::move(*p);
    } else {
      builder.add(files[k].first, std::move(std::get<TraceSummary>(summary)));
    }
    if (progress) progress(static_cast<double>(++done) / static_cast<double>(files.size()));
  });
  if (problem) return std::move(*problem);
  return builder.take();
}

}  // namespace shardscape
