#include "explore/point_bands.h"

namespace shardscape {

const DesignBands& PointBands::of(const Design& design) {
  const auto [at, added] = bands_.try_emplace({design.workload.mode, error_case(design)});
  if (added) at->second = design_bands(design);
  return at->second;
}

bool points_tie(int objective, const Point& a, const DesignBands& of_a, const Point& b,
                const DesignBands& of_b) {
  const double value_a = a.values[static_cast<size_t>(objective)],
               value_b = b.values[static_cast<size_t>(objective)];
  switch (objectives()[static_cast<size_t>(objective)].unit) {
    case ObjectiveUnit::Gpus: return false;
    case ObjectiveUnit::Bytes:
      return bands_overlap(static_cast<double>(a.evaluation.memory), of_a.memory,
                           static_cast<double>(b.evaluation.memory), of_b.memory);
    case ObjectiveUnit::TokensPerSecond:
    case ObjectiveUnit::Share: return bands_overlap(1 / value_a, of_a.time, 1 / value_b, of_b.time);
    case ObjectiveUnit::Seconds:
    case ObjectiveUnit::Dollars:
    case ObjectiveUnit::Joules: break;
  }
  return bands_overlap(value_a, of_a.time, value_b, of_b.time);
}

}  // namespace shardscape
