// How far the predicted ratio of two designs of one workload may be off (workload_layout.h). Errors of
// layouts of one workload are alike where the layouts are alike, so the errors are those of measured pairs of
// runs that differ in the same settings. Where these pairs are too few even on all accelerators, all pairs
// count.
//
// Split conformal prediction as in error_band.h, with the absolute error of ln(ratio), because the order of
// two runs is arbitrary. A set whose workloads have n independent pairs has the weight sqrt(n). Of r runs,
// r - 1 of the r (r - 1) / 2 pairs are independent.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accuracy/error_samples.h"
#include "accuracy/widening.h"

namespace shardscape {

struct RatioErrors {
  std::vector<std::pair<double, double>> errors;  // |ln(measured ratio / predicted ratio)|, ascending; weight
  double new_pair = 0;                            // weight of the compared pair
  size_t sets = 0;
  Widening widening = Widening::None;
  bool same_settings = true;  // false: of pairs that differ in any settings
  std::string basis;          // "87 pairs of 2 sets that differ in pp: all accelerators"

  // The measured ratio lies between ratio / factor() and ratio · factor() in 80 % of pairs.
  double factor() const;
  // Share of pairs whose error leaves the faster design the faster one, 0.5 to 1. ratio: predicted.
  double confidence(double ratio) const;
  // Whether the band of this predicted ratio contains 1.
  bool tie(double ratio) const;
};

// Empty if even all pairs are too few. settings: as in PairSample. The samples for which `use` is false do
// not count.
std::optional<RatioErrors> ratio_errors(const std::vector<PairSample>& pairs, BandMetric metric,
                                        const ErrorCase& of, const std::string& settings,
                                        const std::function<bool(const PairSample&)>& use = {});

// The errors for the ratios of step times (in inference TTFT or TPOT) and of memory of two valid designs,
// from pair_samples(). Null: the designs are of different workloads or modes, or pairs are too few.
struct DesignRatios {
  std::shared_ptr<const RatioErrors> time, memory;
};
DesignRatios design_ratios(const Design& a, const Design& b);
// The same for designs of this mode and case whose layouts differ in these settings.
DesignRatios design_ratios(Mode mode, const ErrorCase& of, const std::string& settings);

// "4.2 % less (1.0 % to 7.3 %), 93 % sure", "4.2 % less (8.1 % less to 0.3 % more), tie": the first of two
// predicted values relative to the second.
std::string ratio_text(double ratio, const RatioErrors& errors);

}  // namespace shardscape
