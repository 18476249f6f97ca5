#include "explore/point_bands.h"

namespace shardscape {

const DesignBands& PointBands::of(const Design& design) {
  const auto [at, added] = bands_.try_emplace({design.workload.mode, error_case(design)});
  if (added) at->second = design_bands(design);
  return at->second;
}

const DesignRatios& PointBands::ratios(const Design& a, const Design& b) {
  const Layout one = layout_of(a), other = layout_of(b);
  if (one.workload != other.workload) return none_;
  const std::string settings = differing_settings(one.settings, other.settings);
  const auto [at, added] = ratios_.try_emplace({a.workload.mode, error_case(a), settings});
  if (added) at->second = design_ratios(a.workload.mode, error_case(a), settings);
  return at->second;
}

PointJudgement PointBands::judge(int objective, const Space& space, const Point& point, const Point& better) {
  const ObjectiveUnit unit = objectives()[static_cast<size_t>(objective)].unit;
  if (unit == ObjectiveUnit::Gpus) return {};
  const bool memory = unit == ObjectiveUnit::Bytes,
             rate = unit == ObjectiveUnit::TokensPerSecond || unit == ObjectiveUnit::Share;
  const auto value = [&](const Point& of) {
    const double number = of.values[static_cast<size_t>(objective)];
    return memory ? static_cast<double>(of.evaluation.memory) : rate ? 1 / number : number;
  };
  const Design one = space.design_at(point.index), other = space.design_at(better.index);
  const DesignRatios& pairs = ratios(one, other);
  if (const auto& errors = memory ? pairs.memory : pairs.time) {
    const double ratio = value(point) / value(better);
    return {errors->tie(ratio), errors->confidence(ratio)};
  }
  const auto band = [&](const Design& design) { return memory ? of(design).memory : of(design).time; };
  return {bands_overlap(value(point), band(one), value(better), band(other)), {}};
}

}  // namespace shardscape
