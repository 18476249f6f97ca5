#include "support/instances.h"

#include "design/validate/validate.h"
#include "graph/chunk_layers.h"

namespace shardscape::test {

std::string parameter_name(const Segment& s, const Instance& instance, const Param& p) {
  return p.tied.empty() ? instance.name + "." + s.tensor(p.tensor).name : p.tied;
}

std::vector<std::vector<Instance>> instances_by_virtual_stage(const Design& d, const Graph& graph) {
  const std::vector<int64_t> layers = layers_per_virtual_stage(d);
  std::vector<std::vector<Instance>> out(layers.size());
  int64_t layer = 0;
  for (size_t p = 0; p < out.size(); ++p) {
    const ModelStart start = model_start(static_cast<int64_t>(p), graph.structure.vision_stage);
    if (start.tower)
      for (const TowerInstance& part : tower_instances(graph, d.model))
        out[p].push_back({part.segment,
                          graph.segments[static_cast<size_t>(part.segment)].name +
                              (part.copy < 0 ? "" : std::to_string(part.copy)),
                          part.checkpoint_policy, out[p].size(), part.recomputed()});
    if (start.embedding) out[p].push_back({0, "embedding"});
    const size_t first = out[p].size();
    for (const ChunkLayer& l : chunk_layers(graph, d, layer, layers[p]))
      out[p].push_back({l.segment, "layer" + std::to_string(layer + l.index), l.checkpoint_policy,
                        first + static_cast<size_t>(l.begin), l.ends_group()});
    layer += layers[p];
    if (p + 1 == out.size()) out[p].push_back({graph.head(), "head"});
  }
  return out;
}

}  // namespace shardscape::test
