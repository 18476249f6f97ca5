// The data that all stages of a lowering share: groups, ring positions and seconds.
#include <algorithm>
#include <cmath>
#include <utility>

#include "chakra/lower.h"
#include "grad_sync/grad_plan.h"
#include "grad_sync/sync_model.h"
#include "graph/ring.h"
#include "performance/op_time.h"
#include "plan/rank_mesh.h"
#include "plan/stage_boundary.h"
#include "timing/host_launches.h"
#include "timing/machine_of.h"
#include "timing/muon_seconds.h"

namespace shardscape {

Lowering::Lowering(const Report& report, TraceTimes times) : Lowering(report, mesh_of(report), times) {}

Lowering::Lowering(std::shared_ptr<const Report> report, const DeviceMesh& mesh)
    : Lowering(*report, mesh, TraceTimes::Durations) {
  owned_ = std::move(report);
}

Lowering::Lowering(const Report& report, const DeviceMesh& mesh, TraceTimes times)
    : report_(report),
      mesh_(mesh),
      schedule_(
          make_schedule(report.design.parallel, static_cast<int>(report.microbatches), report.cache.get())),
      times_(times) {
  const Graph& graph = report.graph();
  if (times != TraceTimes::Roofline) {
    machine_ = machine_of(report.design);
    seconds_ = op_seconds(report, *machine_);
  }
  if (differs_by_position(graph)) positions_ = ring_ranks(report.design);
  for (const Segment& segment : graph.segments)
    for (const Op& op : segment.ops)
      if (is_collective(op.kind) && !is_ring(op.kind)) add_role({redistribution(op).group, false});
  if (const MeshAxes gathered = stage_boundary(graph).gathered; !gathered.empty())
    add_role({gathered, false});
  for (const StageReport& s : report.stages) {
    const StageSync sync = stage_sync(graph, s.first, s.last, s.layers > 0);
    for (const GradReduction& r : plan_grad_reduce(graph, sync.owned, s.first, s.last, s.layers > 0))
      add_role({r.axes, r.embedding_group, r.mirror});
    for (const SyncRow& row : sync.rows) add_role({row.axes, false});
    for (const MuonWork::Gather& gather : sync.muon.gathers) add_role({gather.axes, false});
    for (const SyncUnit& unit : sync.units) {
      for (const GradReduction& r : unit.inner) add_role({r.axes, r.embedding_group, r.mirror});
    }
  }
  for (const MeshAxes& axes : norm_groups(graph)) add_role({axes, false});
  if (const MeshAxes axes = loss_group(graph); !axes.empty()) add_role({axes, false});
}

const OpTime& Lowering::time_of(const Segment& segment, OpId op) const {
  return seconds_
      .ops[static_cast<size_t>(&segment - &report_.graph().segments.front())][static_cast<size_t>(op)];
}

double Lowering::seconds_of(const Segment& segment, OpId op) const {
  return machine_ ? time_of(segment, op).seconds - time_of(segment, op).exposed : 0;
}

double Lowering::packing_seconds(const Segment& segment, OpId op) const {
  return machine_ && !is_communication(time_of(segment, op).category) ? seconds_of(segment, op) : 0;
}

double Lowering::launch_seconds(const Segment& segment, const std::vector<OpId>& ops) const {
  if (times_ != TraceTimes::Launches) return 0;
  const auto index = static_cast<size_t>(&segment - &report_.graph().segments.front());
  const HostTime host = host_time(report_, segment, seconds_.ops[index], ops,
                                  shardscape::launch_seconds(*machine_));
  return host.seconds + host.stall;
}

int64_t Lowering::roofline_ops(const Op& op, int64_t flops) const {
  if (times_ != TraceTimes::Roofline || !report_.accelerator || !is_quantized(op.compute)) return flops;
  const double simulated = peak_flops(*report_.accelerator, report_.design.workload.dtype);
  return std::llround(static_cast<double>(flops) * simulated / peak_flops(*report_.accelerator, op.compute));
}

double Lowering::seconds_of_bytes(double bytes) const {
  return machine_ && bytes > 0 ? memory_bound_seconds(*machine_, bytes) : 0;
}

double Lowering::newton_schulz_seconds(const MuonWork& muon, const Binding& stage) const {
  return machine_ ? shardscape::newton_schulz_seconds(*machine_, muon, stage) : 0;
}

void Lowering::add_role(const GroupRole& role) {
  std::vector<int64_t> group = role_group(mesh_, role, 0);
  if (group.size() < 2 ||
      std::find(representatives_.begin(), representatives_.end(), group) != representatives_.end())
    return;
  roles_.push_back(role);
  representatives_.push_back(std::move(group));
}

void Lowering::add_roles(const Lowering& other) {
  for (const GroupRole& role : other.roles_) add_role(role);
}

void Lowering::take_roles(const Lowering& other) {
  roles_ = other.roles_;
  representatives_ = other.representatives_;
}

int Lowering::role_of(const MeshAxes& axes) const {
  const auto it = std::find(representatives_.begin(), representatives_.end(),
                            role_group(mesh_, {axes, false}, 0));
  return it == representatives_.end() ? -1 : static_cast<int>(it - representatives_.begin());
}

int Lowering::pair_role(bool mirror) const {
  const auto it = std::find(representatives_.begin(), representatives_.end(),
                            role_group(mesh_, {{}, !mirror, mirror}, 0));
  return it == representatives_.end() ? -1 : static_cast<int>(it - representatives_.begin());
}

int64_t Lowering::position_of(int64_t rank) const {
  return positions_ == 1 ? 0 : mesh_.coordinate(rank, ring_axes(report_.graph().structure).front());
}

}  // namespace shardscape
