#include <algorithm>
#include <cstdint>
#include <numeric>

#include "graph_layout/layer_graph.h"

namespace shardscape::layered {
namespace {

constexpr int kSweeps = 24;
constexpr int kPatience = 4;  // sweeps without improvement

// Depth-first order from the top, so that connected nodes start next to each other.
void initial_order(LayerGraph& graph) {
  std::vector<bool> seen(graph.width.size(), false);
  std::vector<int> roots(graph.width.size()), stack;
  std::iota(roots.begin(), roots.end(), 0);
  std::stable_sort(roots.begin(), roots.end(), [&](int a, int b) {
    return graph.layer[static_cast<size_t>(a)] < graph.layer[static_cast<size_t>(b)];
  });
  for (auto& layer : graph.layers) layer.clear();
  for (int root : roots) {
    stack.push_back(root);
    while (!stack.empty()) {
      const auto node = static_cast<size_t>(stack.back());
      stack.pop_back();
      if (seen[node]) continue;
      seen[node] = true;
      auto& layer = graph.layers[static_cast<size_t>(graph.layer[node])];
      graph.position[node] = static_cast<int>(layer.size());
      layer.push_back(static_cast<int>(node));
      stack.insert(stack.end(), graph.down[node].rbegin(), graph.down[node].rend());
    }
  }
}

void renumber(LayerGraph& graph, size_t layer) {
  for (size_t i = 0; i < graph.layers[layer].size(); ++i)
    graph.position[static_cast<size_t>(graph.layers[layer][i])] = static_cast<int>(i);
}

// Counts inversions of the lower ends, with edges from left to right, in a Fenwick tree.
int64_t crossings_below(const LayerGraph& graph, size_t layer) {
  const size_t width = graph.layers[layer + 1].size();
  std::vector<int> tree(width + 1, 0), ends;
  int64_t crossings = 0, placed = 0;
  for (int node : graph.layers[layer]) {
    ends.clear();
    for (int to : graph.down[static_cast<size_t>(node)])
      ends.push_back(graph.position[static_cast<size_t>(to)] + 1);
    for (int end : ends) {
      int64_t not_right = 0;
      for (int i = end; i > 0; i -= i & -i) not_right += tree[static_cast<size_t>(i)];
      crossings += placed - not_right;
    }
    for (int end : ends) {
      ++placed;
      for (int i = end; i <= static_cast<int>(width); i += i & -i) ++tree[static_cast<size_t>(i)];
    }
  }
  return crossings;
}

int64_t all_crossings(const LayerGraph& graph) {
  int64_t sum = 0;
  for (size_t layer = 0; layer + 1 < graph.layers.size(); ++layer) sum += crossings_below(graph, layer);
  return sum;
}

// Sorts a layer by the mean position of the neighbours above (or below). Nodes without neighbours stay.
void sort_layer(LayerGraph& graph, size_t layer, bool by_upper, bool turn_ties, std::vector<double>& key) {
  auto& nodes = graph.layers[layer];
  for (int node : nodes) {
    const auto& near = by_upper ? graph.up[static_cast<size_t>(node)] : graph.down[static_cast<size_t>(node)];
    double sum = 0;
    for (int other : near) sum += graph.position[static_cast<size_t>(other)];
    key[static_cast<size_t>(node)] = near.empty() ? graph.position[static_cast<size_t>(node)]
                                                  : sum / static_cast<double>(near.size());
  }
  if (turn_ties) std::reverse(nodes.begin(), nodes.end());
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](int a, int b) { return key[static_cast<size_t>(a)] < key[static_cast<size_t>(b)]; });
  renumber(graph, layer);
}

// Crossings of the edges of two neighbouring nodes with a left of b, minus the crossings with b left of a.
int64_t gain_of_swap(const LayerGraph& graph, const std::vector<int>& a, const std::vector<int>& b) {
  int64_t gain = 0;
  for (int x : a)
    for (int y : b) {
      const int px = graph.position[static_cast<size_t>(x)], py = graph.position[static_cast<size_t>(y)];
      gain += px > py ? 1 : px < py ? -1 : 0;
    }
  return gain;
}

void transpose(LayerGraph& graph, const std::stop_token& stop) {
  constexpr int kPasses = 4;
  bool better = true;
  for (int pass = 0; better && pass < kPasses; ++pass) {
    better = false;
    for (auto& nodes : graph.layers) {
      if (stop.stop_requested()) return;
      for (size_t i = 0; i + 1 < nodes.size(); ++i) {
        const auto a = static_cast<size_t>(nodes[i]), b = static_cast<size_t>(nodes[i + 1]);
        if (gain_of_swap(graph, graph.up[a], graph.up[b]) +
                gain_of_swap(graph, graph.down[a], graph.down[b]) <=
            0)
          continue;
        std::swap(nodes[i], nodes[i + 1]);
        std::swap(graph.position[a], graph.position[b]);
        better = true;
      }
    }
  }
}

}  // namespace

void reduce_crossings(LayerGraph& graph, const std::stop_token& stop) {
  initial_order(graph);
  auto best = graph.layers;
  int64_t fewest = all_crossings(graph);
  std::vector<double> key(graph.width.size(), 0);
  for (int sweep = 0, since_best = 0; sweep < kSweeps && since_best < kPatience && fewest > 0;
       ++sweep, ++since_best) {
    const bool down = sweep % 2 == 0, turn_ties = sweep % 4 >= 2;
    for (size_t step = 1; step < graph.layers.size() && !stop.stop_requested(); ++step)
      sort_layer(graph, down ? step : graph.layers.size() - 1 - step, down, turn_ties, key);
    transpose(graph, stop);
    if (stop.stop_requested()) return;
    if (const int64_t now = all_crossings(graph); now < fewest) {
      fewest = now;
      best = graph.layers;
      since_best = 0;
    }
  }
  graph.layers = std::move(best);
  for (size_t layer = 0; layer < graph.layers.size(); ++layer) renumber(graph, layer);
}

}  // namespace shardscape::layered
