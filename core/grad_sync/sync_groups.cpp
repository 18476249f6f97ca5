#include "grad_sync/sync_groups.h"

#include <algorithm>

#include "grad_sync/sync_plan.h"

namespace shardscape {

namespace {

ReplicaGroup group_over(const Structure& structure, const MeshAxes& copies) {
  ReplicaGroup group;
  for (const MeshAxis axis : copies) {
    if (!is_replica_axis(axis)) continue;
    group.axes.push_back(axis);
    const std::optional<MeshAxis> shard = inner_part(axis, MeshAxis::DpRep);
    if (!structure.hybrid || !shard) {
      group.shard.push_back(axis);
      continue;
    }
    // Experts: a copy of the states may have a single rank with these experts, hence no shard axis.
    if (!is_expert_axis(axis) || structure.edp_shards) group.shard.push_back(*shard);
    group.across.push_back(MeshAxis::DpRep);
  }
  return group;
}

}  // namespace

ReplicaGroup replica_group(const Structure& structure, const Tensor& gradient) {
  return group_over(structure, gradient.placement.partial);
}

ReplicaGroup replica_group(const Structure& structure, const Segment& segment, const Param& param) {
  return param.gradient >= 0 ? replica_group(structure, segment.tensor(param.gradient))
                             : group_over(structure, param.copies);
}

bool is_sharded_frozen(const Structure& structure, const Segment& segment, const Param& param) {
  return param.frozen && param.gradient < 0 && structure.trains() && shards_parameters(structure.sync) &&
         segment.kind != SegmentKind::Tower;
}

namespace {

std::vector<ReplicaGroup> groups_of(const Graph& graph, bool frozen) {
  std::vector<ReplicaGroup> out;
  if (!graph.structure.trains()) return out;
  for (const Segment& segment : graph.segments)
    for (const Param& p : segment.params) {
      if (p.gradient < 0 && !(frozen && is_sharded_frozen(graph.structure, segment, p))) continue;
      ReplicaGroup group = replica_group(graph.structure, segment, p);
      if (std::find(out.begin(), out.end(), group) == out.end()) out.push_back(std::move(group));
    }
  return out;
}

}  // namespace

std::vector<ReplicaGroup> replica_groups(const Graph& graph) { return groups_of(graph, true); }

int replica_group_index(const std::vector<ReplicaGroup>& groups, const Structure& structure,
                        const Segment& segment, const Param& param) {
  return static_cast<int>(std::find(groups.begin(), groups.end(), replica_group(structure, segment, param)) -
                          groups.begin());
}

namespace {

// Axes that have ranks in common, replaced by their parent, each once. Layers with an own number of KV heads
// split tp in their own way.
MeshAxes without_shared_ranks(const MeshAxes& axes) {
  MeshAxes out;
  for (const MeshAxis axis : axes) {
    const bool shared = std::any_of(
        axes.begin(), axes.end(), [&](MeshAxis other) { return other != axis && share_ranks(axis, other); });
    const MeshAxis taken = shared ? mesh_axis(axis).parent : axis;
    if (std::find(out.begin(), out.end(), taken) == out.end()) out.push_back(taken);
  }
  return out;
}

}  // namespace

std::vector<MeshAxes> norm_axes(const Graph& graph) {
  const Structure& s = graph.structure;
  MeshAxes dense, experts;
  const auto add = [&](const MeshAxes& axes) {
    for (const MeshAxis axis : axes) {
      MeshAxes& to = is_expert_axis(axis) ? experts : dense;
      if (std::find(to.begin(), to.end(), axis) == to.end()) to.push_back(axis);
    }
  };
  const auto has = [&](MeshAxis axis) { return std::find(dense.begin(), dense.end(), axis) != dense.end(); };
  if (s.pp) dense.push_back(MeshAxis::Pp);
  const MeshAxes stages = dense;
  if (shards_states(s.sync))
    for (const ReplicaGroup& group : groups_of(graph, false)) add(group.shard);
  const bool replicas = dense != stages;
  for (const Segment& segment : graph.segments)
    for (const Param& p : segment.params)
      if (p.gradient >= 0)
        for (const MeshAxes& axes : segment.tensor(p.gradient).placement.shards) add(axes);
  dense = without_shared_ranks(dense);
  if (dense.empty() && experts.empty()) return {};
  if (experts.empty()) return {dense};
  // The expert mesh and the dense mesh have the same ranks, and a norm must not count any rank twice.
  const MeshAxes cp = cp_axes(s);
  const bool all_replicas = (!s.dp || has(MeshAxis::Dp) || has(MeshAxis::DpShard)) &&
                            std::all_of(cp.begin(), cp.end(), has);
  const MeshAxes merged = merge_parts(dense);
  const bool all_tp = !s.folded || !s.tp ||
                      std::find(merged.begin(), merged.end(), MeshAxis::Tp) != merged.end();
  if (replicas && all_replicas && all_tp) return {dense};
  const bool disjoint = !replicas && (!s.folded || dense == stages);
  if (disjoint) {
    dense.insert(dense.begin() + static_cast<std::ptrdiff_t>(stages.size()), experts.begin(), experts.end());
    return {dense};
  }
  // Neither mesh covers the other: one sum for each kind of parameter, as in Megatron-core's chained
  // optimizers.
  MeshAxes expert_norm = stages;
  expert_norm.insert(expert_norm.end(), experts.begin(), experts.end());
  if (!s.folded && has(MeshAxis::Tp)) expert_norm.push_back(MeshAxis::Tp);
  return {dense, expert_norm};
}

}  // namespace shardscape
