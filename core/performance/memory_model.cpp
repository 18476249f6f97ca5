#include "performance/memory_model.h"

#include <algorithm>

namespace shardscape {

// Bytes that fit into the cache were often written by the previous kernel. The cache counts fully up to its
// size and not at all from 1.5 times its size on.
double calibrated_memory_seconds(const Accelerator& accelerator, const MemoryCalibration& c, double bytes) {
  double inverse = 1 / c.share;
  if (c.cache_mb > 0) {
    const double cached = std::clamp(3 - 2 * bytes / (c.cache_mb * 1e6), 0.0, 1.0);
    inverse = cached / c.cache_share + (1 - cached) / c.share;
  }
  return c.launch_us * 1e-6 + bytes / (accelerator.memory_gbps * 1e9) * inverse;
}

}  // namespace shardscape
