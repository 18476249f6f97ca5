// Time of a forward and a backward that run concurrently, layer by layer: expert exchanges of one pass run
// while the other pass computes.
//
// Order of the kernels (Megatron-core, TransformerLayerSchedulePlan.run of model_chunk_schedule_plan.py;
// DeepSeek-AI, arXiv 2412.19437, figure 4), F and B of the layers that run together:
//
//   exchanges | combine B |      dispatch F, dispatch B      | combine F
//   compute   | attention F | experts B, weights B, experts F | attention B, weights B
//
// Each stream runs its kernels in this order. A kernel also waits for its input.
#pragma once

#include <span>
#include <vector>

namespace shardscape {

// Seconds of a layer in one pass, without waits. In execution order: `before`, exchange `first`, `experts`,
// exchange `second`, `after`. Layers without exchanges have only `before`. Weight gradients that are
// separate from the backward: of the experts, and of the rest of the layer.
struct PairedLayer {
  double before = 0, first = 0, experts = 0, second = 0, after = 0;
  double expert_weights = 0, other_weights = 0;
};

// Seconds from the begin of both passes until both streams have ended. Layers are in the order of execution:
// layer i of the forward runs with layer i of the backward. If one pass has more layers, its last ones run
// alone.
double paired_seconds(std::span<const PairedLayer> forward, std::span<const PairedLayer> backward);

}  // namespace shardscape
