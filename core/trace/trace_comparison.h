// Compares the traces of two bundles, files or designs: kinds of nodes, communication by type, size of group
// and size of message, and the nodes that differ.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "base/problem.h"
#include "trace/trace_summary.h"

namespace shardscape {

// One side of a comparison.
struct TraceSide {
  std::string name;
  std::map<int64_t, std::filesystem::path> traces;  // by rank
  std::map<std::string, size_t> group_sizes;        // ranks of the groups by name; empty: unknown
};

// Communication without the names of groups, which two programs number differently.
struct CommShape {
  std::string what;   // "ALL_REDUCE"
  int64_t ranks = 0;  // of the group; 0: all ranks, and for sends and receives; -1: unknown
  int64_t bytes = 0;  // comm_size
  auto operator<=>(const CommShape&) const = default;
};

template <class T>
struct Both {
  T a{}, b{};
  bool differ() const { return !(a == b); }
};

struct NodeDifference {
  enum class Kind : uint8_t { OnlyA, OnlyB, Changed };
  Kind kind = Kind::Changed;
  std::string name;  // of the node; names pair the nodes of both traces, equal names by their order
  uint64_t id_a = 0, id_b = 0;
  std::string a, b;  // kind, work and duration; "" where there is no node
};

struct TraceComparison {
  Both<std::string> names;
  Both<int64_t> ranks, nodes;
  std::map<std::string, Both<KindTotals>> kinds;  // sums over all ranks
  std::map<CommShape, Both<CommTotals>> comm;     // sums over all ranks
  std::vector<int64_t> different_ranks;           // ranks of both whose nodes differ
  int64_t compared_rank = -1;                     // the first of these; its nodes follow
  int64_t difference_count = 0;                   // of this rank
  std::vector<NodeDifference> differences;        // the first of them
  bool equal() const;
};

// At most `most` differing nodes are stored. Problems: as summarize_trace. Stopped:
// incomplete.
Result<TraceComparison> compare_traces(const TraceSide& a, const TraceSide& b, size_t most,
                                       std::stop_token stop = {});

}  // namespace shardscape
