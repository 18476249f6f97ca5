#include "timing/layer_seconds.h"

#include "graph/op_traits.h"
#include "model/library.h"
#include "performance/op_time.h"
#include "plan/stage_boundary.h"

namespace shardscape {

double OverlapSlowdown::factor(TimeCategory category) const {
  if (category == TimeCategory::ExpertComm) return exchanges;
  return category == TimeCategory::MatrixProducts || category == TimeCategory::Attention
             ? gemms
             : 1;  // does not slow down with fewer processors
}

double slower_share(const Machine& machine, int64_t taken) {
  const int64_t all = machine.accelerator->processors;
  return all <= taken ? 0 : static_cast<double>(taken) / static_cast<double>(all - taken);
}

Part part_of(const Structure& structure, const Segment& segment, OpId op) {
  if (op < segment.backward_begin) return Part::Forward;
  if (op < segment.replay_end) return Part::Replay;
  return structure.split_backward && segment.op(op).deferrable ? Part::Weight : Part::Backward;
}

double host_launches(const Report& report, const Op& op) {
  const KernelProfile* profile = ModelLibrary::instance().profile(report.design.workload.profile);
  const KernelRule* rule = profile ? profile->rule(std::string(template_name(op.kind))) : nullptr;
  return rule ? static_cast<double>(rule->launches) : 1;
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

ConcurrentPart LayerTable::concurrent(int index, LayerClass of, Part part) const {
  const Segment& segment = report_->graph().segments[static_cast<size_t>(index)];
  std::vector<OpId> ops;
  for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id)
    if (runs(segment.op(id), of.checkpoint_policy) &&
        part_of(report_->graph().structure, segment, id) == part)
      ops.push_back(id);
  return schedule_concurrent(segment, ops_.ops[static_cast<size_t>(index)], ops, 1 + exchanges_slow_);
}

const LayerSeconds& LayerTable::at(int index, LayerClass of) {
  if (made_) return made_->layers_.at({index, of});
  const auto [it, fresh] = layers_.try_emplace({index, of});
  LayerSeconds& out = it->second;
  if (!fresh) return out;
  const Segment& segment = report_->graph().segments[static_cast<size_t>(index)];
  const std::vector<OpTime>& times = ops_.ops[static_cast<size_t>(index)];
  for (size_t id = 0; id < times.size(); ++id) {
    if (!runs(segment.ops[id], of.checkpoint_policy)) continue;
    const OpTime& time = times[id];
    PartSeconds& part = out.parts[static_cast<size_t>(
        part_of(report_->graph().structure, segment, static_cast<OpId>(id)))];
    part.seconds += time.seconds;
    if (time.seconds > 0) part.host += launch_ * host_launches(*report_, segment.ops[id]);
    part.categories[static_cast<size_t>(time.category)] += time.seconds - time.exposed;
    part.categories[static_cast<size_t>(time.waits)] += time.exposed;
    part.communication += time.communication;
    part.links += {time.links.scaleup * time.communication, time.links.nic * time.communication};
  }
  for (size_t p = 0; p < std::size(out.parts) && has_concurrent_blocks(segment); ++p) {
    const ConcurrentPart placed = concurrent(index, of, static_cast<Part>(p));
    PartSeconds& part = out.parts[p];
    part.seconds = placed.seconds;
    part.hidden = placed.hidden;
    part.categories = placed.categories;
  }
  if (of.offloaded)
    for (const SavedStorage& s : saved_by(segment, of.checkpoint_policy))
      out.host_bytes += number(segment.storages[static_cast<size_t>(s.storage)].bytes,
                               report_->stages.front().binding);
  return out;
}

}  // namespace shardscape
