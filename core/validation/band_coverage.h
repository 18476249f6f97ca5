// How many measured rows lie in the bands of their predictions (accuracy/error_band.h), if the bands are made
// without them.
#pragma once

#include <string>
#include <vector>

#include "accuracy/error_samples.h"
#include "validation/validation.h"

namespace shardscape {

// The errors of a validated set by metric and case: of step times, peak memory, TPOT and TTFT (mean or
// median). Rows with a prediction or a measured value of 0 do not occur.
std::vector<ErrorSample> samples_of(const Validation& validation);

// Rows of one metric of a set. Rows without enough other rows for a band are not counted.
struct BandCoverage {
  // The band of a row comes from the other half of its set (every second row) and from all other sets.
  size_t half_rows = 0, half_inside = 0;
  // The band of a row comes from the other sets alone.
  size_t set_rows = 0, set_inside = 0;
  size_t rows() const { return half_rows + set_rows; }
  BandCoverage& operator+=(const BandCoverage& more);
};

// samples: of all sets; those named like the set of the validation are left out. Empty coverage for metrics
// without bands.
BandCoverage band_coverage(const Validation& validation, const ValidatedMetric& metric,
                           const std::vector<ErrorSample>& samples);

// "inside 80 % bands: 18 of 22 rows (81.8 %) without half of the set, 15 of 22 rows (68.2 %) without the set"
std::string coverage_text(const BandCoverage& coverage);
// Of several sets: a line per metric over all sets, then lines per set. Text for a terminal, and JSON.
std::string coverage_text(const std::vector<Validation>& sets, const std::vector<ErrorSample>& samples);
std::string coverage_json(const std::vector<Validation>& sets, const std::vector<ErrorSample>& samples);

}  // namespace shardscape
