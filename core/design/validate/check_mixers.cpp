// Checks the splits of state-space mixers.
#include <algorithm>

#include "base/number_text.h"
#include "base/units.h"
#include "design/validate/checks.h"
#include "model/library.h"

namespace shardscape {
namespace {

bool llama_has(Axis axis) {
  return axis == Axis::Heads || axis == Axis::KvHeads || axis == Axis::HeadDim || axis == Axis::Ffn;
}

// e·D channels are divided into heads, and heads into groups.
void check_heads(Checks& checks) {
  if (!uses_axis(checks.design, Axis::SsmGroups) ||
      !checks.in_range({"hidden", "ssm_expand", "ssm_heads", "ssm_head_dim", "ssm_groups"}))
    return;
  const ModelSpec& m = checks.design.model;
  const int64_t channels = ssm_channels(checks.design);
  if (channels % m.ssm_head_dim != 0) {
    const std::vector<int64_t> accepted = divisors(channels);
    const auto above = std::upper_bound(accepted.begin(), accepted.end(), m.ssm_head_dim);
    std::vector<Fix> fixes;
    // Groups must still divide the heads.
    const auto fits = [&](int64_t head_dim) { return channels / head_dim % m.ssm_groups == 0; };
    for (auto it = above; it != accepted.begin(); --it)
      if (fits(*std::prev(it))) {
        offer(fixes, "ssm_head_dim", *std::prev(it));
        break;
      }
    checks.error(ProblemCode::SsmHeadsIndivisible, "ssm_head_dim",
                 ssm_channels_text(checks.design) + " do not split into heads of " + grouped(m.ssm_head_dim),
                 "a divisor of " + grouped(channels) + ": " + or_list(accepted), std::move(fixes));
    return;
  }
  const int64_t heads = channels / m.ssm_head_dim;
  if (heads % m.ssm_groups == 0) return;
  const std::vector<int64_t> accepted = divisors(heads);
  std::vector<Fix> fixes;
  offer(fixes, "ssm_groups", *std::prev(std::upper_bound(accepted.begin(), accepted.end(), m.ssm_groups)));
  checks.error(ProblemCode::SsmGroupsIndivisible, "ssm_groups",
               grouped(heads) + " heads of " + (m.ssm_heads > 0 ? "P" : "e D / P") +
                   " channels do not form " + grouped(m.ssm_groups) + " equal groups",
               "a divisor of " + grouped(heads) + ": " + or_list(accepted), std::move(fixes));
}

// A scan depends on all previous tokens. Therefore cp exchanges the sequence for groups of heads around the
// scan. If tensor parallelism leaves each rank one group, cp exchanges the sequence for heads, and all ranks
// then have B and C of the group. Megatron-core (ssm/mamba_context_parallel.py) asserts that one of cp and
// the groups of a rank divides the other, and that cp divides the heads.
void check_scan_order(Checks& checks) {
  const Design& d = checks.design;
  const int64_t cp = d.parallel.cp, tp = d.parallel.tp;
  if (!checks.in_range({"cp"}) || cp == 1 || d.workload.mode == Mode::Decode || !uses_axis(d, Axis::SsmConv))
    return;
  const Fix off = set_to("cp", 1);
  if (uses_axis(d, Axis::SsmInner)) {
    checks.error(ProblemCode::Mamba1WithCp, "cp",
                 "Mamba-1 mixers scan the sequence from start to end, with step sizes, B and C computed from "
                 "all channels. No code base splits this scan over ranks (Megatron-core's "
                 "MambaContextParallel supports only Mamba-2), here cp = " +
                     grouped(cp),
                 "1, or an architecture with Mamba-2 mixers", {off});
    return;
  }
  if (!checks.in_range({"tp", "hidden", "ssm_expand", "ssm_heads", "ssm_head_dim", "ssm_groups"})) return;
  const ModelSpec& m = d.model;
  if (m.ssm_groups % tp != 0 || ssm_channels(d) % (m.ssm_head_dim * m.ssm_groups) != 0)
    return;  // other checks report this
  const int64_t groups = m.ssm_groups / tp, heads = ssm_channels(d) / (m.ssm_head_dim * m.ssm_groups),
                parts = groups == 1 ? heads : groups;
  const bool shared = groups > 1 && cp % groups == 0 && groups * heads % cp == 0;
  if (parts % cp == 0 || shared) return;
  std::vector<int64_t> accepted = divisors(parts);
  std::erase_if(accepted, [&](int64_t n) { return n > cp; });
  std::vector<Fix> fixes;
  if (accepted.back() > 1) fixes.push_back(set_to("cp", accepted.back()));
  fixes.push_back(off);
  checks.error(
      ProblemCode::SsmGroupsIndivisibleByCp, "cp",
      "a tensor-parallel rank has " +
          (groups == 1 ? grouped(heads) + " heads of one mixer group" : grouped(groups) + " mixer groups") +
          ", which cp = " + grouped(cp) +
          " ranks cannot split evenly: Megatron-core's MambaContextParallel asserts this for ngroups / tp "
          "and nheads / tp",
      or_list(accepted), std::move(fixes));
}

}  // namespace

bool uses_axis(const Design& design, Axis axis) {
  const Architecture* architecture = ModelLibrary::instance().architecture(design.model.architecture);
  return architecture ? architecture->uses(axis) : llama_has(axis);
}

bool has_free_ssm_heads(const Design& design) {
  return design.model.ssm_heads > 0 && uses_axis(design, Axis::SsmHeadDim);
}

int64_t ssm_channels(const Design& design) {
  const ModelSpec& m = design.model;
  return has_free_ssm_heads(design) ? m.ssm_heads * m.ssm_head_dim : m.ssm_expand * m.hidden;
}

std::string ssm_channels_text(const Design& design) {
  return (has_free_ssm_heads(design) ? "Hm P = " : "e D = ") + grouped(ssm_channels(design)) + " channels";
}

void check_mixers(Checks& checks) {
  check_heads(checks);
  check_scan_order(checks);
}

}  // namespace shardscape
