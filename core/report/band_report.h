// The 80 % bands of a design's step time and memory (accuracy/error_band.h), as text and JSON.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "accuracy/error_band.h"
#include "base/units.h"
#include "plan/report.h"
#include "timing/simulation.h"

namespace shardscape {

// "8.41 s to 10.3 s": the band of a predicted value, each limit as `text` writes it. Empty without a band.
std::string band_text(double value, const std::optional<ErrorBand>& band,
                      const std::function<std::string(double)>& text);
// "the 80 % band reaches over the memory by 3.1 GiB"; empty if the design does not fit anyway, or the band
// ends below the capacity.
std::string over_memory_text(const Report& report, const DesignBands& bands,
                             UnitSystem units = UnitSystem::Binary);

// Lines for a terminal; empty without bands. Requires a valid report with memory.
std::string bands_text(const Report& report, const Simulation& simulation, const DesignBands& bands);
// Adds "bands" to the JSON of a report: low and high of step_seconds, tokens_per_second and memory, the rows
// behind them, and the bytes over the capacity.
std::string with_bands(const std::string& json, const Report& report, const Simulation& simulation,
                       const DesignBands& bands);

}  // namespace shardscape
