#include "timing/op_bound.h"

#include <algorithm>

#include "graph/op_traits.h"
#include "performance/calibration.h"
#include "performance/collective_time.h"
#include "performance/op_time.h"
#include "plan/rank_mesh.h"
#include "timing/host_launches.h"

namespace shardscape {
namespace {

// A collective that uses less than this share of every link waits for hops.
constexpr double kBusyLink = 0.5;

BoundBy bound_of(const Machine& machine, const CollectiveEstimate& estimate) {
  const LinkShare share = link_share(machine, estimate);
  if (std::max(share.scaleup, share.nic) < kBusyLink) return BoundBy::Latency;
  return share.nic > share.scaleup ? BoundBy::Network : BoundBy::Scaleup;
}

}  // namespace

std::string_view bound_label(BoundBy by) {
  switch (by) {
    case BoundBy::Compute: return "compute";
    case BoundBy::Memory: return "memory bandwidth";
    case BoundBy::Launch: return "launch";
    case BoundBy::Scaleup: return "scale-up links";
    case BoundBy::Network: return "network";
    case BoundBy::Latency: return "link latency";
  }
  return {};
}

KernelWork kernel_work(const Segment& segment, const Kernel& kernel, const Binding& binding) {
  KernelWork out{0, number(kernel.moved_bytes, binding)};
  for (const OpId id : kernel.ops) {
    const Op& op = segment.op(id);
    const bool masked = op.kind == OpKind::Attention || op.kind == OpKind::IndexTopK;
    out.flops += number(masked ? op.useful_flops : op.flops, binding);
  }
  return out;
}

std::optional<OpBound> op_bound(const Report& report, const Simulation& simulation, int index, OpId id) {
  const Segment& segment = report.graph().segments[static_cast<size_t>(index)];
  const OpTime& time = simulation.ops->ops[static_cast<size_t>(index)][static_cast<size_t>(id)];
  const Kernel* kernel = segment.kernel(id);
  if (!kernel || kernel->op != id || (time.seconds <= 0 && time.communication <= 0)) return std::nullopt;
  const Machine& machine = simulation.machine;
  const Binding& binding = report.stages.front().binding;
  const Op& op = segment.op(id);
  OpBound out;
  out.seconds = time.seconds;
  out.communication = time.communication;
  if (is_collective(op.kind) && !is_ring(op.kind)) {
    const CollectiveKind kind = collective_of(op.kind);
    out.span = span_of(mesh_of(report), redistribution(op).group, machine.network);
    out.buffer = number(collective_bytes(segment, op), binding);
    out.by = bound_of(machine, collective_estimate(machine, kind, out.buffer, out.span));
    if (time.communication > 0)
      out.bus_rate = out.buffer / time.communication * bus_factor(kind, out.span.ranks);
    return out;
  }
  out.work = kernel_work(segment, *kernel, binding);
  out.peak = peak_flops(*machine.accelerator, op.compute);
  out.bandwidth = machine.accelerator->memory_gbps * 1e9;
  out.launch = launch_seconds(machine) * static_cast<double>(launched_kernels(report, segment, id));
  const double computed = out.peak > 0 ? out.work.flops / out.peak : 0,
               moved = out.bandwidth > 0 ? out.work.bytes / out.bandwidth : 0;
  if (time.exposed > time.seconds / 2)
    out.by = BoundBy::Network;  // a ring whose messages take longer than its blocks
  else if (out.launch > time.seconds)
    out.by = BoundBy::Launch;
  else
    out.by = computed >= moved ? BoundBy::Compute : BoundBy::Memory;
  return out;
}

}  // namespace shardscape
