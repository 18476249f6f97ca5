// FLOPs that kernels compute in a step, as against those that the report counts.
#pragma once

#include "timing/op_seconds.h"

namespace shardscape {

// Of all ranks: what is counted, without the tiles that masks spare fused attention, and without the slots by
// which the busiest expert exceeds the even share, as other ranks have those to spare. Slots that are filled
// up to a capacity are computed.
struct HardwareFlops {
  double computed = 0;
  double masked = 0;  // counted, but spared by masks
};
HardwareFlops hardware_flops(const Report& report, const OpSeconds& ops);

}  // namespace shardscape
