#include "graph/carried_tensors.h"

#include <algorithm>

namespace shardscape {

std::vector<std::optional<MadeCarried>> made_carried(const Graph& graph) {
  std::vector<std::optional<MadeCarried>> out;
  for (size_t s = 0; s < graph.segments.size(); ++s)
    for (const Carried& carried : graph.segments[s].carried) {
      if (carried.in >= 0) continue;
      out.resize(std::max(out.size(), static_cast<size_t>(carried.index) + 1));
      out[static_cast<size_t>(carried.index)] = {static_cast<int>(s), carried.out, carried.out_grad};
    }
  return out;
}

Expr carried_bytes(const Graph& graph, int mask, bool gradients) {
  Expr out;
  if (mask == 0) return out;
  const auto carried = made_carried(graph);
  for (size_t i = 0; i < carried.size(); ++i)
    if (const TensorId id = carried[i] ? (gradients ? carried[i]->grad : carried[i]->tensor) : -1;
        id >= 0 && mask >> i & 1)
      out += local_bytes(graph.segments[static_cast<size_t>(carried[i]->segment)].tensor(id));
  return out;
}

int carried_across(const Graph& graph, const ModelSpec& model, int64_t layer) {
  int out = 0, made = 0;  // made: by this layer or one behind it
  if (made_carried(graph).empty()) return 0;
  for (int64_t i = layer; i < model.layers; ++i)
    for (const Carried& carried :
         graph.segments[static_cast<size_t>(1 + graph.layer_kind(i, model))].carried) {
      const int bit = 1 << carried.index;
      if (carried.in < 0)
        made |= bit;
      else if (!(made & bit))
        out |= bit;
    }
  return out;
}

int carried_by_tower(const Graph& graph) {
  int out = 0;
  for (const Segment& segment : graph.segments)
    for (const Carried& carried : segment.carried)
      if (segment.kind == SegmentKind::Tower) out |= 1 << carried.index;
  return out;
}

}  // namespace shardscape
