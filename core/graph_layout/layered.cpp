#include "graph_layout/layered.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "graph_layout/layer_graph.h"

namespace shardscape {
namespace {

using layered::LayerGraph;

// Connected component of each node, numbered in the order of first nodes.
std::vector<int> parts_of(size_t nodes, const std::vector<LayoutEdge>& edges, int& count) {
  std::vector<int> leader(nodes);
  std::iota(leader.begin(), leader.end(), 0);
  const auto find = [&](int node) {
    while (leader[static_cast<size_t>(node)] != node)
      node = leader[static_cast<size_t>(node)] = leader[static_cast<size_t>(
          leader[static_cast<size_t>(node)])];
    return node;
  };
  for (const LayoutEdge& edge : edges) {
    const int a = find(edge.from), b = find(edge.to);
    leader[static_cast<size_t>(std::max(a, b))] = std::min(a, b);
  }
  std::vector<int> part(nodes, -1);
  count = 0;
  for (size_t i = 0; i < nodes; ++i) {
    const auto head = static_cast<size_t>(find(static_cast<int>(i)));
    if (part[head] < 0) part[head] = count++;
    part[i] = part[head];
  }
  return part;
}

// A connected component with local indices.
struct Part {
  std::vector<int> nodes;         // global index of each node
  std::vector<int> edge_ids;      // global index of each edge
  std::vector<LayoutEdge> edges;  // local indices, without self-loops
};

struct Chains {
  LayerGraph graph;
  std::vector<std::vector<int>> chain;  // per edge: upper node, bends, lower node
};

Chains with_bends(const Part& part, const std::vector<LayoutEdge>& down, const std::vector<LayoutNode>& nodes,
                  const std::stop_token& stop) {
  Chains result;
  LayerGraph& graph = result.graph;
  graph.real = static_cast<int>(part.nodes.size());
  graph.layer = layered::assign_layers(graph.real, down, stop);
  for (int node : part.nodes) graph.width.push_back(nodes[static_cast<size_t>(node)].width);
  for (const LayoutEdge& edge : down) {
    auto& chain = result.chain.emplace_back();
    chain.push_back(edge.from);
    for (int l = graph.layer[static_cast<size_t>(edge.from)] + 1;
         l < graph.layer[static_cast<size_t>(edge.to)]; ++l) {
      chain.push_back(graph.size());
      graph.width.push_back(0);
      graph.layer.push_back(l);
    }
    chain.push_back(edge.to);
    if (stop.stop_requested()) break;
  }
  graph.up.resize(graph.width.size());
  graph.down.resize(graph.width.size());
  graph.position.resize(graph.width.size());
  for (const auto& chain : result.chain)
    for (size_t i = 0; i + 1 < chain.size(); ++i) {
      graph.down[static_cast<size_t>(chain[i])].push_back(chain[i + 1]);
      graph.up[static_cast<size_t>(chain[i + 1])].push_back(chain[i]);
    }
  graph.layers.resize(static_cast<size_t>(*std::max_element(graph.layer.begin(), graph.layer.end())) + 1);
  return result;
}

void add_point(std::vector<LayoutPoint>& route, LayoutPoint point) {
  if (!route.empty() && route.back().x == point.x && route.back().y == point.y) return;
  route.push_back(point);
}

// Edges are straight within layers and bend only in the gaps, so a line never crosses a node.
std::vector<LayoutPoint> route(const std::vector<int>& chain, const LayerGraph& graph,
                               const std::vector<double>& x, const std::vector<LayoutPoint>& layer_span,
                               double from_y, double to_y) {
  std::vector<LayoutPoint> points;
  for (size_t i = 0; i < chain.size(); ++i) {
    const auto node = static_cast<size_t>(chain[i]);
    const LayoutPoint span = layer_span[static_cast<size_t>(graph.layer[node])];
    add_point(points, {x[node], i == 0 ? from_y : span.x});
    add_point(points, {x[node], i + 1 == chain.size() ? to_y : span.y});
  }
  return points;
}

// A self-loop on the right side of the node.
std::vector<LayoutPoint> self_route(LayoutPoint at, const LayoutNode& node, double gap) {
  const double middle = at.x + node.width / 2, right = at.x + node.width + gap / 3;
  const double low = at.y + node.height, out = gap / 4;
  return {{middle, low},       {middle, low + out},  {right, low + out},
          {right, at.y - out}, {middle, at.y - out}, {middle, at.y}};
}

// Draws one component with its left edge at x = left; returns its right edge.
double draw_part(const Part& part, const std::vector<LayoutNode>& nodes, const LayerGaps& options,
                 double left, const std::stop_token& stop, LayoutResult& result) {
  std::vector<LayoutEdge> down = part.edges;
  const std::vector<bool> turned = layered::break_cycles(static_cast<int>(part.nodes.size()), down);
  Chains chains = with_bends(part, down, nodes, stop);
  if (stop.stop_requested()) return left;
  LayerGraph& graph = chains.graph;
  layered::reduce_crossings(graph, stop);
  if (stop.stop_requested()) return left;
  std::vector<double> x = layered::centres(graph, options.node_gap, stop);
  if (stop.stop_requested()) return left;

  double low = x.front(), high = x.front();
  for (size_t i = 0; i < x.size(); ++i) {
    low = std::min(low, x[i] - graph.width[i] / 2);
    high = std::max(high, x[i] + graph.width[i] / 2);
  }
  for (double& value : x) value += left - low;

  std::vector<double> height(graph.layers.size(), 0);
  for (size_t i = 0; i < part.nodes.size(); ++i) {
    double& tallest = height[static_cast<size_t>(graph.layer[i])];
    tallest = std::max(tallest, nodes[static_cast<size_t>(part.nodes[i])].height);
  }
  std::vector<LayoutPoint> span(height.size());  // top and bottom of each layer
  double y = 0;
  for (size_t l = 0; l < height.size(); ++l, y += options.layer_gap) {
    span[l] = {y, y + height[l]};
    y += height[l];
  }
  for (size_t i = 0; i < part.nodes.size(); ++i) {
    const LayoutNode& node = nodes[static_cast<size_t>(part.nodes[i])];
    const LayoutPoint rows = span[static_cast<size_t>(graph.layer[i])];
    result.positions[static_cast<size_t>(part.nodes[i])] = {x[i] - node.width / 2,
                                                            (rows.x + rows.y - node.height) / 2};
  }
  for (size_t e = 0; e < down.size(); ++e) {
    const auto from = static_cast<size_t>(part.nodes[static_cast<size_t>(down[e].from)]);
    const auto to = static_cast<size_t>(part.nodes[static_cast<size_t>(down[e].to)]);
    auto points = route(chains.chain[e], graph, x, span, result.positions[from].y + nodes[from].height,
                        result.positions[to].y);
    if (turned[e]) std::reverse(points.begin(), points.end());
    result.routes[static_cast<size_t>(part.edge_ids[e])] = std::move(points);
  }
  result.height = std::max(result.height, span.back().y);
  return left + high - low;
}

}  // namespace

LayoutResult layered_layout(const std::vector<LayoutNode>& nodes, const std::vector<LayoutEdge>& edges,
                            const LayerGaps& options, std::stop_token stop) {
  LayoutResult result;
  result.positions.resize(nodes.size());
  result.routes.resize(edges.size());
  if (nodes.empty()) return result;
  int count = 0;
  const std::vector<int> part_of = parts_of(nodes.size(), edges, count);
  std::vector<Part> parts(static_cast<size_t>(count));
  std::vector<int> local(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    Part& part = parts[static_cast<size_t>(part_of[i])];
    local[i] = static_cast<int>(part.nodes.size());
    part.nodes.push_back(static_cast<int>(i));
  }
  for (size_t e = 0; e < edges.size(); ++e) {
    const auto [from, to] = edges[e];
    if (from == to) continue;
    Part& part = parts[static_cast<size_t>(part_of[static_cast<size_t>(from)])];
    part.edge_ids.push_back(static_cast<int>(e));
    part.edges.push_back({local[static_cast<size_t>(from)], local[static_cast<size_t>(to)]});
  }
  double left = 0;
  for (const Part& part : parts) {
    if (!stop.stop_requested()) result.width = draw_part(part, nodes, options, left, stop, result);
    if (stop.stop_requested()) {
      result.stopped = true;
      return result;
    }
    left = result.width + options.node_gap;
  }
  for (size_t e = 0; e < edges.size(); ++e)
    if (edges[e].from == edges[e].to) {
      const auto node = static_cast<size_t>(edges[e].from);
      result.routes[e] = self_route(result.positions[node], nodes[node], options.node_gap);
    }
  return result;
}

}  // namespace shardscape
