// Sizes that only some architectures have, and what state-space mixers split.
#include <algorithm>
#include <array>

#include "base/units.h"
#include "design/checks.h"
#include "design/number_text.h"
#include "model/library.h"

namespace shardscape {
namespace {

// Sizes of something that an architecture may be without.
struct PartialSize {
  const char* knob;
  Axis axis;            // parameters have it where the size matters
  const char* parts;    // what an architecture without it lacks
};
constexpr std::array<PartialSize, 11> kSizes{{{"heads", Axis::Heads, "attention"},
                                              {"kv_heads", Axis::KvHeads, "attention"},
                                              {"head_dim", Axis::HeadDim, "attention"},
                                              {"ffn", Axis::Ffn, "MLP"},
                                              {"ssm_state", Axis::SsmState, "state-space mixer"},
                                              {"ssm_conv", Axis::SsmConv, "state-space mixer"},
                                              {"ssm_expand", Axis::SsmConv, "state-space mixer"},
                                              {"ssm_dt_rank", Axis::SsmDtRank, "Mamba-1 mixer"},
                                              {"ssm_head_dim", Axis::SsmHeadDim, "Mamba-2 mixer"},
                                              {"ssm_groups", Axis::SsmGroups, "Mamba-2 mixer"},
                                              {"ssm_chunk", Axis::SsmGroups, "Mamba-2 mixer"}}};

bool llama_has(Axis axis) { return axis == Axis::Heads || axis == Axis::KvHeads || axis == Axis::HeadDim || axis == Axis::Ffn; }

void check_unused(Checks& checks) {
  const ModelSpec& model = checks.design.model;
  if (!ModelLibrary::instance().architecture(model.architecture)) return;
  for (const PartialSize& size : kSizes) {
    const std::string text = knob_text(checks.design, *find_knob(size.knob));
    const bool attends = std::string_view(size.parts) == "attention" && uses_axis(checks.design, Axis::Heads);  // in a way of its own
    if (attends || uses_axis(checks.design, size.axis) || text == "0" || !checks.sound({size.knob})) continue;
    checks.note(size.knob, "the " + model.architecture + " architecture has no " + size.parts + "; the value has no effect", "0",
                {set_to(size.knob, 0)});
  }
}

// e·D channels are split into groups of heads.
void check_heads(Checks& checks) {
  if (!uses_axis(checks.design, Axis::SsmGroups) || !checks.sound({"hidden", "ssm_expand", "ssm_head_dim", "ssm_groups"})) return;
  const ModelSpec& m = checks.design.model;
  const int64_t channels = ssm_channels(checks.design);
  if (channels % m.ssm_head_dim != 0) {
    const std::vector<int64_t> accepted = divisors(channels);
    const auto above = std::upper_bound(accepted.begin(), accepted.end(), m.ssm_head_dim);
    std::vector<Fix> fixes;
    // Groups must still split the heads.
    const auto fits = [&](int64_t head_dim) { return channels / head_dim % m.ssm_groups == 0; };
    for (auto it = above; it != accepted.begin(); --it)
      if (fits(*std::prev(it))) {
        offer(fixes, "ssm_head_dim", *std::prev(it));
        break;
      }
    checks.error("ssm_head_dim", "e D = " + grouped(channels) + " channels do not split into heads of " + grouped(m.ssm_head_dim),
                 "a divisor of " + grouped(channels) + ": " + or_list(accepted), std::move(fixes));
    return;
  }
  const int64_t heads = channels / m.ssm_head_dim;
  if (heads % m.ssm_groups == 0) return;
  const std::vector<int64_t> accepted = divisors(heads);
  std::vector<Fix> fixes;
  offer(fixes, "ssm_groups", *std::prev(std::upper_bound(accepted.begin(), accepted.end(), m.ssm_groups)));
  checks.error("ssm_groups", grouped(heads) + " heads of e D / P channels cannot form " + grouped(m.ssm_groups) + " groups evenly",
               "a divisor of " + grouped(heads) + ": " + or_list(accepted), std::move(fixes));
}

// A scan needs what all tokens before have left.
void check_scan_order(Checks& checks) {
  const int64_t cp = checks.design.parallel.cp;
  if (!checks.sound({"cp"}) || cp == 1 || !uses_axis(checks.design, Axis::SsmConv)) return;
  checks.error("cp", "state-space mixers scan the sequence from its start to its end: it cannot be spread over cp = " + grouped(cp) + " ranks",
               "1", {set_to("cp", 1)});
}

}  // namespace

bool uses_axis(const Design& design, Axis axis) {
  const Architecture* architecture = ModelLibrary::instance().architecture(design.model.architecture);
  return architecture ? architecture->uses(axis) : llama_has(axis);
}

int64_t least_value(const Design& design, const Knob& knob) {
  const auto size = std::find_if(kSizes.begin(), kSizes.end(), [&](const PartialSize& s) { return knob.id == s.knob; });
  return size != kSizes.end() && uses_axis(design, size->axis) ? 1 : knob.min;
}

int64_t ssm_channels(const Design& design) { return design.model.ssm_expand * design.model.hidden; }

void check_mixers(Checks& checks) {
  check_unused(checks);
  check_heads(checks);
  check_scan_order(checks);
}

}  // namespace shardscape
