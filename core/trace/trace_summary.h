// What a trace, or all traces of a folder, hold: nodes by kind, FLOPs, bytes, collectives, transfers,
// durations and dependencies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/problem.h"
#include "base/wide.h"
#include "trace/trace_file.h"
#include "trace/trace_graph.h"

namespace shardscape {

struct KindTotals {
  int64_t nodes = 0;
  Wide flops = 0;         // num_ops
  Wide tensor_bytes = 0;  // tensor_size
  Wide microseconds = 0;  // duration_micros
  bool operator==(const KindTotals&) const = default;
};

KindTotals sum_of(const std::map<std::string, KindTotals>& kinds);

// Collectives of one type over one group with one comm_size, or sends and receives of one size.
struct CommKey {
  std::string what;   // "ALL_REDUCE", "COMM_SEND_NODE"
  std::string group;  // pg_name; "" for all ranks, and for sends and receives
  int64_t bytes = 0;  // comm_size
  auto operator<=>(const CommKey&) const = default;
};
struct CommTotals {
  int64_t calls = 0;
  Wide microseconds = 0;
  bool operator==(const CommTotals&) const = default;
};

struct ChainNode {
  uint64_t id = 0;
  std::string name;
  uint64_t microseconds = 0;
};

struct TraceSummary {
  TraceHeader header;
  int64_t file_bytes = 0, nodes = 0;
  std::map<std::string, KindTotals> kinds;  // by name of the node type
  std::map<CommKey, CommTotals> comm;
  uint64_t begin = 0, end = 0;  // microseconds, from start times; equal if no node has one
  uint64_t first_id = 0, last_id = 0;
  int64_t dependencies = 0, roots = 0, missing_dependencies = 0, duplicate_ids = 0;
  bool dense_ids = true;
  int64_t stuck = 0;            // nodes that can never run because of cycles
  std::vector<uint64_t> cycle;  // ids of a cycle: each depends on the next, the last on the first
  uint64_t chain_microseconds = 0;
  int64_t chain_length = 0;
  std::vector<ChainNode> chain;  // the nodes of the longest chain with the longest durations, in order
  KindTotals totals() const;
  // Whether the traces have the same content, apart from the names of groups.
  bool same_content(const TraceSummary& other) const;
};

// Problems: as load_trace and visit_nodes. Stopped: incomplete.
Result<TraceSummary> summarize_trace(const std::filesystem::path& file, const std::stop_token& stop = {});
Result<TraceSummary> summarize_trace(const std::filesystem::path& file, std::string_view content,
                                     const std::stop_token& stop = {});

// Ranks whose traces have the same content.
struct RankClass {
  std::vector<int64_t> ranks;  // ascending
  TraceSummary summary;        // of the first rank
};
struct FolderSummary {
  std::vector<RankClass> classes;  // by first rank
  int64_t ranks = 0, file_bytes = 0;
  std::map<std::string, KindTotals> kinds;  // of all ranks
  std::map<CommKey, CommTotals> comm;
};
// Joins the summaries of ranks, which may come in any order.
class FolderSummaryBuilder {
 public:
  void add(int64_t rank, TraceSummary summary);
  FolderSummary take();

 private:
  FolderSummary out_;
  std::unordered_map<uint64_t, std::vector<size_t>> by_hash_;  // classes by the hash of their content
};
// Stopped: of the ranks so far.
Result<FolderSummary> summarize_folder(const std::map<int64_t, std::filesystem::path>& traces,
                                       const std::function<void(double)>& progress, std::stop_token stop);

// The name of a node's type: "COMP_NODE", "type 9".
std::string type_text(int64_t type);
// The key of a communication node; nothing for other nodes.
std::optional<CommKey> comm_key(const RawNode& node);
// The bytes, FLOPs or other integer of an attribute; 0 if it is missing.
int64_t attr_integer(const RawNode& node, Attr attr);

}  // namespace shardscape
