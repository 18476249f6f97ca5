// Fits a calibration to measured ops.
#pragma once

#include <string>
#include <vector>

#include "performance/calibration.h"
#include "performance/measured_ops.h"

namespace shardscape {

// Absolute errors of one section of the calibration, in percent of the measured time.
struct CalibrationError {
  std::string what;  // "matmul bfloat16", "attention forward causal"
  int64_t rows = 0;
  double median_percent = 0, p90_percent = 0;  // over all rows, for the table that was fitted on all rows
  // For a table fitted on half of the rows, over the other half. 0 rows if there are too few.
  HeldOut held_out;
};

struct CalibrationResult {
  Calibration calibration;
  std::vector<CalibrationError> errors;
};

// From kRowsForConstants rows on, the constants of the matrix-product model are searched; below, they stay
// those of the accelerator. The rest of the deviation becomes a smooth correction. Collectives are copied
// unchanged. source: the source text of every section.
inline constexpr size_t kRowsForConstants = 300;
CalibrationResult calibrate(const Accelerator& accelerator, const MeasuredOps& ops,
                            const std::string& source);

}  // namespace shardscape
