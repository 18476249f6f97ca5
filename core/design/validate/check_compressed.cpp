// Checks attention to compressed keys and output projections in groups (DeepSeek-V4).
#include <algorithm>

#include "base/number_text.h"
#include "base/units.h"
#include "design/layer_sizes.h"
#include "design/validate/checks.h"

namespace shardscape {
namespace {

// A key stands for a whole block of tokens.
void check_blocks(Checks& checks) {
  const Design& d = checks.design;
  const int64_t ratio = d.model.compress_ratio, cp = d.parallel.cp;
  const bool decodes = d.workload.mode == Mode::Decode;
  const char* length_id = decodes ? "context_length" : "seq";
  if (!checks.in_range({"compress_ratio", length_id})) return;
  const int64_t length = decodes ? d.workload.context_length : d.workload.seq;
  if (ratio > length) {
    if (checks.record_first(length_id)) return;
    checks.error(
        ProblemCode::CompressRatioTooLarge, length_id,
        "a compressed key covers " + grouped(ratio) + " tokens, but a sequence has only " + grouped(length),
        "at least " + grouped(ratio), {set_to(length_id, ratio)});
    return;
  }
  // A rank compresses whole blocks of its part of the sequence (DeepSeek-V4 of NeMo Automodel, cp.py).
  if (decodes || cp == 1 || !checks.in_range({"cp"}) || length % cp != 0 || length / cp % ratio == 0 ||
      checks.record_first(length_id))
    return;
  std::vector<Fix> fixes;
  const int64_t parts = cp * ratio;
  offer(fixes, length_id, length >= parts ? length / parts * parts : parts);
  fixes.push_back(set_to("cp", 1));
  checks.error(ProblemCode::CompressBlocksSplit, length_id,
               "each of cp = " + grouped(cp) + " ranks compresses whole blocks of " + grouped(ratio) +
                   " tokens, but the sequence length is " + grouped(length),
               "a multiple of " + grouped(parts), std::move(fixes));
}

// An FP8 entry of a cache has parts of whole bytes (DType::FP8Entry).
void check_entries(Checks& checks) {
  constexpr int64_t kPart = 64;
  const Design& d = checks.design;
  if (trains(d) || d.workload.kv_cache_dtype != DType::FP8 || !checks.in_range({"head_dim"}) ||
      d.model.head_dim % kPart == 0 || checks.record_first("kv_cache_dtype"))
    return;
  checks.error(ProblemCode::CacheEntryUnfit, "kv_cache_dtype",
               "a cached key of " + grouped(d.model.head_dim) +
                   " numbers does not fit the FP8 format, which has one scale for every " + grouped(kPart) +
                   " numbers",
               "bf16, or a head size that is a multiple of " + grouped(kPart),
               {set_to("kv_cache_dtype", std::string("bf16"))});
}

// Groups consist of whole heads, and ranks of tp have whole groups (vLLM, deepseek_v4.py).
void check_output_groups(Checks& checks) {
  const ModelSpec& m = checks.design.model;
  const int64_t groups = m.output_groups, tp = checks.design.parallel.tp;
  if (!checks.in_range({"heads", "output_groups"})) return;
  if (m.heads % groups != 0) {
    if (checks.record_first("output_groups")) return;
    const std::vector<int64_t> accepted = divisors(m.heads);
    std::vector<Fix> fixes;
    offer(fixes, "output_groups", *std::prev(std::upper_bound(accepted.begin(), accepted.end(), groups)));
    checks.error(ProblemCode::OutputGroupsIndivisible, "output_groups",
                 grouped(m.heads) + " heads do not form " + grouped(groups) + " equal groups",
                 "a divisor of " + grouped(m.heads) + ": " + or_list(accepted), std::move(fixes));
    return;
  }
  if (!checks.in_range({"tp"}) || groups % tp == 0 || checks.record_first("tp")) return;
  std::vector<Fix> fixes;
  offer(fixes, "tp", tp_at_most(checks.design, tp));
  checks.error(ProblemCode::OutputGroupsIndivisibleByTp, "tp",
               grouped(groups) + " groups of the output projection do not split over tp = " + grouped(tp),
               or_list(divisors(groups)), std::move(fixes));
}

}  // namespace

void check_compressed(Checks& checks) {
  if (uses_axis(checks.design, Axis::CompressRatio)) {
    check_blocks(checks);
    check_entries(checks);
  }
  if (uses_axis(checks.design, Axis::OutputGroups)) check_output_groups(checks);
}

}  // namespace shardscape
