// The seconds of a step that give its rates (tokens per second, MFU).
#pragma once

#include "timing/simulation.h"

namespace shardscape {

// Seconds from the start of the step until microbatch 0 leaves the last stage.
double seconds_through_stages(const Simulation& simulation);

// Training and prefill: the seconds of the step. Decode: seconds from one token of a sequence to the next in
// a running pipeline, where steps overlap: the compute seconds of the busiest stage, or of one microbatch
// through all stages if that is longer.
double served_seconds(const Report& report, const Simulation& simulation);

}  // namespace shardscape
