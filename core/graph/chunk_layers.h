// The layers of a virtual stage (chunk) in order: the segment and the checkpoint policy of each layer.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace shardscape {

// One layer of a chunk. Layer numbers count within the chunk.
struct ChunkLayer {
  int segment = 1;  // index into Graph::segments
  CheckpointPolicy checkpoint_policy = CheckpointPolicy::Activations;
  int64_t begin = 0,
          end = 1;         // recompute group [begin, end) of this layer; a layer without recompute is alone
  int64_t index = 0;       // of this layer
  bool offloaded = false;  // the layer's saved tensors are on the host between forward and backward
  bool recomputed() const { return checkpoint_policy != CheckpointPolicy::Activations; }
  // Whether the layer is the last of its recompute group: its backward starts with the replay of the group.
  bool ends_group() const { return recomputed() && index + 1 == end; }
};
// A part of the vision tower.
struct TowerPart {
  int segment = 0;      // index into Graph::segments
  bool layers = false;  // else the patches or the projector
  int64_t copies = 1;   // instances: the layers of the tower, or one
};
// The parts that the first virtual stage runs before the embedding, in order of execution; empty if passes
// run no tower.
std::vector<TowerPart> tower_parts(const Graph& graph, const ModelSpec& model);
// One instance of a part of the vision tower.
struct TowerInstance {
  int segment = 0;    // index into Graph::segments
  int64_t copy = -1;  // number of the layer of the tower; -1: the patches or the projector
  CheckpointPolicy checkpoint_policy = CheckpointPolicy::Activations;
  bool recomputed() const { return checkpoint_policy != CheckpointPolicy::Activations; }
};
// The instances of all parts in the order of execution: for numbers and segments alone, tower_parts() is
// shorter.
std::vector<TowerInstance> tower_instances(const Graph& graph, const ModelSpec& model);
// One entry per layer of a chunk that holds `layers` layers of the model from first_layer on.
std::vector<ChunkLayer> chunk_layers(const Graph& graph, const Design& design, int64_t first_layer,
                                     int64_t layers);

}  // namespace shardscape
