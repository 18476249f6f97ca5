// Looks into a trace: nodes with a text in their name, and the nodes around a node. The answer to a query
// that is stopped is incomplete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/problem.h"
#include "trace/trace_file.h"

namespace shardscape {

struct FoundNode {
  uint64_t id = 0;
  std::string name, kind;  // kind: "COMP_NODE"
  std::string work;        // "ALL_REDUCE of 4,096 bytes over group 3"; "" without numbers
  uint64_t microseconds = 0;
};
struct FoundNodes {
  int64_t count = 0;             // of all nodes that match
  std::vector<FoundNode> nodes;  // the first of them
};
// Nodes whose name contains the text; upper and lower case are equal.
Result<FoundNodes> find_nodes(const std::filesystem::path& file, std::string_view content,
                              const std::string& text, size_t most, const std::stop_token& stop = {});

struct NeighbourNode {
  FoundNode node;
  int distance = 0;  // negative: before the node; positive: after the node
  std::vector<uint64_t> depends_on;
};
struct Neighbourhood {
  NeighbourNode centre;
  std::vector<std::pair<std::string, std::string>> attributes;  // of the centre: name, value
  std::vector<NeighbourNode> others;                            // by distance, then in file order
  int64_t left_out = 0;                                         // nodes beyond the limit
  std::vector<uint64_t> missing;                                // dependencies of the centre without a node
};
// The nodes that the node depends on and the nodes that depend on it, over at most `depth` dependencies, and
// at most `most` nodes. A Problem if no node has the id.
Result<Neighbourhood> around_node(const std::filesystem::path& file, std::string_view content, uint64_t id,
                                  int depth, size_t most, const std::stop_token& stop = {});

FoundNode describe_node(const RawNode& node);
// All fields and attributes of a node, from its message or JSON object.
std::vector<std::pair<std::string, std::string>> node_attributes(std::string_view bytes, bool binary);

}  // namespace shardscape
