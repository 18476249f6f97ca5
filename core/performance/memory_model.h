// Seconds of a memory-bound kernel: launch + bytes / (share of the peak bandwidth), with a faster rate for
// bytes that fit into the cache (MemoryCalibration).
#pragma once

#include "performance/calibration.h"

namespace shardscape {

double calibrated_memory_seconds(const Accelerator& accelerator, const MemoryCalibration& constants,
                                 double bytes);

}  // namespace shardscape
