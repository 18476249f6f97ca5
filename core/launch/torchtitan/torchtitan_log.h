// The log of torchtitan: settings, device mesh, speed and memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launch/launch_import.h"

namespace shardscape {

// "Running with args: {...}" (torchtitan/config/manager.py), "Running with configs: {...}" since 2026.
bool has_torchtitan_settings(std::string_view text);
// The JSON of the settings, from the first brace to the brace that closes it, without the names of ranks that
// torchrun puts before each line. The whole text if it has no such line.
std::string torchtitan_settings(std::string_view text);

// GPUs of "Building device mesh with parallelism: pp=1, dp_replicate=1, ..."
// (torchtitan/distributed/parallel_dims.py:120); 0: not there.
int64_t torchtitan_log_gpus(std::string_view text);

// Speed and memory of the last step (torchtitan/components/metrics.py:460).
std::vector<LaunchMeasurement> torchtitan_measured(std::string_view text);

}  // namespace shardscape
