#include "graph/chunk_layers.h"

#include "design/layer_treatment.h"

namespace shardscape {

std::vector<ChunkLayer> chunk_layers(const Graph& graph, const Design& design, int64_t first_layer, int64_t layers) {
  const std::vector<LayerTreatment> treatments = layer_treatments(design.workload, layers);
  std::vector<ChunkLayer> out;
  for (int64_t i = 0; i < layers; ++i) {
    const LayerTreatment& t = treatments[static_cast<size_t>(i)];
    const int kind = graph.layer_kind(first_layer + i, design.model);
    const Keeps keeps = !t.recomputed ? Keeps::Activations : i == t.begin ? Keeps::Input : Keeps::Nothing;
    out.push_back({1 + kind, keeps, t.begin, t.end, i, t.offloaded && keeps != Keeps::Nothing});
  }
  return out;
}

}  // namespace shardscape
