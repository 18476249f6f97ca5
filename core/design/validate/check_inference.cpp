// Checks decode: one token per sequence, with attention over a cache; and prefill after cached tokens.
#include <algorithm>

#include "base/number_text.h"
#include "base/units.h"
#include "design/limits.h"
#include "design/validate/checks.h"

namespace shardscape {
namespace {

// Sequence parallelism splits tokens over tp; in decode, these are tokens of different sequences.
void check_tokens(Checks& checks) {
  const Design& d = checks.design;
  if (!d.parallel.sequence_parallel || !checks.in_range({"tp", "microbatch"}) ||
      d.workload.microbatch % d.parallel.tp == 0)
    return;
  const int64_t b = d.workload.microbatch, tp = d.parallel.tp, wanted = (b / tp + 1) * tp;
  std::vector<Fix> fixes{set_to("sequence_parallel", std::string("false"))};
  offer_microbatch(fixes, checks, wanted);
  checks.error(ProblemCode::DecodeTokensIndivisibleByTp, "sequence_parallel",
               "sequence parallelism splits the new tokens of a microbatch, one per sequence: " + grouped(b) +
                   " tokens do not split over tp = " + grouped(tp),
               "off, or a microbatch that is a multiple of " + grouped(tp), std::move(fixes));
}

// cp, and dcp inside tensor-parallel groups, split the cache along the context.
void check_parts(Checks& checks) {
  const Design& d = checks.design;
  const int64_t dcp = d.parallel.dcp, tp = d.parallel.tp, kv = d.model.kv_heads,
                length = d.workload.context_length;
  if (!checks.in_range({"cp", "dcp"}) || !uses_axis(d, Axis::Heads)) return;
  const int64_t parts = d.parallel.cp * dcp;
  const Fix off = set_to("dcp", 1);
  if (dcp > 1 && checks.in_range({"tp", "kv_heads"})) {
    // The ranks of a dcp group share the same KV heads, so the KV heads must divide evenly over tp / dcp
    // groups. vLLM asserts that tp / dcp is at least the number of KV heads; here a group may also hold
    // several KV heads.
    std::vector<int64_t> accepted = divisors(tp);
    if (!uses_axis(d, Axis::KvRank)) std::erase_if(accepted, [&](int64_t n) { return kv % (tp / n) != 0; });
    if (std::find(accepted.begin(), accepted.end(), dcp) == accepted.end()) {
      std::vector<Fix> fixes;
      if (const auto next = std::find_if(
              accepted.begin(), accepted.end(),
              [&](int64_t n) { return n > 1 && length % (d.parallel.cp * n) == 0; });
          next != accepted.end())
        fixes.push_back(set_to("dcp", *next));
      fixes.push_back(off);
      checks.error(ProblemCode::DcpIndivisible, "dcp",
                   tp % dcp != 0 ? "tp = " + grouped(tp) + " ranks do not split into groups of " +
                                       grouped(dcp) + " that share a context"
                                 : grouped(kv) + " KV heads do not split over tp / dcp = " +
                                       grouped(tp / dcp) + " groups that share a context each",
                   "1, or " + or_list(accepted), std::move(fixes));
      return;
    }
    if (has_sinks(d.model.architecture))
      checks.error(ProblemCode::DcpWithSinks, "dcp",
                   "a rank computes the heads of its neighbours, but has only the sinks of its own heads",
                   "1; cp can split the context instead, because it merges whole heads", {off});
  }
  if (checks.in_range({"context_length"}) && length % parts != 0) {
    std::vector<Fix> fixes;
    offer(fixes, "context_length", length >= parts ? length / parts * parts : parts);
    fixes.push_back(dcp == 1 ? set_to("cp", 1) : d.parallel.cp == 1 ? off : both(set_to("cp", 1), off));
    checks.error(ProblemCode::ContextIndivisible, "context_length",
                 "a context of " + grouped(length) + " tokens does not split over " +
                     (dcp > 1 ? "cp x dcp = " : "cp = ") + grouped(parts),
                 "a multiple of " + grouped(parts), std::move(fixes));
  }
}

// If all ranks of cp have all tokens, every rank computes them. Experts cannot be spread over such ranks.
void check_repeated(Checks& checks) {
  const Design& d = checks.design;
  const int64_t cp = d.parallel.cp, b = d.workload.microbatch;
  if (!checks.in_range({"cp"}) || cp == 1) return;
  const Fix off = set_to("cp", 1);
  if (!checks.in_range({"tp", "microbatch", "ep", "etp"}) || cp_splits_sequences(d)) return;
  const bool routed = d.model.experts > 0 && (d.parallel.ep > 1 || d.parallel.folds_experts());
  const int64_t parts = cp * (d.parallel.sequence_parallel ? d.parallel.tp : 1),
                wanted = (b / parts + 1) * parts;
  const ParallelSpec& p = d.parallel;
  const bool fits = p.dp * (p.folds_experts() ? p.tp : 1) % (p.ep * (p.folds_experts() ? p.etp : 1)) ==
                    0;  // without cp
  std::vector<Fix> fixes;
  if (routed) fixes.push_back(fits ? off : both(off, both(set_to("ep", 1), set_to("etp", 0))));
  offer_microbatch(fixes, checks, wanted);
  const std::string tokens = "the new tokens of " + grouped(b) + (b == 1 ? " sequence do" : " sequences do") +
                             " not split over ",
                    accepted = "a multiple of " + grouped(parts);
  if (routed)
    checks.error(ProblemCode::DecodeTokensIndivisibleByEp, "microbatch",
                 tokens + grouped(parts) + " ranks that share the experts", accepted, std::move(fixes));
  else
    checks.note(ProblemCode::CpRepeatsWork, "microbatch",
                tokens + (parts > cp ? "cp x tp = " : "cp = ") + grouped(parts) +
                    " ranks, so all ranks of cp do the same work outside attention",
                accepted, std::move(fixes));
}

// Prefill: cp splits cached tokens as it splits the new ones.
void check_cached_tokens(Checks& checks) {
  const int64_t cp = checks.design.parallel.cp, cached = checks.design.workload.cached_tokens;
  if (!checks.in_range({"cp", "cached_tokens"}) || cached % cp == 0) return;
  std::vector<Fix> fixes;
  offer(fixes, "cached_tokens", cached >= cp ? cached / cp * cp : cp);
  fixes.push_back(set_to("cp", 1));
  checks.error(ProblemCode::ContextIndivisible, "cached_tokens",
               grouped(cached) + " cached tokens do not split over cp = " + grouped(cp),
               "a multiple of " + grouped(cp), std::move(fixes));
}

void check_table(Checks& checks) {
  const Design& d = checks.design;
  if (!checks.in_range({"positions", "context_length"}) || !uses_axis(d, Axis::Positions) ||
      d.model.positions >= d.workload.context_length)
    return;
  std::vector<Fix> fixes;
  offer(fixes, "context_length", d.model.positions);
  offer(fixes, "positions", d.workload.context_length);
  checks.error(ProblemCode::ContextLongerThanPositions, "context_length",
               "a context of " + grouped(d.workload.context_length) + " tokens is longer than the table of " +
                   grouped(d.model.positions) + " learned positions",
               d.model.positions > 0 ? "at most " + grouped(d.model.positions)
                                     : "positions of at least " + grouped(d.workload.context_length),
               std::move(fixes));
}

// Each microbatch reads all weights again. More microbatches than stages do not fill the pipeline better.
void check_rounds(Checks& checks) {
  const Design& d = checks.design;
  if (!checks.in_range({"batch", "microbatch", "dp", "pp"})) return;
  const int64_t slots = d.parallel.dp * d.parallel.pp, batch = d.workload.batch,
                m = batch / (d.workload.microbatch * d.parallel.dp);
  if (batch % (d.workload.microbatch * d.parallel.dp) != 0 || m <= d.parallel.pp || batch % slots != 0 ||
      batch / slots > kMaxMicrobatch)
    return;
  checks.note(ProblemCode::DecodeMicrobatchesExceedStages, "microbatch",
              "a decode step reads the weights once per microbatch, and m = B / (b dp) = " + grouped(m) +
                  " microbatches are more than " + grouped(d.parallel.pp) +
                  (d.parallel.pp == 1 ? " stage" : " stages"),
              "B / (dp pp) = " + grouped(batch / slots), {set_to("microbatch", batch / slots)});
}

}  // namespace

void check_inference(Checks& checks) {
  if (checks.design.workload.mode == Mode::Prefill) check_cached_tokens(checks);
  if (checks.design.workload.mode != Mode::Decode) return;
  check_tokens(checks);
  check_parts(checks);
  check_repeated(checks);
  check_table(checks);
  check_rounds(checks);
}

}  // namespace shardscape
