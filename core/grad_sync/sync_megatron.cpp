// Megatron's flat buffers. Without overlap: one buffer per step. With overlap: buckets of at least 40 million
// elements, or a million per replica (megatron/core/distributed, param_and_grad_buffer.py). The distributed
// optimizer pads buckets so that every rank owns an equal shard, and gathers updated parameters bucket by
// bucket. Several instances (num_distributed_optimizer_instances) each have all shards: a bucket is scattered
// inside the instance, then the shard is all-reduced across instances, with and without overlap
// (start_grad_sync).
#include <algorithm>
#include <numeric>

#include "grad_sync/sync_rules.h"

namespace shardscape {
namespace {

struct Bucket {
  std::vector<SyncPart> parts;
  int64_t elements = 0;  // padding included
};

std::vector<Bucket> buckets_of(const SyncScope& scope) {
  const bool sharded = scope.policy.strategy == SyncStrategy::DistributedOptimizer;
  const int64_t start = sharded ? scope.policy.param_alignment : 1;
  const int64_t end = sharded ? std::lcm(scope.group.size, scope.policy.bucket_alignment) : 1;
  // The default size counts all replicas of a stage, also for buckets of experts (training.py, get_model).
  const SyncGroup& all = scope.input.groups.front();
  const int64_t default_size = std::max<int64_t>(40'000'000, 1'000'000 * all.size * all.across_size);
  const int64_t full = scope.policy.bucket_elements > 0 ? scope.policy.bucket_elements : default_size;
  std::vector<Bucket> out(1);
  // Parameters enter the buffer in reverse order of declaration, whatever the order of their gradients.
  for (auto p = scope.params.rbegin(); p != scope.params.rend(); ++p) {
    Bucket& bucket = out.back();
    bucket.elements = align_up(bucket.elements, start) + scope.param(*p).elements();
    bucket.parts.push_back(whole(scope, *p));
    if (scope.policy.overlap && bucket.elements >= full) out.emplace_back();
  }
  if (out.back().parts.empty()) out.pop_back();
  for (Bucket& bucket : out) bucket.elements = align_up(bucket.elements, end);
  return out;
}

// The parameter whose gradient becomes ready last.
int last_ready(const SyncScope& scope, const std::vector<SyncPart>& parts) {
  for (auto p = scope.gradients.rbegin(); p != scope.gradients.rend(); ++p)
    if (std::any_of(parts.begin(), parts.end(), [&](const SyncPart& part) { return part.param == *p; }))
      return *p;
  return -1;
}

}  // namespace

void plan_megatron(const SyncScope& scope) {
  const bool sharded = scope.policy.strategy == SyncStrategy::DistributedOptimizer,
             overlap = scope.policy.overlap;
  const std::vector<Bucket> buckets = buckets_of(scope);
  for (const Bucket& bucket : buckets) {
    SyncAction a = scope.action(overlap ? Phase::Backward : Phase::GradReduce,
                                sharded ? CollectiveKind::ReduceScatter : CollectiveKind::AllReduce,
                                scope.policy.grad_dtype);
    a.elements = bucket.elements;
    a.parts = bucket.parts;
    a.occurrence = SyncOccurrence::Last;
    a.when = overlap ? SyncWhen::AfterGradient : SyncWhen::AfterBackward;
    a.param = overlap ? last_ready(scope, bucket.parts) : -1;
    scope.add(std::move(a));
    if (sharded && scope.group.across_size > 1) add_across(scope);
  }
  if (!sharded) return;
  for (const Bucket& bucket : buckets) {
    SyncAction a = scope.action(Phase::ParamGather, CollectiveKind::AllGather, scope.policy.param_dtype);
    a.elements = bucket.elements;
    a.parts = bucket.parts;
    a.occurrence = SyncOccurrence::Last;
    a.when = SyncWhen::AfterOptimizer;
    scope.add(std::move(a));
  }
}

}  // namespace shardscape
