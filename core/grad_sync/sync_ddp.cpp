// PyTorch DDP from the second step on: buckets are rebuilt in the order in which gradients became ready; a
// bucket closes with the parameter that fills it (torch/csrc/distributed/c10d/reducer.cpp,
// compute_bucket_assignment_by_size).
#include "grad_sync/sync_rules.h"

namespace shardscape {

void plan_ddp_buckets(const SyncScope& scope) {
  const int64_t width = dtype_bytes(scope.policy.grad_dtype);
  int64_t limit = scope.policy.first_bucket_bytes;
  SyncAction bucket = scope.action(Phase::Backward, CollectiveKind::AllReduce, scope.policy.grad_dtype);
  bucket.when = SyncWhen::AfterGradient;
  const auto close = [&] {
    if (bucket.parts.empty()) return;
    bucket.elements = elements_of(bucket.parts);
    bucket.param = bucket.parts.back().param;
    scope.add(bucket);
    bucket.parts.clear();
    limit = scope.policy.bucket_bytes;
  };
  for (const int p : scope.gradients) {
    bucket.parts.push_back(whole(scope, p));
    if (elements_of(bucket.parts) * width >= limit) close();
  }
  close();
}

}  // namespace shardscape
