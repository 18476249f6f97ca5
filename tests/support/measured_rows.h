// Rows of measured sets that tests write themselves, and what `validate` makes of them.
#pragma once

#include <QString>
#include <string>

#include "validation/measured_set.h"

namespace shardscape::test {

// The set of a JSON text. A text that is no set ends the program with the problem.
MeasuredSet measured_set(const std::string& text);

// Compares values of knobs of a design with "tp=2 pp=4", as the knobs write them. Returns the first knob that
// differs, with its value; empty: none.
std::string differing_knob(const Design& design, const QString& knobs);

// The error of the step time of a set with one row, in percent. NaN if the set has no step time.
double step_error_percent(const MeasuredSet& set);

}  // namespace shardscape::test
