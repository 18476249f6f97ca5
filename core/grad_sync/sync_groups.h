// Groups of ranks over which gradients are summed. They follow from the placement of each parameter's
// gradient.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace shardscape {

// The ranks that hold replicas of a parameter.
struct ReplicaGroup {
  // Replica axes along which the gradient is Partial. Empty: every rank has its own parameters.
  MeshAxes axes;
  // Axes over which gradients are scattered and parameters gathered: equal to `axes`, or under hybrid
  // sharding a part of `axes` or none.
  MeshAxes shard;
  MeshAxes across;  // axes over which shards are replicated; empty: none
  Expr size(const Structure& structure) const { return group_size(structure, shard); }
  friend bool operator==(const ReplicaGroup&, const ReplicaGroup&) = default;
};

ReplicaGroup replica_group(const Structure& structure, const Tensor& gradient);
// The group over which the parameter is sharded: as its gradient is reduced, or of a frozen parameter as its
// gradient would be reduced.
ReplicaGroup replica_group(const Structure& structure, const Segment& segment, const Param& param);
// Whether replicas shard a frozen parameter (PEFT and torchtune with fully_shard; DeepSpeed partitions all
// parameters). Those of a tower are whole on every rank.
bool is_sharded_frozen(const Structure& structure, const Segment& segment, const Param& param);
// All replica groups of the graph in order of use, dense parameters first. Each has its own flat buffer,
// units or buckets.
std::vector<ReplicaGroup> replica_groups(const Graph& graph);
// Index in `groups` of the group that reduces this gradient.
int replica_group_index(const std::vector<ReplicaGroup>& groups, const Structure& structure,
                        const Segment& segment, const Param& param);

// Axes of the ranks that hold different reduced gradients, over which the gradient norm is summed: stages,
// axes that shard parameters, and axes that shard gradients. Several sums where the expert mesh crosses the
// dense mesh.
std::vector<MeshAxes> norm_axes(const Graph& graph);

}  // namespace shardscape
