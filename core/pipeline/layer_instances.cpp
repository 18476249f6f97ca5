#include "pipeline/layer_instances.h"

#include "graph/chunk_layers.h"
#include "mesh/pipeline_layout.h"

namespace shardscape {

StageLayout stage_layout(const Graph& graph, const Design& design, int64_t stage,
                         const std::vector<StageChunk>& chunks) {
  StageLayout out;
  const PipelineLayout places = pipeline_layout(design.parallel);
  const std::vector<TowerInstance> tower = tower_instances(graph, design.model);
  const auto embedding = static_cast<int64_t>(tower.size());  // position
  const auto add = [&](int segment, int64_t layer, int64_t position, LayerClass of) {
    out.instances.push_back({segment, layer, position, of, out.instances.size(), false});
  };
  for (size_t c = 0; c < chunks.size(); ++c) {
    const size_t first = out.instances.size();
    const StagePlace here{stage, static_cast<int64_t>(c)};
    const ModelStart start = model_start(places.virtual_stage(here), graph.structure.vision_stage);
    for (size_t i = 0; start.tower && i < tower.size(); ++i) {
      add(tower[i].segment, -1, static_cast<int64_t>(i), {tower[i].checkpoint_policy});
      out.instances.back().copy = tower[i].copy;
      out.instances.back().ends_group = tower[i].recomputed();  // each layer on its own
    }
    if (start.embedding) add(0, -1, embedding, {});
    const size_t first_layer = out.instances.size();
    for (const ChunkLayer& layer : chunk_layers(graph, design, chunks[c].first_layer, chunks[c].layers)) {
      const int64_t number = chunks[c].first_layer + layer.index;
      add(layer.segment, number, embedding + 1 + number, {layer.checkpoint_policy, layer.offloaded});
      out.instances.back().group = first_layer + static_cast<size_t>(layer.begin);
      out.instances.back().ends_group = layer.ends_group();
    }
    if (places.last(here)) add(graph.head(), -1, embedding + 1 + design.model.layers, {});
    out.chunks.push_back({first, out.instances.size()});
  }
  return out;
}

}  // namespace shardscape
