// The 80 % bands of a design's step time and memory (accuracy/error_band.h), as text and JSON.
#pragma once

#include <string>

#include "accuracy/error_band.h"
#include "base/units.h"
#include "plan/report.h"
#include "timing/simulation.h"

namespace shardscape {

// "the 80 % band reaches over the memory by 3.1 GiB"; empty if the design does not fit anyway, or the band
// ends below the capacity.
std::string over_memory_text(const Report& report, const DesignBands& bands,
                             UnitSystem units = UnitSystem::Binary);

// Lines for a terminal; empty without bands. The time is that of the step in training, TTFT in prefill and
// TPOT in decode. Requires a valid report with memory.
std::string bands_text(const Report& report, const Simulation& simulation, const DesignBands& bands);
// Adds "bands" to the JSON of a report: low and high of step_seconds (ttft_seconds,
// tpot_seconds in inference), tokens_per_second and memory, the rows
// behind them, and the bytes over the capacity.
std::string with_bands(const std::string& json, const Report& report, const Simulation& simulation,
                       const DesignBands& bands);

// "80 % bands: TTFT -12 % to +31 % (52 rows of 3 sets: ...), TPOT ...": how far mean and median of a service
// on engines of the design may be off. One line; empty without bands.
std::string service_bands_text(const Design& design);
// {"coverage": 0.8, "ttft": {"low": 0.88, "high": 1.31, "rows": 52, ...}, "tpot": ...} as JSON text: low and
// high are factors on mean and median. "null" without bands.
std::string service_bands_json(const Design& design);

}  // namespace shardscape
