#include "explore/scaling_lines.h"

#include <algorithm>
#include <iterator>

#include "campaign/running_cost.h"
#include "explore/values.h"

namespace shardscape {
namespace {

constexpr const char* kKnobs[] = {"network", "accelerator", "scaleup_domain", "gpus_per_node"};

std::string knob_ids() {
  std::string out;
  for (const char* id : kKnobs) out += (out.empty() ? "" : ", ") + std::string(id);
  return out;
}

}  // namespace

std::vector<ScalePoint> best_points(const std::vector<LayoutAtSize>& layouts) {
  std::vector<ScalePoint> out;
  double first = 0;
  for (const LayoutAtSize& at : layouts) {
    ScalePoint point{at.gpus, 0, at.batch, "", {}, 0, {}, {}};
    if (!at.fastest) {
      point.wrong = "no layout fits";
    } else {
      point.dp = at.fastest->design.parallel.dp;
      point.evaluation = at.fastest->evaluation;
      const double each = point.evaluation.tokens_per_second / static_cast<double>(at.gpus);
      if (first == 0) first = each;
      point.efficiency = each / first;
      point.cost = running_cost(at.fastest->design.cluster, at.gpus, point.evaluation.tokens_per_second);
    }
    out.push_back(std::move(point));
  }
  return out;
}

std::optional<std::vector<LayoutAtSize>> best_layouts(const Design& design,
                                                      const std::vector<ScalePoint>& points,
                                                      std::stop_token stop) {
  std::vector<std::pair<int64_t, int64_t>> sizes;
  for (const ScalePoint& p : points) sizes.emplace_back(p.gpus, p.batch);
  return layouts_at_sizes(design, sizes, {}, stop);
}

std::string variant_label(const ClusterVariant& variant) {
  const Knob& knob = *find_knob(variant.knob);
  const auto it = std::find_if(knob.choices.begin(), knob.choices.end(),
                               [&](const KnobChoice& choice) { return choice.value == variant.value; });
  return knob.label + ": " + (it == knob.choices.end() ? variant.value : it->label);
}

Result<std::vector<ClusterVariant>> parse_variants(const std::string& text) {
  const size_t sign = text.find('=');
  std::string id = text.substr(0, sign);
  std::replace(id.begin(), id.end(), '-', '_');
  const bool known = std::find(std::begin(kKnobs), std::end(kKnobs), id) != std::end(kKnobs);
  if (sign == std::string::npos || !known)
    return Problem{ProblemCode::FlagValueInvalid, "--compare",
                   "\"" + text + "\" names no setting of the cluster",
                   "SETTING=VALUE,... with one of " + knob_ids()};
  auto values = parse_values(*find_knob(id), text.substr(sign + 1));
  if (auto* problem = std::get_if<Problem>(&values)) return *problem;
  std::vector<ClusterVariant> out;
  for (const std::string& value : std::get<std::vector<std::string>>(values)) out.push_back({id, value});
  return out;
}

Result<Design> design_on(const Design& design, const ClusterVariant& variant) {
  const Knob& knob = *find_knob(variant.knob);
  if (knob_text(design, knob) == variant.value) return design;
  if (auto changed = make_neighbour(design, knob, variant.value)) return changed->design;
  return Problem{ProblemCode::FlagValueInvalid, variant.knob,
                 "the design cannot run with " + variant_label(variant),
                 "a value that divides the number of ranks"};
}

}  // namespace shardscape
