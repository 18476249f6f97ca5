// How well bands of ratios (accuracy/ratio_errors.h) hold measured pairs of runs of one workload, if the
// bands are made without them.
#pragma once

#include <string>
#include <vector>

#include "accuracy/error_samples.h"
#include "validation/validation.h"

namespace shardscape {

// The errors of the ratios of a validated set, by metric, case and differing settings: of step times, peak
// memory, TPOT and TTFT (mean or median). Runs of one workload: training runs that differ in layout only
// (accuracy/workload_layout.h), and serving points of one engine with equal model, GPU, requests and load.
// Several runs of one layout count once, with their mean.
std::vector<PairSample> pair_samples_of(const Validation& validation);

struct RatioCoverage {
  size_t pairs = 0, inside = 0;   // of pairs with a band
  size_t decided = 0, right = 0;  // no ties, and the measured difference has the predicted sign
  RatioCoverage& operator+=(const RatioCoverage& more);
};
// The bands of a set's pairs come from every second workload and the other sets, and from the other sets
// alone.
struct SetRatios {
  RatioCoverage half, set;
};
// pairs: of all sets; those named like the set of the validation are left out.
SetRatios ratio_coverage(const Validation& validation, const ValidatedMetric& metric,
                         const std::vector<PairSample>& pairs);

// A line per metric over all sets, then lines per set: "ratios of time, megatron_a100: 1,720 of 2,110 pairs
// (81.5 %) inside 80 % bands without half of the workloads, 903 decided, 96 % of them right; ...".
std::string ratio_text(const std::vector<Validation>& sets, const std::vector<PairSample>& pairs);
std::string ratio_json(const std::vector<Validation>& sets, const std::vector<PairSample>& pairs);

}  // namespace shardscape
