// Bands of the designs of a search (accuracy/error_band.h), and which designs are ties.
#pragma once

#include <map>
#include <utility>

#include "accuracy/error_band.h"
#include "explore/result.h"

namespace shardscape {

// Designs of one case share their bands. Not thread safe.
class PointBands {
 public:
  const DesignBands& of(const Design& design);
  const DesignBands& of(const Space& space, const Point& point) { return of(space.design_at(point.index)); }

 private:
  std::map<std::pair<Mode, ErrorCase>, DesignBands> bands_;
};

// Whether the bands of two points overlap in an objective. Rates, shares of the peak, costs and energy are
// inversely or directly proportional to the step time, so its bands count. Numbers of GPUs have no bands.
bool points_tie(int objective, const Point& a, const DesignBands& of_a, const Point& b,
                const DesignBands& of_b);

}  // namespace shardscape
