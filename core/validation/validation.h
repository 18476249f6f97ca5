// Validation: a set of measured runs compared with the predictions for the same designs; mean and worst
// error.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/report.h"
#include "validation/measured_set.h"

namespace shardscape {

struct ValidatedRow {
  std::string name;
  double measured = 0, predicted = 0;  // seconds or bytes
  double error_percent() const { return 100 * (predicted / measured - 1); }
};

// One kind of figure over all rows of the set. Rows without the figure are listed in `unmapped`.
struct ValidatedMetric {
  std::string name;  // "memory", "time"
  std::vector<ValidatedRow> rows;
  std::vector<std::pair<std::string, std::string>> unmapped;  // row and reason
  bool any = false;                       // at least one row of the set has this kind of figure
  double mean_abs_error_percent() const;  // 0 without rows
  const ValidatedRow* worst() const;      // nullptr without rows
};

struct Validation {
  std::string set, source;
  std::vector<ValidatedMetric> metrics;  // only kinds of figures that occur in the set
};

// Seconds of a step of a valid report; empty if unknown.
using StepTime = std::function<std::optional<double>(const Report&)>;

// An empty `time` omits the comparison of times.
Validation validate_set(const MeasuredSet& set, const StepTime& time);

// Text for a terminal, and JSON.
std::string validation_text(const Validation& validation);
std::string validation_json(const Validation& validation);
// A value of this kind, for people: "71.32 GiB", "10.44 s".
std::string figure_text(const ValidatedMetric& metric, double value);

}  // namespace shardscape
