// Time of a step as text and as JSON.
#pragma once

#include <string>

#include "timing/simulation.h"

namespace shardscape {

// Adds the object `time` at the end of the JSON of a valid report, and times to the collectives of its
// stages. All times are seconds, bus bandwidths are bytes per second. Exception: `passes` has the values of
// two knobs of the schedule zb-auto.
std::string with_time(const std::string& json, const Report& report, const Simulation& simulation);
// Text: the definition of MFU and HFU.
std::string mfu_convention();
// Text: why MFU or HFU exceeds 100 %; empty if neither does.
std::string above_peak_text(const Simulation& simulation);
// "989 TFLOP/s, the dense peak in bfloat16".
std::string peak_text(const Simulation& simulation);
// Text: the percentiles of the step time where ranks are unequally fast; empty if they are not.
std::string step_distribution_text(const Simulation& simulation);
// Step time, rates, MFU and the categories of every stage, for a terminal.
std::string time_text(const Simulation& simulation);
// The time of every kind of kernel and of every collective, by stage, for a terminal.
std::string row_times_text(const Report& report, const Simulation& simulation);

// "backward of microbatch 3, virtual stage 1", "reduce-scatter of gradients over dp".
std::string span_title(const Simulation& simulation, const Span& span);

}  // namespace shardscape
