#include "graph/chunk_layers.h"

#include "design/layer_treatment.h"
#include "graph/stage_symbols.h"

namespace shardscape {

std::vector<ChunkLayer> chunk_layers(const Graph& graph, const Design& design, int64_t first_layer,
                                     int64_t layers) {
  const std::vector<LayerTreatment> treatments = layer_treatments(design.workload, layers);
  std::vector<ChunkLayer> out;
  for (int64_t i = 0; i < layers; ++i) {
    const LayerTreatment& t = treatments[static_cast<size_t>(i)];
    const int kind = graph.layer_kind(first_layer + i, design.model);
    const CheckpointPolicy checkpoint_policy = !t.recomputed  ? CheckpointPolicy::Activations
                                               : i == t.begin ? CheckpointPolicy::Input
                                                              : CheckpointPolicy::Nothing;
    out.push_back({1 + kind, checkpoint_policy, t.begin, t.end, i,
                   t.offloaded && checkpoint_policy != CheckpointPolicy::Nothing});
  }
  return out;
}

std::vector<TowerPart> tower_parts(const Graph& graph, const ModelSpec& model) {
  std::vector<TowerPart> out;
  if (!graph.structure.images) return out;
  for (int segment = graph.head() + 1; segment < static_cast<int>(graph.segments.size()); ++segment) {
    const bool layers = graph.segments[static_cast<size_t>(segment)].copies != Expr(1);
    out.push_back({segment, layers, layers ? model.vision_layers : 1});
  }
  return out;
}

std::vector<TowerInstance> tower_instances(const Graph& graph, const ModelSpec& model) {
  std::vector<TowerInstance> out;
  for (const TowerPart& part : tower_parts(graph, model))
    if (!part.layers)
      out.push_back({part.segment});
    else
      for (int64_t copy = 0; copy < part.copies; ++copy)
        out.push_back({part.segment, copy, end_policy(graph.segments[static_cast<size_t>(part.segment)])});
  return out;
}

}  // namespace shardscape
