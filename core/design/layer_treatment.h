// What becomes of the activations of every layer of a virtual stage (chunk), by its place in the chunk.
#pragma once

#include <cstdint>
#include <vector>

#include "design/design.h"

namespace shardscape {

// Layers from begin up to end, counted within the chunk, are recomputed as one: only the input of the first is kept.
struct LayerTreatment {
  bool recomputed = false;
  int64_t begin = 0, end = 1;  // its group; a layer that is not recomputed is alone
  bool offloaded = false;      // what it keeps waits on the host
};

// One per layer of a chunk of so many, under full recompute; under any other policy nothing is recomputed as a layer.
// Offloaded are the first ones. Megatron-LM, --recompute-method and --recompute-num-layers: counted within each virtual stage.
std::vector<LayerTreatment> layer_treatments(const WorkloadSpec& workload, int64_t layers);

}  // namespace shardscape
