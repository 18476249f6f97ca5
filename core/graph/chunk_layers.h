// The layers of a virtual stage in order: which segment each is, and what recomputation makes of it.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace shardscape {

struct ChunkLayer {
  int segment = 1;               // index into Graph::segments
  Keeps keeps = Keeps::Activations;
  int64_t begin = 0, end = 1;    // the layers of this chunk that are recomputed with it, itself included
  int64_t index = 0;             // in the chunk
  bool offloaded = false;        // what it keeps waits on the host
  bool recomputed() const { return keeps != Keeps::Activations; }
  bool ends_group() const { return recomputed() && index + 1 == end; }  // its backward starts with the replay of the group
};
std::vector<ChunkLayer> chunk_layers(const Graph& graph, const Design& design, int64_t first_layer, int64_t layers);

}  // namespace shardscape
