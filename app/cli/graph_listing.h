// The selected part of a design's graph: nodes and the tensors between them, independent of the output
// format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/report.h"

namespace shardscape {

struct GraphFilter {
  std::optional<std::string> segment;
  std::optional<Phase> phase;
};

// An op, or a tensor that enters the listed part from outside (op < 0).
struct ListedNode {
  std::string id;  // "layer/attention.q", "layer/tensor/x"
  OpId op = -1;
  TensorId tensor = -1;
};

struct ListedEdge {
  size_t from = 0, to = 0;  // indices into ListedSegment::nodes
  TensorId tensor = -1;
};

struct ListedSegment {
  const Segment* segment = nullptr;
  int64_t count = 1;  // how often the segment occurs in the model
  // Ops in execution order; each follows the outside tensors that it reads first.
  std::vector<ListedNode> nodes;
  std::vector<ListedEdge> edges;
};

// The report must be valid and outlive the listing.
std::vector<ListedSegment> list_graph(const Report& report, const GraphFilter& filter);

std::string graph_text(const Report& report, const std::vector<ListedSegment>& listing);
std::string graph_json(const Report& report, const std::vector<ListedSegment>& listing);
// Graphviz: one cluster per segment.
std::string graph_dot(const Report& report, const std::vector<ListedSegment>& listing);
// GraphML: one graph, with the segment of every node.
std::string graph_graphml(const Report& report, const std::vector<ListedSegment>& listing);

}  // namespace shardscape
