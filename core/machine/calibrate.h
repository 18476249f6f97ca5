// From measured ops to a calibration.
#pragma once

#include <string>
#include <vector>

#include "machine/calibration.h"
#include "machine/measured_ops.h"

namespace shardscape {

// Absolute errors of a part of the calibration, percent of the measured time.
struct CalibrationError {
  std::string what;  // "matmul bfloat16", "attention forward causal"
  int64_t rows = 0;
  double median_percent = 0, p90_percent = 0;  // of all rows, by the table that was fitted on all
  HeldOut held_out;  // of every second row, by a table fitted on the others; 0 rows where there are too few
};

struct CalibrationResult {
  Calibration calibration;
  std::vector<CalibrationError> errors;
};

// The model's constants are searched where there are rows enough (kRowsForConstants), else those that the accelerator has so far stay;
// the rest becomes a smooth correction. Collectives are taken over as they are. source: said of every section.
inline constexpr size_t kRowsForConstants = 300;
CalibrationResult calibrate(const Accelerator& accelerator, const MeasuredOps& ops, const std::string& source);

}  // namespace shardscape
