// What bounds the time of an op: the arithmetic or the memory of the accelerator, the launch by the host, or
// the links of a collective; with the numbers behind the answer.
#pragma once

#include <optional>

#include "timing/op_seconds.h"

namespace shardscape {

enum class BoundBy : uint8_t {
  Compute,
  Memory,   // bandwidth of the device's memory
  Launch,   // the host launches more slowly than the kernel runs
  Scaleup,  // links of the scale-up domain
  Network,  // NICs
  Latency   // hops and launches of a collective
};
inline constexpr int kBoundByCount = 6;
std::string_view bound_label(BoundBy by);  // "memory bandwidth"

// FLOPs and bytes of one run of a kernel on one rank. Attention kernels and indexers skip masked tiles.
struct KernelWork {
  double flops = 0, bytes = 0;
};
KernelWork kernel_work(const Segment& segment, const Kernel& kernel, const Binding& binding);

struct OpBound {
  BoundBy by = BoundBy::Memory;
  double seconds = 0;  // of one run, on the compute stream
  // Kernels: the work, the dense peak and the bandwidth in numbers per second, and the host's seconds for a
  // launch. The bound is the larger of flops / peak and bytes / bandwidth.
  KernelWork work;
  double peak = 0, bandwidth = 0, launch = 0;
  // Collectives: bytes of the full buffer, seconds of the links, hidden or not, and the group's span.
  double buffer = 0, communication = 0, bus_rate = 0;
  GroupSpan span;
  bool collective() const { return communication > 0 && peak == 0; }
};

// nullopt: the op takes no time of its own, because another op's kernel computes it. simulation: of the
// report.
std::optional<OpBound> op_bound(const Report& report, const Simulation& simulation, int segment, OpId op);

}  // namespace shardscape
