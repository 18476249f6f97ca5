// Times, throughput and memory that Megatron-LM prints in its log.
#pragma once

#include <string_view>
#include <vector>

#include "launch/launch_import.h"

namespace shardscape {

// Of iterations that repeat a row, the median of those after the first: the first one compiles and warms up.
// Rows: "elapsed time per iteration (ms)", "throughput per GPU (TFLOP/s/GPU)" (megatron/training/training.py,
// training_log) and "memory (MB) | allocated: ... | max allocated: ..." (megatron/training/utils.py,
// report_memory), of which the largest counts.
std::vector<LaunchMeasurement> megatron_measurements(std::string_view log);

}  // namespace shardscape
