// Whose gradients are summed over which ranks: follows from the placement of each parameter's gradient.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace shardscape {

// Ranks that hold replicas of some parameters.
struct ReplicaGroup {
  MeshAxes axes;    // the replica axes along which the gradient is Partial; empty: every rank has parameters of its own
  MeshAxes shard;   // over which gradients are scattered and parameters gathered: all axes, under hybrid sharding a part, or none
  MeshAxes across;  // over which the shards are replicated; empty: none
  Expr size(const Structure& structure) const { return group_size(structure, shard); }
  friend bool operator==(const ReplicaGroup&, const ReplicaGroup&) = default;
};

ReplicaGroup replica_group(const Structure& structure, const Tensor& gradient);
// Every one of the graph in order of use, the dense parameters' first: one flat buffer, unit or set of buckets each.
std::vector<ReplicaGroup> replica_groups(const Graph& graph);
int replica_group_index(const std::vector<ReplicaGroup>& groups, const Structure& structure, const Tensor& gradient);

// The ranks whose gradients differ once reduced, over which the norm of all is summed: stages, the axes that shard
// parameters, and those that shard gradients. Several sums where the mesh of experts crosses that of the others.
std::vector<MeshAxes> norm_axes(const Graph& graph);

}  // namespace shardscape
