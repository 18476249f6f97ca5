// The treatment of each layer's activations by full recompute and by offload, per layer of a virtual stage
// (chunk).
#pragma once

#include <cstdint>
#include <vector>

#include "design/design.h"

namespace shardscape {

// Layers begin to end - 1, counted within the chunk, form one recompute group that saves only the input of
// its first layer.
struct LayerTreatment {
  bool recomputed = false;
  int64_t begin = 0, end = 1;  // its group; a layer that is not recomputed is its own group
  bool offloaded = false;      // its saved tensors are stored on the host until the backward
};

// One element per layer of a chunk with `layers` layers. `recomputed` is true only under full recompute. The
// first layers are offloaded. As in Megatron-LM (--recompute-method, --recompute-num-layers), layers count
// within each virtual stage.
std::vector<LayerTreatment> layer_treatments(const WorkloadSpec& workload, int64_t layers);

}  // namespace shardscape
