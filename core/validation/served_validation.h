// Simulates the serving points of a set. Rows with the same engine share its step times and its cache.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "validation/measured_set.h"

namespace shardscape {

// Of one row: the predictions of its figures, or why there are none.
struct ServedPrediction {
  std::vector<double> values;  // as MeasuredServing::figures; 0: the simulation has no such figure
  std::string problem;
  std::optional<bool> keeps_level;  // spec.level, where MeasuredServing::kept_level has a value
};
// One per row of the set; empty for rows that are not mapped or not serving points.
std::vector<ServedPrediction> predict_serving(const MeasuredSet& set);

}  // namespace shardscape
