// Time of kernels that are bound by what they read and write.
#pragma once

#include "machine/calibration.h"

namespace shardscape {

double calibrated_memory_seconds(const Accelerator& accelerator, const MemoryCalibration& constants, double bytes);

}  // namespace shardscape
