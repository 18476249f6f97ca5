// Layered drawing of a directed graph (Sugiyama): ranks, crossing reduction, coordinates, edge routes. No Qt.
// Lengths have the unit of the node sizes; y points down.
#pragma once

#include <stop_token>
#include <vector>

namespace shardscape {

struct LayoutNode {
  double width = 0, height = 0;
};
struct LayoutEdge {
  int from = 0, to = 0;
};
struct LayoutPoint {
  double x = 0, y = 0;
};

struct LayerGaps {
  double node_gap = 24, layer_gap = 36;
};

struct LayoutResult {
  std::vector<LayoutPoint> positions;  // top left corner of each node
  // Per edge, from the bottom of its source to the top of its target.
  std::vector<std::vector<LayoutPoint>> routes;
  double width = 0, height = 0;
  bool stopped = false;  // stopped by the token; positions are undefined
};

// Cyclic graphs are allowed: some edges are reversed. Equal inputs give equal results.
LayoutResult layered_layout(const std::vector<LayoutNode>& nodes, const std::vector<LayoutEdge>& edges,
                            const LayerGaps& options = {}, std::stop_token stop = {});

}  // namespace shardscape
