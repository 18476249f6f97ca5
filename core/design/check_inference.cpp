// What decoding asks: one token per sequence, whose attention reads a cache.
#include <algorithm>

#include "base/units.h"
#include "design/checks.h"
#include "design/limits.h"

namespace shardscape {
namespace {

// Sequence parallelism splits the stream's tokens over tp: in decode those of several sequences.
void check_tokens(Checks& checks) {
  const Design& d = checks.design;
  if (!d.parallel.sequence_parallel || !checks.sound({"tp", "microbatch"}) || d.workload.microbatch % d.parallel.tp == 0) return;
  const int64_t b = d.workload.microbatch, tp = d.parallel.tp, wanted = (b / tp + 1) * tp;
  std::vector<Fix> fixes{set_to("sequence_parallel", std::string("false"))};
  if (checks.sound({"batch", "dp"}) && wanted <= kMaxBatch / d.parallel.dp)
    fixes.push_back(both(set_to("microbatch", wanted), set_to("batch", std::max<int64_t>(1, d.workload.batch / (wanted * d.parallel.dp)) * wanted * d.parallel.dp)));
  checks.error("sequence_parallel", "sequence parallelism splits the new tokens of a microbatch, one of each of its " + grouped(b) + " sequences, which tp = " + grouped(tp) +
               " does not divide", "off, or a microbatch that is a multiple of " + grouped(tp), std::move(fixes));
}

void check_context_split(Checks& checks) {
  const Design& d = checks.design;
  if (!checks.sound({"cp"}) || d.parallel.cp == 1) return;
  std::vector<Fix> fixes{set_to("cp", 1)};
  if (checks.sound({"dp", "batch", "microbatch"}) && splits_batch(d, d.parallel.dp * d.parallel.cp, d.workload.microbatch))
    fixes.push_back(both(set_to("cp", 1), set_to("dp", d.parallel.dp * d.parallel.cp)));
  checks.error("cp", "the new token of a sequence is on one rank: attention over a context that is spread over cp = " + grouped(d.parallel.cp) +
               " ranks, whose partial results are merged, is not covered", "1: sequences are spread over dp, heads over tp", std::move(fixes));
}

void check_table(Checks& checks) {
  const Design& d = checks.design;
  if (!checks.sound({"positions", "context_length"}) || !uses_axis(d, Axis::Positions) || d.model.positions >= d.workload.context_length) return;
  std::vector<Fix> fixes;
  offer(fixes, "context_length", d.model.positions);
  offer(fixes, "positions", d.workload.context_length);
  checks.error("context_length", "a context of " + grouped(d.workload.context_length) + " tokens is longer than the table of " + grouped(d.model.positions) + " learned positions",
               d.model.positions > 0 ? "at most " + grouped(d.model.positions) : "positions of at least " + grouped(d.workload.context_length), std::move(fixes));
}

// Each microbatch reads all weights again; more of them than stages fill no pipeline.
void check_rounds(Checks& checks) {
  const Design& d = checks.design;
  if (!checks.sound({"batch", "microbatch", "dp", "pp"})) return;
  const int64_t slots = d.parallel.dp * d.parallel.pp, batch = d.workload.batch, m = batch / (d.workload.microbatch * d.parallel.dp);
  if (batch % (d.workload.microbatch * d.parallel.dp) != 0 || m <= d.parallel.pp || batch % slots != 0 || batch / slots > kMaxMicrobatch) return;
  checks.note("microbatch", "a step of decode reads the weights once for each of its m = B / (b dp) = " + grouped(m) + " microbatches, more than fill " + grouped(d.parallel.pp) +
              (d.parallel.pp == 1 ? " stage" : " stages"), "B / (dp pp) = " + grouped(batch / slots), {set_to("microbatch", batch / slots)});
}

}  // namespace

void check_inference(Checks& checks) {
  if (checks.design.workload.mode != Mode::Decode) return;
  check_tokens(checks);
  check_context_split(checks);
  check_table(checks);
  check_rounds(checks);
}

}  // namespace shardscape
