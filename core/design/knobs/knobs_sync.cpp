// The rows of the knob table: gradient sync.
#include "design/knobs/knob_writer.h"
#include "design/limits.h"

namespace shardscape {
namespace {

// Access to a field of ZeroLimits.
template <auto Field>
constexpr KnobAccess zero_limit() {
  return {[](const Design& d) { return KnobValue(std::in_place_type<int64_t>, d.parallel.zero.*Field); },
          [](Design& d, const KnobValue& value) { d.parallel.zero.*Field = std::get<int64_t>(value); },
          [](const Design& d) -> int64_t { return d.parallel.zero.*Field; }};
}

void add_deepspeed_limits(TableWriter& table) {
  using Z = ZeroLimits;
  table.section("DeepSpeed limits", true);
  table.number(zero_limit<&Z::reduce_bucket_size>(), "zero_reduce_bucket_size", "ZeRO reduce bucket", "",
               "elements", 1, kMaxBucket,
               "DeepSpeed's reduce_bucket_size: gradient elements that are reduced at once. zero-2 and "
               "zero-3 hold a buffer of this size.");
  table.number(zero_limit<&Z::allgather_bucket_size>(), "zero_allgather_bucket_size",
               "ZeRO all-gather bucket", "", "elements", 1, kMaxBucket,
               "DeepSpeed's allgather_bucket_size: updated parameters that zero-0 to zero-2 gather at "
               "once.");
  table.number(zero_limit<&Z::prefetch_bucket_size>(), "stage3_prefetch_bucket_size", "ZeRO-3 prefetch", "",
               "elements", 0, kMaxBucket,
               "DeepSpeed's stage3_prefetch_bucket_size: parameters of later modules that zero-3 "
               "gathers while the current module runs. 0: no prefetch.");
  table.number(zero_limit<&Z::param_persistence_threshold>(), "stage3_param_persistence_threshold",
               "ZeRO-3 persistence", "", "elements", 0, kMaxBucket,
               "DeepSpeed's stage3_param_persistence_threshold: smaller parameters stay gathered after "
               "their first use in a step.");
  table.number(
      zero_limit<&Z::max_live_parameters>(), "stage3_max_live_parameters", "ZeRO-3 live parameters", "",
      "elements", 0, kMaxBucket,
      "DeepSpeed's stage3_max_live_parameters: the prefetch stops when this many parameters are gathered.");
  table.number(zero_limit<&Z::max_reuse_distance>(), "stage3_max_reuse_distance", "ZeRO-3 reuse distance", "",
               "elements", 0, kMaxBucket,
               "DeepSpeed's stage3_max_reuse_distance: parameters stay gathered if they are used again "
               "within this many elements of other parameters.");
}

}  // namespace

void add_sync(TableWriter& table) {
  using P = ParallelSpec;
  constexpr auto parallel = &Design::parallel;
  table.section("Sharding");
  table.number(
      member<parallel, &P::dp_shard>(), "dp_shard", "Sharding group", "ds", "replicas", 0, kMaxWorld,
      "Hybrid sharding for FSDP, zero-1 to zero-3 and distributed-optimizer: states are sharded inside "
      "groups of this many replicas and replicated across groups. Gradients are reduce-scattered "
      "inside a group (over fast links), and their shards are all-reduced across groups. Megatron "
      "counts the groups: num-distributed-optimizer-instances is dp / ds. With zero-3 this is "
      "DeepSpeed's mics_shard_size (MiCS). zero-1 all-reduces gradients over all replicas and gathers "
      "updated parameters inside a group (InternEvo's zero1 size). 0: sharded over all replicas.");
  table.flag(
      member<parallel, &P::reshard_after_forward>(), "reshard_after_forward", "Reshard after forward",
      "For FSDP. On: units are freed after their forward and gathered again for the backward "
      "(FULL_SHARD). Off: units stay gathered until their backward (SHARD_GRAD_OP), with fewer gathers and "
      "memory for all parameters of the stage. Under fsdp2 in a pipeline, only the last backward of a step "
      "frees a unit (torch.distributed.pipelining), so off gathers each unit once per step.");
  table.flag(
      member<parallel, &P::reshard_after_backward>(), "reshard_after_backward", "Reshard after backward",
      "For fsdp2 (set_reshard_after_backward of PyTorch) and megatron-fsdp with several microbatches per "
      "step. On: each "
      "backward frees its units. Off: only the last backward of a step frees them. In a pipeline without "
      "reduce_every_microbatch always off (torch.distributed.pipelining). The FSDP of Llama 3 is off, with "
      "reduce_every_microbatch and without reshard_after_forward: gradients and optimizer states are "
      "sharded, parameters stay whole during a step (arXiv 2407.21783, section 3.3.2). megatron-fsdp "
      "without both kinds of resharding is the sharding strategy optim_grads.");
  table.section("Gradient sync");
  table.flag(member<parallel, &P::reduce_every_microbatch>(), "reduce_every_microbatch",
             "Reduce every microbatch",
             "For ddp-buckets, fsdp1 and fsdp2: gradients are reduced after the backward of each microbatch, "
             "as PyTorch does without no_sync, instead of once per step. zero-2, zero-3 and megatron-fsdp "
             "always do so; Megatron's other policies, zero-0 and zero-1 never do.");
  table.section("DDP buckets", true);
  table.number(member<parallel, &P::bucket_cap_mb>(), "bucket_cap_mb", "DDP bucket", "", "MB", 1,
               kMaxBucketMb,
               "For ddp-buckets: size at which a bucket of gradients is full, in units of 2^20 bytes "
               "(bucket_cap_mb of PyTorch's DDP).");
  table.number(member<parallel, &P::first_bucket_mb>(), "first_bucket_mb", "First DDP bucket", "", "MB", 1,
               kMaxBucketMb,
               "For ddp-buckets: size of the first bucket of the backward. A small bucket lets the reduction "
               "start early.");
  table.section("Gradient sync");
  table.number(member<parallel, &P::ddp_bucket_size>(), "ddp_bucket_size", "Megatron bucket", "", "elements",
               0, kMaxBucket,
               "For ddp-flat and distributed-optimizer with overlap_grad_reduce: number of elements at which "
               "a bucket is full (ddp-bucket-size). 0: Megatron's default, 40 million or a million per "
               "replica, whichever is more.");
  add_deepspeed_limits(table);
  table.section("Gradient sync");
  table.flag(
      member<parallel, &P::clip_grad_norm>(), "clip_grad_norm", "Clip gradient norm",
      "Adds an all-reduce of one number before the optimizer: the squared norm of the gradients. The sum "
      "runs over all ranks that hold different gradients (tensor-parallel ranks, stages, shards).");
  table.flag(member<parallel, &P::average_loss>(), "average_loss", "Average loss",
             "For the log, the last stage all-reduces the loss of every microbatch over the replicas, one "
             "number each.");
}

}  // namespace shardscape
