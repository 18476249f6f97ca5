// Hardware FLOPs: the FLOPs that kernels compute in a step. The report's counted FLOPs differ from them.
#pragma once

#include "timing/op_seconds.h"

namespace shardscape {

// Sums over all ranks. computed = counted FLOPs - tiles that fused attention skips under masks - slots of the
// busiest expert above the even share, since other ranks have fewer slots. Slots padded to a capacity are
// computed.
struct HardwareFlops {
  double computed = 0;
  double masked = 0;  // counted, but skipped under masks
};
HardwareFlops hardware_flops(const Report& report, const OpSeconds& ops);

}  // namespace shardscape
