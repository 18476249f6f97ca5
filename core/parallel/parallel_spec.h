// How a person spreads the model over ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/mesh.h"

namespace shardscape {

// How attention sees the whole sequence where cp spreads it over ranks. Zigzag: rank i of n holds the blocks i and 2n-1-i of
// 2n, so that a causal mask leaves all ranks equally much to do.
enum class ContextMode : uint8_t { AllGather, Ulysses, Ring, Zigzag, UlyssesRing, UlyssesZigzag };

enum class ScheduleKind : uint8_t { GPipe, OneFOneB };

// What data parallelism does to gradients, parameters and optimizer states (schedule/sync_plan.h plans each).
enum class SyncStrategy : uint8_t {
  DdpFlat,               // Megatron-LM: all gradients in one flat buffer; with overlap in buckets (Megatron-core)
  DdpBuckets,            // PyTorch DDP
  DistributedOptimizer,  // Megatron: gradients reduce-scattered, updated parameters gathered
  Zero0, Zero1, Zero2, Zero3,  // DeepSpeed
  Fsdp1,                 // flat units
  Fsdp2                  // per parameter
};

struct ParallelSpec {
  int64_t tp = 1, pp = 1, dp = 1, cp = 1;
  bool sequence_parallel = false;
  ContextMode context = ContextMode::AllGather;
  int64_t ulysses_degree = 0;  // ranks that exchange heads inside a ring; 0: as many as the KV heads allow
  ScheduleKind schedule = ScheduleKind::OneFOneB;
  // Layers of every stage, empty: as even as possible, earlier stages take the rest. With virtual stages one number for
  // each of these in the order of the model: entry k is chunk k / pp of stage k % pp.
  std::vector<int64_t> stage_layers;
  RankOrder order;
  int64_t virtual_stages = 1;            // v: model chunks per stage; more than one interleaves 1F1B
  bool scatter_gather_pipeline = false;  // each tp rank sends its share of a message, the receivers gather it
  SyncStrategy sync = SyncStrategy::DdpFlat;
  bool overlap_grad_reduce = false;      // Megatron's policies: in buckets, while the last backward runs
  friend bool operator==(const ParallelSpec&, const ParallelSpec&) = default;
};

}  // namespace shardscape
