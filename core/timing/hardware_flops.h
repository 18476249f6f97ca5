// Hardware FLOPs: the FLOPs that kernels compute in a step. The report's counted FLOPs differ from them.
#pragma once

#include "timing/op_seconds.h"

namespace shardscape {

// Sums over all ranks. computed = counted FLOPs - FLOPs of tiles that fused attention skips under masks -
// FLOPs of idle slots. Idle slots: counted FLOPs are those of the busiest expert, but other ranks have fewer
// slots. Slots padded to a capacity are computed.
struct HardwareFlops {
  double computed = 0;
  double masked = 0;  // counted, but skipped under masks
};
HardwareFlops hardware_flops(const Report& report, const OpSeconds& ops);

}  // namespace shardscape
