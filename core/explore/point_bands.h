// Bands of the designs of a search (accuracy/error_band.h), and which designs are ties.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "accuracy/error_band.h"
#include "accuracy/ratio_errors.h"
#include "accuracy/workload_layout.h"
#include "explore/result.h"

namespace shardscape {

// How a point of a search compares with a better one in an objective.
struct PointJudgement {
  bool tie = false;
  // Share of measured pairs in which the better design is better in reality, too. Empty if the two designs
  // are of different workloads or in an objective without a band.
  std::optional<double> confidence;
};

// Designs of one case share their bands, and pairs of designs that differ in the same settings their errors.
// Not thread safe.
class PointBands {
 public:
  const DesignBands& of(const Design& design);
  const DesignBands& of(const Space& space, const Point& point) { return of(space.design_at(point.index)); }

  // Rates, shares of the peak, costs and energy are inversely or directly proportional to the step time, so
  // its errors count. Numbers of GPUs have no bands. Designs of different workloads are a tie if their bands
  // overlap.
  PointJudgement judge(int objective, const Space& space, const Point& point, const Point& better);

 private:
  const DesignRatios& ratios(const Design& a, const Design& b);

  std::map<std::pair<Mode, ErrorCase>, DesignBands> bands_;
  std::map<std::tuple<Mode, ErrorCase, std::string>, DesignRatios> ratios_;
  DesignRatios none_;  // of designs of different workloads
};

}  // namespace shardscape
