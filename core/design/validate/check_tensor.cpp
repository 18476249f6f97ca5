// Checks the even splits of tensor and sequence parallelism.
#include "base/number_text.h"
#include "base/units.h"
#include "design/layer_sizes.h"
#include "design/limits.h"
#include "design/validate/checks.h"

namespace shardscape {
namespace {

// Fixes to values of tp that satisfy all conditions at once, so that a fix never causes another problem.
std::vector<Fix> tp_fixes(const Checks& checks) {
  std::vector<Fix> fixes;
  if (!checks.in_range({"hidden", "heads", "kv_heads", "ffn", "ssm_expand", "ssm_heads", "ssm_head_dim",
                        "ssm_groups", "linear_key_heads", "linear_norm_groups", "seq", "pp", "dp"}))
    return fixes;
  const Design& d = checks.design;
  offer(fixes, "tp", tp_at_most(d, d.parallel.tp - 1));
  offer(fixes, "tp", tp_above(d, d.parallel.tp));
  return fixes;
}

std::string divisor_of(int64_t n) { return "a divisor of " + grouped(n) + ": " + or_list(divisors(n)); }

void check_heads(Checks& checks) {
  const int64_t heads = checks.design.model.heads, tp = checks.design.parallel.tp;
  if (!uses_axis(checks.design, Axis::Heads) || !checks.in_range({"heads", "tp"}) || heads % tp == 0 ||
      checks.record_first("tp"))
    return;
  checks.error(ProblemCode::HeadsIndivisibleByTp, "tp",
               grouped(heads) + " heads do not split over tp = " + grouped(tp), divisor_of(heads),
               tp_fixes(checks));
}

void check_kv_heads(Checks& checks) {
  const int64_t kv = checks.design.model.kv_heads, tp = checks.design.parallel.tp;
  if (!uses_axis(checks.design, Axis::KvHeads) || !checks.in_range({"kv_heads", "tp"})) return;
  if (kv < tp && tp % kv != 0) {
    checks.error(ProblemCode::KvHeadsIndivisibleByTp, "tp",
                 grouped(kv) + " KV heads cannot be copied evenly to tp = " + grouped(tp) + " ranks",
                 "a divisor or a multiple of " + grouped(kv), tp_fixes(checks));
  } else if (kv >= tp && kv % tp != 0) {
    checks.error(ProblemCode::KvHeadsIndivisibleByTp, "tp",
                 grouped(kv) + " KV heads do not split over tp = " + grouped(tp), divisor_of(kv),
                 tp_fixes(checks));
  }
}

void check_ffn(Checks& checks) {
  const int64_t ffn = checks.design.model.ffn, tp = checks.design.parallel.tp;
  if (!uses_axis(checks.design, Axis::Ffn) || !checks.in_range({"ffn", "tp"}) || ffn % tp == 0 ||
      checks.record_first("tp"))
    return;
  std::vector<Fix> fixes = tp_fixes(checks);
  const int64_t padded = (ffn / tp + 1) * tp;
  if (padded <= kMaxFfn) offer(fixes, "ffn", padded);
  checks.error(ProblemCode::FfnIndivisibleByTp, "tp",
               "an FFN size of " + grouped(ffn) + " does not split over tp = " + grouped(tp), divisor_of(ffn),
               std::move(fixes));
}

// Mamba-1 gives each rank channels. Mamba-2 gives each rank whole groups, because the norm after the scan
// runs within a group.
void check_scan(Checks& checks) {
  const Design& d = checks.design;
  if (!checks.in_range({"hidden", "ssm_expand", "ssm_heads", "ssm_head_dim", "ssm_groups", "tp"})) return;
  const int64_t tp = d.parallel.tp, channels = ssm_channels(d), groups = d.model.ssm_groups;
  if (uses_axis(d, Axis::SsmInner) && channels % tp != 0)
    checks.error(ProblemCode::SsmChannelsIndivisibleByTp, "tp",
                 ssm_channels_text(d) + " do not split over tp = " + grouped(tp), divisor_of(channels),
                 tp_fixes(checks));
  if (uses_axis(d, Axis::SsmGroups) && groups % tp != 0)
    checks.error(ProblemCode::SsmGroupsIndivisibleByTp, "tp",
                 grouped(groups) + (groups == 1 ? " group" : " groups") +
                     " of a Mamba-2 mixer cannot be split over tp = " + grouped(tp),
                 divisor_of(groups), tp_fixes(checks));
}

// Ranks have whole key heads, as Megatron-core asserts (ssm/gated_delta_net), or whole groups of heads,
// because the norm after the scan runs within a group.
void check_linear(Checks& checks) {
  const Design& d = checks.design;
  const int64_t tp = d.parallel.tp;
  for (const LinearSplit& split : kLinearSplits) {
    const int64_t parts = d.model.*split.size;
    if (!uses_axis(d, split.axis) || !checks.in_range({split.id, "tp"}) || parts % tp == 0 ||
        checks.record_first("tp"))
      continue;
    checks.error(
        ProblemCode::LinearHeadsIndivisibleByTp, "tp",
        grouped(parts) + " " + split.name + " of linear attention do not split over tp = " + grouped(tp),
        divisor_of(parts), tp_fixes(checks));
  }
}

void check_sequence(Checks& checks) {
  const Design& d = checks.design;
  if (!d.parallel.sequence_parallel || !checks.in_range({"tp"})) return;
  const int64_t seq = d.workload.seq, tp = d.parallel.tp;
  if (d.workload.mode == Mode::Decode || !checks.in_range({"seq"}) || seq % tp == 0 ||
      checks.record_first("seq"))
    return;  // check_inference.cpp checks decode
  std::vector<Fix> fixes;
  // Prefers a shorter sequence, so that a position table stays long enough.
  offer(fixes, "seq", seq >= tp ? seq / tp * tp : tp);
  fixes.push_back(set_to("sequence_parallel", "false"));
  for (Fix& fix : tp_fixes(checks)) fixes.push_back(std::move(fix));
  checks.error(ProblemCode::SeqIndivisibleByTp, "seq",
               "sequence parallelism cannot split " + grouped(seq) + " tokens over tp = " + grouped(tp),
               "a multiple of " + grouped(tp), std::move(fixes));
}

}  // namespace

void check_tensor(Checks& checks) {
  check_heads(checks);
  check_kv_heads(checks);
  check_ffn(checks);
  check_scan(checks);
  check_linear(checks);
  check_sequence(checks);
}

}  // namespace shardscape
