// What a design predicts for a value that the log of its launch measured.
#pragma once

#include <optional>
#include <string>

#include "launch/launch_import.h"
#include "plan/report.h"
#include "timing/simulation.h"

namespace shardscape {

// In the unit of the measurement: time of a step, useful FLOP/s and tokens/s of a GPU, MFU, allocated memory
// of the fullest GPU; of a serving engine its weights and its KV cache. nullopt: nothing of this kind is
// predicted, for example memory that the allocator reserves.
std::optional<double> predicted_value(const LaunchMeasurement& measured, const Report& report,
                                      const Simulation& simulation);

// "9.80 s measured, 9.52 s predicted (-2.9 %)"
std::string measured_text(const LaunchMeasurement& measured, const std::optional<double>& predicted);

}  // namespace shardscape
