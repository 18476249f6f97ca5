// Data and functions that the steps of the layered drawing share. Private to this folder.
#pragma once

#include <stop_token>
#include <vector>

#include "graph_layout/layered.h"

namespace shardscape::layered {

// A layered graph in which every edge joins neighbouring layers. Longer edges are split by bends, which are
// nodes of width 0.
struct LayerGraph {
  int real = 0;  // nodes below this index belong to the caller; all others are bends
  std::vector<double> width;
  std::vector<int> layer;
  std::vector<std::vector<int>> up, down;  // neighbours in the previous and the next layer
  std::vector<std::vector<int>> layers;    // per layer, nodes from left to right
  std::vector<int> position;               // per node, index in its layer

  int size() const { return static_cast<int>(width.size()); }
  bool is_bend(int node) const { return node >= real; }
};

// Reverses edges until the graph is acyclic (depth-first search, back edges). The edges must not contain
// self-loops. Returns per edge whether it is reversed.
std::vector<bool> break_cycles(int nodes, std::vector<LayoutEdge>& edges);

// Layer of every node: first the longest path from the sources. Then each node moves to the layer that
// minimizes the lengths of its edges.
std::vector<int> assign_layers(int nodes, const std::vector<LayoutEdge>& edges, const std::stop_token& stop);

// Barycentre sweeps with transposition; the order with the fewest crossings wins.
void reduce_crossings(LayerGraph& graph, const std::stop_token& stop);

// Centre of every node, after Brandes and Koepf, "Fast and Simple Horizontal Coordinate Assignment" (GD
// 2001).
std::vector<double> centres(const LayerGraph& graph, double node_gap, const std::stop_token& stop);

}  // namespace shardscape::layered
