// When the gradients of a stage are in memory, by what each policy of gradient sync does with them. optimizer.zero_grad() sets gradients to
// None (PyTorch, set_to_none=True by default), so that those that are tensors of their own come with a backward and go with the optimizer.
// Sources, by behaviour: Megatron-core 0.8 (contiguous grad buffers, made once); PyTorch 2.4 DistributedDataParallel (buckets of the reducer,
// made once; .grad beside them, as gradient_as_bucket_view is off by default), FullyShardedDataParallel and fully_shard (a unit's
// gradients are whole until they are scattered); DeepSpeed 0.9.5 (stages 0 and 1 keep .grad; stage 2 a bucket while a backward runs, and its
// partition from the first one on: stage_1_and_2.py, _release_ipg_buffers, averaged_gradients; stage 3 flat buffers, made once: stage3.py).
#pragma once

#include <vector>

#include "cost/sync_model.h"

namespace shardscape {

enum class GradientLife : uint8_t {
  Always,          // in buffers that are made once
  UntilOptimizer,  // whole, of each layer from its first backward on
  UntilReduced,    // whole until their unit is reduced, then as a shard
  InBuckets        // a bucket in each backward, shards from the first one on
};
GradientLife gradient_life(const Graph& graph);
// That accumulate whole, of a unit that is yet to be reduced.
DType unreduced_dtype(const Structure& structure);
// Bytes of .grad beside DDP's buckets, which are those of parameters that have replicas: the buckets.
Expr bucket_bytes(const Graph& graph, bool first, bool last, bool has_layers);

// Bytes on one rank.
struct StageGradients {
  GradientLife life = GradientLife::Always;
  bool every_backward = false;   // reduced behind every backward, otherwise behind the last one
  bool with_chunk = false;       // once that of the whole chunk is through
  std::vector<int64_t> reduced;  // by segment: what its reduction leaves; of a root where the first of its segments is
  int64_t always = 0;            // there all along, where life is not Always
  int64_t shards = 0, bucket = 0;  // InBuckets
};
// stage: its binding with all symbols of the sync.
StageGradients stage_gradients(const Graph& graph, bool first, bool last, bool has_layers, const Binding& stage);

}  // namespace shardscape
