// The parallelization of a model over ranks, as a person sets it.
#pragma once

#include <cstdint>
#include <vector>

#include "mesh/mesh.h"

namespace shardscape {

// How attention sees the whole sequence under context parallelism. Zigzag: rank i of n holds
// blocks i and 2n-1-i of 2n blocks, so that a causal mask gives all ranks equal work.
enum class ContextMode : uint8_t { AllGather, Ulysses, Ring, Zigzag, UlyssesRing, UlyssesZigzag };

// Token dispatchers of mixture of experts:
// - AllToAll: each rank exchanges its own tokens (Megatron "alltoall").
// - AllToAllSeq: tokens are split over tp by hidden first (the only all-to-all of Megatron-core up to 0.8,
//   "alltoall_seq" later).
// - AllGather: every rank of the expert groups gathers all tokens, and the outputs of experts are summed.
// - Flex (Megatron-core "flex" with DeepEP; DeepSeek-V3, arXiv 2412.19437, section 3.2.2): a token is sent
//   once to each node that has experts of the token, to the rank at the sender's position in the node. From
//   there it goes to the ranks of its experts. The node sums results before they return.
enum class Dispatcher : uint8_t { AllToAll, AllToAllSeq, AllGather, Flex };

// The order of forwards and backwards on every stage. pipeline/make_schedule.cpp and the generators next to
// it name the source of each. A person cannot choose three of them: ForwardOnly is inference, OneFOneBPairs
// is 1F1B with ep_comm_overlap, OneFOneBForwardsFirst is interleaved 1F1B with forwards_first.
enum class ScheduleKind : uint8_t {
  GPipe,
  OneFOneB,
  ZbH1,
  ZbH2,
  ZbV,
  DualPipe,
  DualPipeV,
  Flexible,
  ForwardOnly,
  OneFOneBPairs,
  ZbAuto,
  OneFOneBForwardsFirst
};

// Policies of gradient sync: the treatment of gradients, parameters and optimizer states in data parallelism.
// grad_sync/sync_plan.h plans each policy.
enum class SyncStrategy : uint8_t {
  DdpFlat,               // Megatron-LM: one flat gradient buffer; with overlap, buckets (Megatron-core)
  DdpBuckets,            // PyTorch DDP
  DistributedOptimizer,  // Megatron: reduce-scatters gradients, gathers updated parameters
  Zero0,
  Zero1,
  Zero2,
  Zero3,        // Zero0 to Zero3: DeepSpeed
  Fsdp1,        // flat units, one per layer
  Fsdp2,        // parameters sharded one by one
  MegatronFsdp  // Megatron-FSDP: flat units, master weights, gradients reduced after every microbatch
};
// The code base that runs a policy.
enum class SyncFamily : uint8_t { Megatron, TorchDdp, DeepSpeed, Fsdp };
constexpr SyncFamily sync_family(SyncStrategy strategy) {
  switch (strategy) {
    case SyncStrategy::DdpFlat:
    case SyncStrategy::DistributedOptimizer: return SyncFamily::Megatron;
    case SyncStrategy::DdpBuckets: return SyncFamily::TorchDdp;
    case SyncStrategy::Zero0:
    case SyncStrategy::Zero1:
    case SyncStrategy::Zero2:
    case SyncStrategy::Zero3: return SyncFamily::DeepSpeed;
    case SyncStrategy::Fsdp1:
    case SyncStrategy::Fsdp2:
    case SyncStrategy::MegatronFsdp: break;
  }
  return SyncFamily::Fsdp;
}
constexpr bool is_megatron(SyncStrategy s) { return sync_family(s) == SyncFamily::Megatron; }
constexpr bool is_deepspeed(SyncStrategy s) { return sync_family(s) == SyncFamily::DeepSpeed; }
constexpr bool is_fsdp(SyncStrategy s) { return sync_family(s) == SyncFamily::Fsdp; }
// PyTorch's FSDP: the shards of parameters and gradients are float32, without separate master weights.
constexpr bool is_torch_fsdp(SyncStrategy s) { return s == SyncStrategy::Fsdp1 || s == SyncStrategy::Fsdp2; }
// The parameters of an FSDP unit, and its gradients, are one flat buffer each.
constexpr bool has_flat_units(SyncStrategy s) { return is_fsdp(s) && s != SyncStrategy::Fsdp2; }
// Whether the policy shards inside groups of replicas and replicates shards across groups (dp_shard).
constexpr bool shards_in_groups(SyncStrategy s) {
  return is_fsdp(s) || s == SyncStrategy::DistributedOptimizer || s == SyncStrategy::Zero1 ||
         s == SyncStrategy::Zero2 || s == SyncStrategy::Zero3;
}

// DeepSpeed's limits in elements, under DeepSpeed's names. Limits of ZeRO-3 omit the prefix stage3_.
struct ZeroLimits {
  int64_t reduce_bucket_size = 500'000'000, allgather_bucket_size = 500'000'000;
  int64_t prefetch_bucket_size = 50'000'000, param_persistence_threshold = 100'000;
  int64_t max_live_parameters = 1'000'000'000, max_reuse_distance = 1'000'000'000;
  friend bool operator==(const ZeroLimits&, const ZeroLimits&) = default;
};

// The inputs of ScheduleKind::ZbAuto, which searches the order of passes (pipeline/zb_auto.cpp).
struct PassPlan {
  // Times for one microbatch on one stage, in any unit: forward, input gradient, weight gradient, message to
  // the next stage. Empty: the first three take equal time and messages take none.
  std::vector<int64_t> times;
  int64_t most_in_flight = 0;  // limit of microbatches that a stage holds; 0: 2 pp
  // Percentage of a microbatch that counts against most_in_flight between its input gradient and its weight
  // gradient.
  int64_t waiting_percent = 100;
  friend bool operator==(const PassPlan&, const PassPlan&) = default;
};

struct ParallelSpec {
  int64_t tp = 1, pp = 1, dp = 1, cp = 1;
  int64_t ep = 1;   // ranks that share the experts of a layer, out of dp x cp (x tp / etp)
  int64_t etp = 0;  // tensor-parallel degree of experts; 0: tp
  Dispatcher dispatcher = Dispatcher::AllToAll;
  // Processors (SMs) that expert exchanges occupy while they overlap with other kernels.
  int64_t dispatch_sms = 20;
  bool sequence_parallel = false;
  ContextMode context = ContextMode::AllGather;
  int64_t ulysses_degree = 0;  // ranks that exchange heads inside a ring; 0: as many as the KV heads allow
  int64_t dcp = 1;  // decode: ranks of a tensor-parallel group that share the context of their KV heads
  ScheduleKind schedule = ScheduleKind::OneFOneB;
  // Layers per stage. Empty: an even split, where earlier stages take the remainder. With virtual stages, one
  // number per virtual stage in the order of the model (PipelineLayout gives the stage of each).
  std::vector<int64_t> stage_layers;
  // For an empty stage_layers: whether the embedding, or the head with its loss, counts as one layer in the
  // even split.
  bool account_for_embedding_in_pipeline_split = false, account_for_loss_in_pipeline_split = false;
  int64_t ends_counted_as_layers() const {
    return int64_t{account_for_embedding_in_pipeline_split} + int64_t{account_for_loss_in_pipeline_split};
  }
  RankOrder order;
  int64_t virtual_stages = 1;  // v: model chunks per stage; above 1 interleaves 1F1B
  // Interleaved 1F1B with as many microbatches as stages runs all forwards before the first backward.
  bool forwards_first = false;
  bool forward_only = false;     // inference, whatever the schedule; set by the effective design
  int64_t microbatch_group = 0;  // flexible schedule: consecutive microbatches per virtual stage; 0: pp
  PassPlan passes;
  // Each tp rank sends its shard of a message, and the receivers gather it.
  bool scatter_gather_pipeline = false;
  SyncStrategy sync = SyncStrategy::DdpFlat;
  bool overlap_grad_reduce = false;  // Megatron's policies: reduces buckets while the last backward runs
  // Distributed optimizer: gathers updated parameters under the next forward.
  bool overlap_param_gather = false;
  // 1F1B: expert exchanges run concurrently with the backward or forward of another microbatch.
  bool ep_comm_overlap = false;
  // Shared experts run concurrently with the exchanges of the routed experts.
  bool shared_expert_overlap = false;
  // Matrix products run concurrently with the gathers of their operands and the scatters of their results.
  bool tp_comm_overlap = false;
  // Scatters of input gradients run concurrently with the GEMMs of these gradients, not with those of weight
  // gradients. Matters for frozen weights, which have no weight gradients.
  bool tp_comm_overlap_rs_dgrad = false;
  int64_t dp_shard = 0;               // replicas that share one copy of the states (shards_in_groups); 0: all
  bool reshard_after_forward = true;  // FSDP: false is SHARD_GRAD_OP
  // FSDP2, Megatron-FSDP: false keeps units gathered from one microbatch to the next
  // (set_reshard_after_backward; the sharding strategy optim_grads).
  bool reshard_after_backward = true;
  bool reduce_every_microbatch = false;  // PyTorch: no use of no_sync() during accumulation
  // Megatron's bucket size, elements; 0: 40 million or a million per replica, whichever is more.
  int64_t ddp_bucket_size = 0;
  int64_t bucket_cap_mb = 25, first_bucket_mb = 1;  // PyTorch DDP's bucket sizes, units of 2^20 bytes
  ZeroLimits zero;
  bool clip_grad_norm = false, average_loss = false;  // each adds all-reduces of one number
  // Whether experts have a mesh of their own that also covers tp.
  bool folds_experts() const { return etp > 0 && etp != tp; }
  int64_t expert_tp() const { return etp > 0 ? etp : tp; }
  // Ranks with the same experts: the data-parallel degree of experts.
  int64_t edp() const { return dp * cp * tp / (ep * expert_tp()); }
  friend bool operator==(const ParallelSpec&, const ParallelSpec&) = default;
};

}  // namespace shardscape
