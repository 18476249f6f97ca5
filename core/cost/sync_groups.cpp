#include "cost/sync_groups.h"

#include <algorithm>

#include "schedule/sync_plan.h"

namespace shardscape {

ReplicaGroup replica_group(const Structure& structure, const Tensor& gradient) {
  ReplicaGroup group;
  for (const MeshAxis axis : gradient.placement.partial) {
    if (!is_replica_axis(axis)) continue;
    group.axes.push_back(axis);
    const bool split = structure.hybrid && axis == MeshAxis::Dp;
    group.shard.push_back(split ? MeshAxis::DpShard : axis);
    if (split) group.across.push_back(MeshAxis::DpRep);
  }
  return group;
}

std::vector<ReplicaGroup> replica_groups(const Graph& graph) {
  std::vector<ReplicaGroup> out;
  for (const Segment& segment : graph.segments)
    for (const Param& p : segment.params) {
      ReplicaGroup group = replica_group(graph.structure, segment.tensor(p.gradient));
      if (std::find(out.begin(), out.end(), group) == out.end()) out.push_back(std::move(group));
    }
  return out;
}

int replica_group_index(const std::vector<ReplicaGroup>& groups, const Structure& structure, const Tensor& gradient) {
  return static_cast<int>(std::find(groups.begin(), groups.end(), replica_group(structure, gradient)) - groups.begin());
}

MeshAxes norm_axes(const Graph& graph) {
  MeshAxes replicas, inner, out;
  const auto add = [](MeshAxes& to, const MeshAxes& axes) {
    for (const MeshAxis axis : axes)
      if (std::find(to.begin(), to.end(), axis) == to.end()) to.push_back(axis);
  };
  if (graph.structure.pp) out.push_back(MeshAxis::Pp);
  for (const Segment& segment : graph.segments)
    for (const Param& p : segment.params)
      for (const MeshAxes& axes : segment.tensor(p.gradient).placement.shards) add(inner, axes);
  if (shards_states(graph.structure.sync))
    for (const ReplicaGroup& group : replica_groups(graph)) add(replicas, group.shard);
  add(out, replicas);
  add(out, inner);
  return out;
}

}  // namespace shardscape
