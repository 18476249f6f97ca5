// How a person spreads the model over ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/mesh.h"

namespace shardscape {

// How attention sees the whole sequence where cp spreads it over ranks. Zigzag: rank i of n holds the blocks i and 2n-1-i of
// 2n, so that a causal mask leaves all ranks equally much to do.
enum class ContextMode : uint8_t { AllGather, Ulysses, Ring, Zigzag, UlyssesRing, UlyssesZigzag };

// How tokens get to their experts and back: exchanged by all-to-all, each rank its own tokens (Megatron "alltoall"), or
// split over tp by hidden instead (Megatron-core up to 0.8, "alltoall_seq" later); or gathered whole by every rank of the
// expert groups, which sum what their experts make of them. Flex (Megatron-core "flex" with DeepEP; DeepSeek-V3, arXiv
// 2412.19437, section 3.2.2): a token is sent once to each node that has experts of it, to the rank at the sender's place
// there, then inside the node to the ranks of its experts; results are summed in the node before they go back.
enum class Dispatcher : uint8_t { AllToAll, AllToAllSeq, AllGather, Flex };

// Order of forwards and backwards on every stage; schedule/make_schedule.cpp and its neighbours say whose each is.
// ForwardOnly and OneFOneBPairs are no choices of a person: inference runs the one, 1F1B with ep_comm_overlap is the other.
enum class ScheduleKind : uint8_t { GPipe, OneFOneB, ZbH1, ZbH2, ZbV, DualPipe, DualPipeV, Flexible, ForwardOnly, OneFOneBPairs, ZbAuto };

// What data parallelism does to gradients, parameters and optimizer states (schedule/sync_plan.h plans each).
enum class SyncStrategy : uint8_t {
  DdpFlat,               // Megatron-LM: all gradients in one flat buffer; with overlap in buckets (Megatron-core)
  DdpBuckets,            // PyTorch DDP
  DistributedOptimizer,  // Megatron: gradients reduce-scattered, updated parameters gathered
  Zero0, Zero1, Zero2, Zero3,  // DeepSpeed
  Fsdp1,                 // flat units
  Fsdp2                  // per parameter
};

// DeepSpeed's limits, in elements, under its names; those of ZeRO-3 without their prefix stage3_.
struct ZeroLimits {
  int64_t reduce_bucket_size = 500'000'000, allgather_bucket_size = 500'000'000;
  int64_t prefetch_bucket_size = 50'000'000, param_persistence_threshold = 100'000;
  int64_t max_live_parameters = 1'000'000'000, max_reuse_distance = 1'000'000'000;
  friend bool operator==(const ZeroLimits&, const ZeroLimits&) = default;
};

// What ScheduleKind::ZbAuto finds its order from (schedule/zb_auto.cpp).
struct PassPlan {
  // Of a microbatch on a stage, in any one unit: its forward, the gradient of its input, those of weights, and a message to the
  // next stage. Empty: the first three take equally long, messages nothing.
  std::vector<int64_t> times;
  int64_t most_in_flight = 0;    // microbatches that a stage may hold; 0: 2 pp
  int64_t waiting_percent = 100;  // what a microbatch still counts for between the two parts of its backward
  friend bool operator==(const PassPlan&, const PassPlan&) = default;
};

struct ParallelSpec {
  int64_t tp = 1, pp = 1, dp = 1, cp = 1;
  int64_t ep = 1;                        // ranks that share the experts of a layer, out of dp x cp (x tp / etp)
  int64_t etp = 0;                       // tensor parallelism of experts; 0: as tp
  Dispatcher dispatcher = Dispatcher::AllToAll;
  int64_t dispatch_sms = 20;             // processors that exchanges of experts take from the kernels that they overlap with
  bool sequence_parallel = false;
  ContextMode context = ContextMode::AllGather;
  int64_t ulysses_degree = 0;  // ranks that exchange heads inside a ring; 0: as many as the KV heads allow
  int64_t dcp = 1;             // decode: ranks of a tensor-parallel group that share the context of their KV heads
  ScheduleKind schedule = ScheduleKind::OneFOneB;
  // Layers of every stage, empty: as even as possible, earlier stages take the rest. With virtual stages one number for
  // each of these in the order of the model (PipelineLayout says where each is).
  std::vector<int64_t> stage_layers;
  // Where stage_layers is empty: the embedding, or the head with its loss, counts as one layer when stages are made even.
  bool account_for_embedding_in_pipeline_split = false, account_for_loss_in_pipeline_split = false;
  int64_t counted_beside_layers() const { return int64_t{account_for_embedding_in_pipeline_split} + int64_t{account_for_loss_in_pipeline_split}; }
  RankOrder order;
  int64_t virtual_stages = 1;            // v: model chunks per stage; more than one interleaves 1F1B
  bool forward_only = false;             // inference, whatever the schedule (as_run in design/design.h)
  int64_t microbatch_group = 0;          // flexible: microbatches in a row on a virtual stage; 0: pp
  PassPlan passes;
  bool scatter_gather_pipeline = false;  // each tp rank sends its share of a message, the receivers gather it
  SyncStrategy sync = SyncStrategy::DdpFlat;
  bool overlap_grad_reduce = false;      // Megatron's policies: in buckets, while the last backward runs
  bool overlap_param_gather = false;     // distributed optimizer: updated parameters are gathered under the next forward
  bool ep_comm_overlap = false;          // 1F1B: exchanges of experts run beside another microbatch's backward or forward
  bool tp_comm_overlap = false;          // products run beside the gathers and scatters of their operands and results
  int64_t dp_shard = 0;                  // replicas that share one copy of the states (FSDP, Megatron); 0: all
  bool reshard_after_forward = true;     // FSDP: off is SHARD_GRAD_OP
  bool reduce_every_microbatch = false;  // PyTorch: without no_sync while accumulating
  int64_t ddp_bucket_size = 0;           // Megatron's buckets, elements; 0: 40 million, or a million per replica
  int64_t bucket_cap_mb = 25, first_bucket_mb = 1;  // PyTorch DDP's buckets, 2^20 bytes
  ZeroLimits zero;
  bool clip_grad_norm = false, average_loss = false;  // all-reduces of one number each
  // Experts on a mesh of their own that covers tp too.
  bool folds_experts() const { return etp > 0 && etp != tp; }
  int64_t expert_tp() const { return etp > 0 ? etp : tp; }
  // Ranks over which one rank's share of experts is repeated.
  int64_t edp() const { return dp * cp * tp / (ep * expert_tp()); }
  friend bool operator==(const ParallelSpec&, const ParallelSpec&) = default;
};

}  // namespace shardscape
