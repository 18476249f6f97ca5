// Megatron's flat buffers. Without overlap: one buffer per step. With overlap: buckets of at least 40 million
// elements, or a million per replica (megatron/core/distributed, param_and_grad_buffer.py). The distributed
// optimizer pads buckets so that every rank owns an equal shard, and gathers updated parameters bucket by
// bucket. Several instances (num_distributed_optimizer_instances) each have all shards: a bucket is scattered
// inside the instance, then the shard is all-reduced across instances, with and without overlap
// (start_grad_sync). Parameters of one type share buffers: weights that are stored in 8 bits have their own.
#include <algorithm>
#include <numeric>

#include "grad_sync/sync_rules.h"

namespace shardscape {
namespace {

struct Bucket {
  std::vector<SyncPart> parts;
  int64_t elements = 0;       // padding included
  DType dtype = DType::BF16;  // of the parameters
};

// Appends the buckets of the parameters with this type.
void add_buckets(const SyncScope& scope, DType dtype, std::vector<Bucket>& out) {
  const bool sharded = scope.policy.strategy == SyncStrategy::DistributedOptimizer;
  const int64_t start = sharded ? scope.policy.param_alignment : 1;
  const int64_t end = sharded ? std::lcm(scope.group.size, scope.policy.bucket_alignment) : 1;
  // The default size counts all replicas of a stage, also for buckets of experts (training.py, get_model).
  const SyncGroup& all = scope.input.groups.front();
  const int64_t default_size = std::max<int64_t>(40'000'000, 1'000'000 * all.size * all.across_size);
  const int64_t full = scope.policy.bucket_elements > 0 ? scope.policy.bucket_elements : default_size;
  const size_t before = out.size();
  bool closed = true;
  // Parameters enter the buffer in reverse order of declaration, whatever the order of their gradients.
  for (auto p = scope.params.rbegin(); p != scope.params.rend(); ++p) {
    if (scope.policy.gathered_dtype(scope.param(*p).quantized) != dtype) continue;
    if (closed) out.push_back({{}, 0, dtype});
    Bucket& bucket = out.back();
    bucket.elements = align_up(bucket.elements, start) + scope.param(*p).elements();
    bucket.parts.push_back(whole(scope, *p));
    closed = scope.policy.overlap && bucket.elements >= full;
  }
  for (size_t b = before; b < out.size(); ++b) out[b].elements = align_up(out[b].elements, end);
}

std::vector<Bucket> buckets_of(const SyncScope& scope) {
  std::vector<Bucket> out;
  add_buckets(scope, scope.policy.param_dtype, out);
  if (scope.policy.quantized_dtype) add_buckets(scope, *scope.policy.quantized_dtype, out);
  return out;
}

// By parameter: the place of its gradient in the order in which gradients become ready; -1: it has none.
std::vector<int64_t> gradient_places(const SyncScope& scope) {
  std::vector<int64_t> out(scope.input.params.size(), -1);
  for (size_t i = 0; i < scope.gradients.size(); ++i)
    out[static_cast<size_t>(scope.gradients[i])] = static_cast<int64_t>(i);
  return out;
}

// The parameter whose gradient becomes ready last; -1 without a gradient.
int last_ready(const std::vector<int64_t>& places, const std::vector<SyncPart>& parts) {
  int last = -1;
  int64_t place = -1;
  for (const SyncPart& part : parts)
    if (const int64_t at = places[static_cast<size_t>(part.param)]; at > place) {
      place = at;
      last = part.param;
    }
  return last;
}

}  // namespace

void plan_megatron(const SyncScope& scope) {
  const bool sharded = scope.policy.strategy == SyncStrategy::DistributedOptimizer,
             overlap = scope.policy.overlap;
  const std::vector<Bucket> buckets = buckets_of(scope);
  const std::vector<int64_t> places = gradient_places(scope);
  for (const Bucket& bucket : buckets) {
    SyncAction a = scope.action(overlap ? Phase::Backward : Phase::GradReduce,
                                sharded ? CollectiveKind::ReduceScatter : CollectiveKind::AllReduce,
                                scope.policy.grad_dtype);
    a.elements = bucket.elements;
    a.parts = bucket.parts;
    a.occurrence = SyncOccurrence::Last;
    a.when = overlap ? SyncWhen::AfterGradient : SyncWhen::AfterBackward;
    a.param = overlap ? last_ready(places, bucket.parts) : -1;
    scope.add(std::move(a));
    if (sharded && scope.group.across_size > 1) add_across(scope);
  }
  if (!sharded) return;
  for (const Bucket& bucket : buckets) {
    SyncAction a = scope.action(Phase::ParamGather, CollectiveKind::AllGather, bucket.dtype);
    a.elements = bucket.elements;
    a.parts = bucket.parts;
    a.occurrence = SyncOccurrence::Last;
    a.when = SyncWhen::AfterOptimizer;
    scope.add(std::move(a));
  }
}

}  // namespace shardscape
