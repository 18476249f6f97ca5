#include "timing/layer_seconds.h"

#include "performance/op_time.h"
#include "plan/stage_boundary.h"
#include "timing/host_launches.h"

namespace shardscape {

namespace {

void add_op(const OpTime& time, PartSeconds& part) {
  part.seconds += time.seconds;
  part.categories[static_cast<size_t>(time.category)] += time.seconds - time.exposed;
  part.categories[static_cast<size_t>(time.waits)] += time.exposed;
  part.communication += time.communication;
  part.links += {time.links.scaleup * time.communication, time.links.nic * time.communication};
}

}  // namespace

double OverlapSlowdown::factor(TimeCategory category) const {
  if (category == TimeCategory::ExpertComm) return exchanges;
  return category == TimeCategory::MatrixProducts || category == TimeCategory::Attention
             ? gemms
             : 1;  // does not slow down with fewer processors
}

LayerTable::LayerTable(const Report& report, const Machine& machine)
    : report_(&report),
      ops_(op_seconds(report, machine)),
      launch_(launch_seconds(machine)),
      exchanges_slow_(slower_share(machine, report.design.parallel.dispatch_sms)) {}

void LayerTable::fill_all() {
  const Graph& graph = report_->graph();
  for (int s = 0; s < static_cast<int>(graph.segments.size()); ++s) {
    if (graph.segments[static_cast<size_t>(s)].kind != SegmentKind::Layer)
      at(s, {end_policy(graph.segments[static_cast<size_t>(s)])});
    else
      for (const LayerClass of : layer_classes(graph.structure)) at(s, of);
  }
  boundary();
  report_ = nullptr;
  ops_ = {};
}

const Boundary& LayerTable::boundary() {
  if (made_) return *made_->boundary_;
  if (!boundary_) {
    const StageBoundary of = stage_boundary(report_->graph());
    const Binding& binding = report_->stages.front().binding;
    boundary_ = Boundary{
        number(local_bytes(of.message), binding), number(local_bytes(of.stream), binding), of.gathered,
        report_->graph().structure.vision_stage ? number(image_message_bytes(report_->graph()), binding) : 0};
  }
  return *boundary_;
}

std::vector<OpId> LayerTable::ops_of(int index, LayerClass of, Part part) const {
  const Segment& segment = report_->graph().segments[static_cast<size_t>(index)];
  std::vector<OpId> out;
  for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id)
    if (runs(segment.op(id), of.checkpoint_policy) &&
        part_of(report_->graph().structure, segment, id) == part)
      out.push_back(id);
  return out;
}

ConcurrentPart LayerTable::concurrent(int index, LayerClass of, Part part) const {
  return schedule_concurrent(report_->graph().segments[static_cast<size_t>(index)],
                             ops_.ops[static_cast<size_t>(index)], ops_of(index, of, part),
                             1 + exchanges_slow_);
}

const LayerSeconds& LayerTable::at(int index, LayerClass of) {
  if (made_) return made_->layers_.at({index, of});
  const auto [it, fresh] = layers_.try_emplace({index, of});
  LayerSeconds& out = it->second;
  if (!fresh) return out;
  const Segment& segment = report_->graph().segments[static_cast<size_t>(index)];
  const std::vector<OpTime>& times = ops_.ops[static_cast<size_t>(index)];
  for (size_t p = 0; p < std::size(out.parts); ++p) {
    const std::vector<OpId> ops = ops_of(index, of, static_cast<Part>(p));
    PartSeconds& part = out.parts[p];
    for (const OpId id : ops) add_op(times[static_cast<size_t>(id)], part);
    part.phases = expert_phases(segment, times, ops, static_cast<Part>(p));
    if (has_concurrent_blocks(segment)) {
      const ConcurrentPart placed = concurrent(index, of, static_cast<Part>(p));
      part.seconds = placed.seconds;
      part.hidden = placed.hidden;
      part.categories = placed.categories;
    }
    const HostTime host = host_time(*report_, segment, times, ops, launch_);
    part.launches = host.seconds;
    part.host_waits = host.reads_routing;
    part.seconds += host.stall;
    part.categories[static_cast<size_t>(TimeCategory::Host)] += host.stall;
  }
  if (of.offloaded)
    for (const SavedStorage& s : saved_by(segment, of.checkpoint_policy))
      out.host_bytes += number(segment.storages[static_cast<size_t>(s.storage)].bytes,
                               report_->stages.front().binding);
  return out;
}

}  // namespace shardscape
