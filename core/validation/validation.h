// A set of measured runs against what this program says of the same designs: errors, their mean, the worst.
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

// Of all rows of the set; those without a figure of this kind are among the unmapped.
struct ValidatedMetric {
  std::string name;  // "memory", "time"
  std::vector<ValidatedRow> rows;
  std::vector<std::pair<std::string, std::string>> unmapped;  // row and why
  bool any = false;                                           // some row of the set has a figure of this kind
  double mean_abs_error_percent() const;                      // 0 without rows
  const ValidatedRow* worst() const;                          // nullptr without rows
};

struct Validation {
  std::string set, source;
  std::vector<ValidatedMetric> metrics;  // those that some row of the set has a figure of
};

// Seconds of a step of a valid report; nothing where they are not known.
using StepTime = std::function<std::optional<double>(const Report&)>;

// time: left out where empty.
Validation validate_set(const MeasuredSet& set, const StepTime& time);

// For a terminal; for programs; and measured over predicted on logarithmic axes, as SVG.
std::string validation_text(const Validation& validation);
std::string validation_json(const Validation& validation);
std::string validation_svg(const Validation& validation);

}  // namespace shardscape
