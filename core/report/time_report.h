// The time of a step as text and as JSON.
#pragma once

#include <string>

#include "timing/simulation.h"

namespace shardscape {

// The JSON of a valid report with the object `time` behind its other keys. Seconds throughout, but for
// `passes`, which are knobs of the schedule zb-auto.
std::string with_time(const std::string& json, const Report& report, const Simulation& simulation);
// How MFU and HFU are counted.
std::string mfu_convention();
// Why one of them is above 100 %; empty where none is.
std::string above_peak_text(const Simulation& simulation);
// "989 TFLOP/s, the dense peak in bfloat16".
std::string peak_text(const Simulation& simulation);
// The paragraph that follows a report on a terminal.
std::string time_text(const Simulation& simulation);

// "backward of microbatch 3, virtual stage 1", "reduce-scatter of gradients over dp".
std::string span_title(const Simulation& simulation, const Span& span);

}  // namespace shardscape
