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

void check_division(Checks& checks) {
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

// Sizes of the ramp that a schedule refuses. Divisibility by microbatches and replicas, and by what a
// schedule needs, holds for all sizes if it holds for the first two; a least number of microbatches, if for
// the first.
void check_ramp_steps(Checks& checks) {
  const BatchRamp& ramp = checks.design.workload.ramp;
  for (const int64_t batch : {ramp.start, ramp.start + ramp.increment}) {
    Design smaller = checks.design;
    smaller.workload.batch = batch;
    smaller.workload.ramp = {};
    Checks of{smaller, {}, {}, checks.first_only};
    check_batch(of);
    check_schedule(of);
    if (!of.first.empty() && checks.record_first("batch_ramp_start")) return;
    const auto wrong = std::find_if(of.problems.begin(), of.problems.end(),
                                    [](const Problem& p) { return p.severity == Severity::Error; });
    if (wrong == of.problems.end()) continue;
    checks.error(wrong->code, batch == ramp.start ? "batch_ramp_start" : "batch_ramp_increment",
                 "steps of " + grouped(batch) + " sequences in the batch ramp: " + wrong->what,
                 wrong->accepted, {set_to("batch_ramp_start", 0)});
    return;
  }
}

// Megatron asserts the same (num_microbatches_calculator.py, RampupBatchsizeNumMicroBatchesCalculator).
void check_ramp(Checks& checks) {
  const WorkloadSpec& w = checks.design.workload;
  const BatchRamp& ramp = w.ramp;
  if (!ramp.exists() || w.tokens == 0 || !trains(checks.design) || !checks.first.empty() ||
      !checks.in_range({"batch", "microbatch", "dp", "pp", "batch_ramp_start", "batch_ramp_increment",
                        "batch_ramp_samples"}))
    return;
  const Fix off = set_to("batch_ramp_start", 0);
  const auto wrong = [&](const char* where, const std::string& what, const std::string& accepted) {
    checks.error(ProblemCode::BatchIndivisible, where, what, accepted, {off});
  };
  const int64_t rise = w.batch - ramp.start;
  if (rise <= 0)
    return wrong(
        "batch_ramp_start",
        "a ramp from " + grouped(ramp.start) + " sequences does not rise to the batch of " + grouped(w.batch),
        "0, or less than the batch");
  if (ramp.increment == 0 || rise % ramp.increment != 0)
    return wrong("batch_ramp_increment",
                 "increases of " + grouped(ramp.increment) + " sequences do not lead from " +
                     grouped(ramp.start) + " to the batch of " + grouped(w.batch),
                 "a divisor of " + grouped(rise));
  if (ramp.samples == 0)
    return wrong("batch_ramp_samples", "a batch ramp over 0 sequences has no steps", "1 or more sequences");
  check_ramp_steps(checks);
}

}  // namespace

void check_batch(Checks& checks) {
  check_division(checks);
  check_ramp(checks);
}

}  // namespace shardscape
