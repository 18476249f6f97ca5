// Launches of the host: kernels per op, kernels that CUDA graphs replay, and reads of the routing.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "plan/report.h"
#include "timing/op_seconds.h"

namespace shardscape {

// Kernels that the host launches for an op: those of the kernel profile (KernelProfile::launches), otherwise
// one. A GEMM of separate experts launches one kernel per local expert, a separate bias several.
int64_t launched_kernels(const Report& report, const Segment& segment, OpId id);

struct HostTime {
  double seconds = 0;          // of all launches
  bool reads_routing = false;  // the host waits for the numbers of tokens
  // Seconds that the device waits because the host reads the routing before it launches the rest.
  double stall = 0;
};

// The host's work for the ops of one part of a layer, in the order of the segment. launch: seconds of one
// kernel launch, Python and autograd included.
//
// - An op launches launched_kernels().
// - The ops of a captured module cost one launch, the replay of its graph.
// - Before it launches the exchange of tokens, the host waits for their numbers
//   (KernelProfile::host_reads_routing). From then on, device and host start together. The stall is the time
//   from one read to the read in the next equal layer, less the seconds of the kernels.
HostTime host_time(const Report& report, const Segment& segment, const std::vector<OpTime>& times,
                   const std::vector<OpId>& ops, double launch);

}  // namespace shardscape
