// The lifetime of a stage's gradients in memory, per policy of gradient sync. optimizer.zero_grad() sets
// gradients to None (PyTorch, set_to_none=True by default), so gradients that are separate tensors appear in
// a backward and disappear after the optimizer. Sources, by behaviour: Megatron-core 0.8 (contiguous grad
// buffers, allocated once); PyTorch 2.4 DistributedDataParallel (reducer buckets, allocated once, plus .grad,
// because gradient_as_bucket_view is off by default); PyTorch 2.4 FullyShardedDataParallel and fully_shard
// (whole gradients of a unit exist until the scatter); DeepSpeed 0.9.5 (stages 0 and 1 keep .grad; stage 2
// has a bucket during each backward, and its partition from the first backward on: stage_1_and_2.py,
// _release_ipg_buffers, averaged_gradients; stage 3 has flat buffers, allocated once: stage3.py);
// Megatron-FSDP (whole gradients of a unit until its scatter; the buffer of their shards is allocated once:
// param_and_grad_buffer.py).
#pragma once

#include <vector>

#include "base/plan_cache.h"
#include "grad_sync/sync_model.h"

namespace shardscape {

enum class GradientLife : uint8_t {
  Always,          // in buffers that are allocated once
  UntilOptimizer,  // whole gradients of each layer from its first backward until the optimizer
  // Whole gradients until their unit is reduced, then its shard until the optimizer.
  UntilReduced,
  // A bucket during each backward; shards from the first backward on.
  InBuckets
};
GradientLife gradient_life(const Graph& graph);
// Megatron's policies: whole gradients in the type of the parameters live until the backward of a virtual
// stage ends, and are then added to the buffer (WeightGradient::UntilPassEnds).
bool adds_gradients_after_pass(const Graph& graph);
// Type of whole gradients before the reduction of their unit.
DType unreduced_dtype(const Structure& structure);
// PyTorch DDP: bytes of the reducer's buckets, which exist in addition to .grad and cover the parameters with
// replicas. type: of the gradients.
Expr bucket_bytes(const Graph& graph, DType type, ModelStart first, bool last, bool has_layers);

// Bytes on one rank.
struct StageGradients {
  GradientLife life = GradientLife::Always;
  bool every_backward = false;  // reduced after every backward; otherwise after the last
  // Reduced once the backward of the whole chunk has ended.
  bool with_chunk = false;
  // By segment: bytes of reduced gradients. A root unit counts at its first segment.
  std::vector<int64_t> reduced;
  // Bytes that are allocated during the whole step: PyTorch DDP's buckets, Megatron-FSDP's shards, the buffer
  // to which gradients are added. 0 if life is Always.
  int64_t always = 0;
  int64_t shards = 0, bucket = 0;  // InBuckets
  int64_t owned = 0;               // elements whose optimizer states the rank stores, if asked for
};
// stage: binding of the stage with all symbols of gradient sync. owned: asks for StageGradients::owned.
StageGradients stage_gradients(const Graph& graph, ModelStart first, bool last, bool has_layers,
                               const Binding& stage, PlanCache& cache, bool owned = false);

}  // namespace shardscape
