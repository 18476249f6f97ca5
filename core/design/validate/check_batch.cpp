// Checks the division of the global batch into replicas and microbatches.
#include <algorithm>

#include "base/units.h"
#include "design/limits.h"
#include "design/validate/checks.h"

namespace shardscape {
namespace {

std::vector<Fix> split_fixes(const Design& d, int64_t slots) {
  const int64_t batch = d.workload.batch;
  std::vector<Fix> fixes;
  offer(fixes, "batch", batch / slots * slots);
  if (batch / slots + 1 <= kMaxBatch / slots) offer(fixes, "batch", (batch / slots + 1) * slots);
  for (int64_t b = std::min(d.workload.microbatch - 1, batch); b >= 1; --b) {
    if (!splits_batch(d, d.parallel.dp, b)) continue;
    offer(fixes, "microbatch", b);
    break;
  }
  offer(fixes, "dp", dp_at_most(d, d.parallel.dp - 1));
  return fixes;
}

}  // namespace

void check_batch(Checks& checks) {
  if (!checks.in_range({"batch", "microbatch", "dp"})) return;
  const Design& d = checks.design;
  const int64_t batch = d.workload.batch, slots = d.workload.microbatch * d.parallel.dp;
  if (batch % slots != 0 && checks.record_first("batch")) return;
  const std::string sizes = "microbatch x dp = " + grouped(d.workload.microbatch) + " x " +
                            grouped(d.parallel.dp);
  if (batch % slots != 0) {
    const std::string wrong = batch < slots ? " is less than one microbatch per replica, "
                                            : " is not a multiple of ";
    // In whole groups of microbatches, as in splits_batch().
    const int64_t multiple = checks.in_range({"pp"}) ? microbatch_multiple(d) : 1;
    checks.error(ProblemCode::BatchIndivisible, "batch", "a batch of " + grouped(batch) + wrong + sizes,
                 "a multiple of " + grouped(slots),
                 split_fixes(d, multiple <= kMaxBatch / slots ? slots * multiple : slots));
    return;
  }
  const int64_t m = batch / slots;
  if (!checks.in_range({"pp", "virtual_stages"})) return;
  const int64_t stages = d.parallel.pp * d.parallel.virtual_stages, most = kMaxStageMicrobatches / stages;
  if (m <= most || checks.record_first("batch")) return;
  std::vector<Fix> fixes;
  offer(fixes, "batch", most * slots);
  checks.error(
      ProblemCode::TooManyMicrobatches, "batch",
      grouped(m) + " microbatches on " + grouped(stages) + (d.parallel.virtual_stages > 1 ? " virtual" : "") +
          " stages make a step of more than " + grouped(kMaxStageMicrobatches) + " forwards",
      "at most " + grouped(most) + " microbatches: batch up to " + grouped(most * slots), std::move(fixes));
}

}  // namespace shardscape
