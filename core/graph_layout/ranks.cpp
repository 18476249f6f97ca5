#include <algorithm>
#include <utility>

#include "graph_layout/layer_graph.h"

namespace shardscape::layered {
namespace {

using Lists = std::vector<std::vector<int>>;

// Successors (forward) or predecessors of every node.
Lists neighbours(int nodes, const std::vector<LayoutEdge>& edges, bool forward) {
  Lists lists(static_cast<size_t>(nodes));
  for (const LayoutEdge& edge : edges)
    lists[static_cast<size_t>(forward ? edge.from : edge.to)].push_back(forward ? edge.to : edge.from);
  return lists;
}

std::vector<int> topological_order(const Lists& down, const Lists& up) {
  std::vector<int> waiting(up.size()), order;
  order.reserve(up.size());
  for (size_t i = 0; i < up.size(); ++i)
    if ((waiting[i] = static_cast<int>(up[i].size())) == 0) order.push_back(static_cast<int>(i));
  for (size_t next = 0; next < order.size(); ++next)
    for (int to : down[static_cast<size_t>(order[next])])
      if (--waiting[static_cast<size_t>(to)] == 0) order.push_back(to);
  return order;
}

// One pass over the nodes; true if a node moved.
bool shorten(const std::vector<int>& order, const Lists& down, const Lists& up, std::vector<int>& layer) {
  bool moved = false;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const auto node = static_cast<size_t>(*it);
    const int balance = static_cast<int>(down[node].size()) - static_cast<int>(up[node].size());
    int goal = layer[node];
    if (balance > 0) {
      goal = layer[static_cast<size_t>(down[node].front())] - 1;
      for (int to : down[node]) goal = std::min(goal, layer[static_cast<size_t>(to)] - 1);
    } else if (balance < 0) {
      goal = 0;
      for (int from : up[node]) goal = std::max(goal, layer[static_cast<size_t>(from)] + 1);
    }
    moved = moved || goal != layer[node];
    layer[node] = goal;
  }
  return moved;
}

}  // namespace

std::vector<bool> break_cycles(int nodes, std::vector<LayoutEdge>& edges) {
  enum class Visit : char { New, Open, Done };
  std::vector<std::vector<size_t>> out(static_cast<size_t>(nodes));
  for (size_t i = 0; i < edges.size(); ++i) out[static_cast<size_t>(edges[i].from)].push_back(i);
  std::vector<Visit> visit(static_cast<size_t>(nodes), Visit::New);
  std::vector<bool> turned(edges.size(), false);
  // A node and the next edge to follow. The stack is explicit, because chains are too long for recursion.
  std::vector<std::pair<size_t, size_t>> stack;
  const auto explore = [&](size_t root) {
    visit[root] = Visit::Open;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      const size_t node = stack.back().first;
      if (stack.back().second == out[node].size()) {
        visit[node] = Visit::Done;
        stack.pop_back();
        continue;
      }
      const size_t edge = out[node][stack.back().second++];
      const auto to = static_cast<size_t>(edges[edge].to);
      if (visit[to] == Visit::Open) turned[edge] = true;
      if (visit[to] != Visit::New) continue;
      visit[to] = Visit::Open;
      stack.emplace_back(to, 0);
    }
  };
  std::vector<bool> has_input(static_cast<size_t>(nodes), false);
  for (const LayoutEdge& edge : edges) has_input[static_cast<size_t>(edge.to)] = true;
  for (size_t i = 0; i < visit.size();
       // Starts at sources, so that a cycle is entered in the direction of the flow.
       ++i)
    if (!has_input[i]) explore(i);
  for (size_t i = 0; i < visit.size(); ++i)
    if (visit[i] == Visit::New) explore(i);
  for (size_t i = 0; i < edges.size(); ++i)
    if (turned[i]) std::swap(edges[i].from, edges[i].to);
  return turned;
}

std::vector<int> assign_layers(int nodes, const std::vector<LayoutEdge>& edges, const std::stop_token& stop) {
  const Lists down = neighbours(nodes, edges, true), up = neighbours(nodes, edges, false);
  const std::vector<int> order = topological_order(down, up);
  std::vector<int> layer(static_cast<size_t>(nodes), 0);
  for (int node : order)
    for (int to : down[static_cast<size_t>(node)])
      layer[static_cast<size_t>(to)] = std::max(layer[static_cast<size_t>(to)],
                                                layer[static_cast<size_t>(node)] + 1);
  constexpr int kPasses = 16;
  for (int pass = 0; pass < kPasses && !stop.stop_requested(); ++pass)
    if (!shorten(order, down, up, layer)) break;
  if (!layer.empty()) {
    const int top = *std::min_element(layer.begin(), layer.end());
    for (int& l : layer) l -= top;
  }
  return layer;
}

}  // namespace shardscape::layered
