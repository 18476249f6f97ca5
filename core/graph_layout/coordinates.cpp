#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "graph_layout/layer_graph.h"

namespace shardscape::layered {
namespace {

// Per lower node: upper neighbours with which the node must not be aligned.
using Pairs = std::vector<std::vector<int>>;

// Type 1 conflicts: edges that cross a segment between two bends yield to it, so that long edges stay
// straight.
Pairs conflicts(const LayerGraph& graph) {
  Pairs marked(graph.width.size());
  for (size_t layer = 1; layer + 2 < graph.layers.size(); ++layer) {
    const auto& lower = graph.layers[layer + 1];
    int left = 0;
    size_t scanned = 0;
    for (size_t i = 0; i < lower.size(); ++i) {
      const int node = lower[i];
      int upper_bend = -1;
      if (graph.is_bend(node))
        for (int up : graph.up[static_cast<size_t>(node)])
          if (graph.is_bend(up)) upper_bend = up;
      if (upper_bend < 0 && i + 1 < lower.size()) continue;
      const int right = upper_bend >= 0 ? graph.position[static_cast<size_t>(upper_bend)]
                                        : static_cast<int>(graph.layers[layer].size()) - 1;
      for (; scanned <= i; ++scanned) {
        const int other = lower[scanned];
        for (int up : graph.up[static_cast<size_t>(other)]) {
          const int place = graph.position[static_cast<size_t>(up)];
          if ((place < left || place > right) && !(graph.is_bend(up) && graph.is_bend(other)))
            marked[static_cast<size_t>(other)].push_back(up);
        }
      }
      left = right;
    }
  }
  return marked;
}

bool in_conflict(const Pairs& marked, int upper, int lower) {
  const auto& list = marked[static_cast<size_t>(lower)];
  return std::find(list.begin(), list.end(), upper) != list.end();
}

// With an even number of neighbours and a node and a bend as the medians, the node wins: the short edge stays
// straight and the long edge bends.
bool gives_way(const LayerGraph& graph, const std::vector<int>& near, int bend) {
  return graph.is_bend(bend) && near.size() % 2 == 0 &&
         std::any_of(near.begin(), near.end(), [&](int other) { return !graph.is_bend(other); });
}

// One of the four directions: layers from the top or the bottom, nodes from the left or the right.
struct Direction {
  bool from_top, from_left;
};

// Root of each node: the first node of its aligned column.
std::vector<int> align(const LayerGraph& graph, const Pairs& marked, Direction direction) {
  const auto n = graph.width.size();
  std::vector<int> root(n);
  for (size_t i = 0; i < n; ++i) root[i] = static_cast<int>(i);
  const size_t count = graph.layers.size();
  std::vector<int> near;
  std::vector<bool> taken(n, false);
  for (size_t step = 1; step < count; ++step) {
    const auto& nodes = graph.layers[direction.from_top ? step : count - 1 - step];
    int bound = direction.from_left ? -1 : std::numeric_limits<int>::max();
    for (size_t k = 0; k < nodes.size(); ++k) {
      const int node = nodes[direction.from_left ? k : nodes.size() - 1 - k];
      near = direction.from_top ? graph.up[static_cast<size_t>(node)] : graph.down[static_cast<size_t>(node)];
      if (near.empty()) continue;
      std::sort(near.begin(), near.end(), [&](int a, int b) {
        return graph.position[static_cast<size_t>(a)] < graph.position[static_cast<size_t>(b)];
      });
      size_t medians[2] = {(near.size() - 1) / 2, near.size() / 2};
      if (!direction.from_left) std::swap(medians[0], medians[1]);
      if (!graph.is_bend(node) && gives_way(graph, near, near[medians[0]])) std::swap(medians[0], medians[1]);
      for (size_t median : medians) {
        const int other = near[median];
        const int place = graph.position[static_cast<size_t>(other)];
        const auto& back = direction.from_top ? graph.down[static_cast<size_t>(other)]
                                              : graph.up[static_cast<size_t>(other)];
        if (!graph.is_bend(other) && gives_way(graph, back, node)) continue;
        const bool beyond = direction.from_left ? place > bound : place < bound;
        if (!beyond || taken[static_cast<size_t>(other)]) continue;
        if (direction.from_top ? in_conflict(marked, other, node) : in_conflict(marked, node, other))
          continue;
        root[static_cast<size_t>(node)] = root[static_cast<size_t>(other)];
        taken[static_cast<size_t>(other)] = true;
        bound = place;
        break;
      }
    }
  }
  return root;
}

double separation(const LayerGraph& graph, int a, int b, double gap) {
  const auto margin = [&](int node) {  // bends need less distance than nodes
    return graph.width[static_cast<size_t>(node)] / 2 + (graph.is_bend(node) ? gap / 4 : gap / 2);
  };
  return margin(a) + margin(b);
}

// Places columns as near to each other as their neighbours allow. Then moves columns to the right into free
// space.
std::vector<double> compact(const LayerGraph& graph, const std::vector<int>& root, double gap,
                            bool from_left) {
  struct Arc {
    int to;
    double distance;
  };
  const auto n = graph.width.size();
  std::vector<std::vector<Arc>> after(n);
  std::vector<int> waiting(n, 0);
  for (const auto& nodes : graph.layers)
    for (size_t i = 0; i + 1 < nodes.size(); ++i) {
      int a = nodes[i], b = nodes[i + 1];
      const double distance = separation(graph, a, b, gap);
      if (!from_left) std::swap(a, b);
      after[static_cast<size_t>(root[static_cast<size_t>(a)])].push_back(
          {root[static_cast<size_t>(b)], distance});
      ++waiting[static_cast<size_t>(root[static_cast<size_t>(b)])];
    }
  std::vector<double> x(n, 0);
  std::vector<int> order;
  for (size_t i = 0; i < n; ++i)
    if (root[i] == static_cast<int>(i) && waiting[i] == 0) order.push_back(static_cast<int>(i));
  for (size_t next = 0; next < order.size(); ++next)
    for (const Arc& arc : after[static_cast<size_t>(order[next])]) {
      x[static_cast<size_t>(arc.to)] = std::max(x[static_cast<size_t>(arc.to)],
                                                x[static_cast<size_t>(order[next])] + arc.distance);
      if (--waiting[static_cast<size_t>(arc.to)] == 0) order.push_back(arc.to);
    }
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    double room = std::numeric_limits<double>::infinity();
    for (const Arc& arc : after[static_cast<size_t>(*it)])
      room = std::min(room, x[static_cast<size_t>(arc.to)] - arc.distance);
    if (room < std::numeric_limits<double>::infinity())
      x[static_cast<size_t>(*it)] = std::max(x[static_cast<size_t>(*it)], room);
  }
  for (size_t i = 0; i < n; ++i) x[i] = x[static_cast<size_t>(root[i])];
  if (!from_left)
    for (double& value : x) value = -value;
  return x;
}

std::pair<double, double> extent(const LayerGraph& graph, const std::vector<double>& x) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (size_t i = 0; i < x.size(); ++i) {
    low = std::min(low, x[i] - graph.width[i] / 2);
    high = std::max(high, x[i] + graph.width[i] / 2);
  }
  return {low, high};
}

}  // namespace

std::vector<double> centres(const LayerGraph& graph, double node_gap, const std::stop_token& stop) {
  const Pairs marked = conflicts(graph);
  std::array<std::vector<double>, 4> tries;
  std::array<std::pair<double, double>, 4> extents;
  size_t narrowest = 0;
  for (size_t i = 0; i < 4; ++i) {
    if (stop.stop_requested()) return {};
    const Direction direction{i < 2, i % 2 == 0};
    tries[i] = compact(graph, align(graph, marked, direction), node_gap, direction.from_left);
    extents[i] = extent(graph, tries[i]);
    if (extents[i].second - extents[i].first < extents[narrowest].second - extents[narrowest].first)
      narrowest = i;
  }
  for (size_t i = 0; i < 4;
       // Layouts from the left align at the left edge, layouts from the right at the right edge.
       ++i) {
    const double shift = i % 2 == 0 ? extents[narrowest].first - extents[i].first
                                    : extents[narrowest].second - extents[i].second;
    for (double& x : tries[i]) x += shift;
  }
  std::vector<double> result(graph.width.size());
  // The mean of the two median layouts preserves all distances.
  for (size_t i = 0; i < result.size(); ++i) {
    std::array<double, 4> x{tries[0][i], tries[1][i], tries[2][i], tries[3][i]};
    std::sort(x.begin(), x.end());
    result[i] = (x[1] + x[2]) / 2;
  }
  return result;
}

}  // namespace shardscape::layered
