// What the steps of the layered drawing hand to each other. Private to this folder.
#pragma once

#include <stop_token>
#include <vector>

#include "graph_layout/layered.h"

namespace shardscape::layered {

// Every edge joins neighbouring layers: long ones go through bends, nodes of no width.
struct LayerGraph {
  int real = 0;  // nodes below this index are the caller's, the others are bends
  std::vector<double> width;
  std::vector<int> layer;
  std::vector<std::vector<int>> up, down;  // neighbours in the layer above and below
  std::vector<std::vector<int>> layers;    // nodes from left to right
  std::vector<int> position;               // of a node in its layer

  int size() const { return static_cast<int>(width.size()); }
  bool is_bend(int node) const { return node >= real; }
};

// Turns edges round so that none closes a cycle (depth first, back edges). Edges from a node to itself must
// be left out. Returns which were turned.
std::vector<bool> break_cycles(int nodes, std::vector<LayoutEdge>& edges);

// Longest path from the sources, then every node moves to where its edges are shortest.
std::vector<int> assign_layers(int nodes, const std::vector<LayoutEdge>& edges, const std::stop_token& stop);

// Barycentre sweeps with transposition; keeps the best order found.
void reduce_crossings(LayerGraph& graph, const std::stop_token& stop);

// Centre of every node, after Brandes and Koepf, "Fast and Simple Horizontal Coordinate Assignment" (GD
// 2001).
std::vector<double> centres(const LayerGraph& graph, double node_gap, const std::stop_token& stop);

}  // namespace shardscape::layered
