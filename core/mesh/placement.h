// Placements: the part of a tensor that a rank holds, per mesh axis, as Replicate, Shard(dimension) or
// Partial(sum or max).
#pragma once

#include <string>
#include <vector>

#include "mesh/mesh.h"
#include "model/axis.h"

namespace shardscape {

enum class Reduce : uint8_t { Sum, Max };

struct Placement {
  std::vector<MeshAxes> shards;  // per dimension, from major to minor; all other mesh axes are Replicate
  MeshAxes partial;              // ascending; every rank along these axes holds a summand (or candidate)
  Reduce reduce = Reduce::Sum;

  bool uses(MeshAxis axis) const;      // whether the tensor is sharded or Partial on the axis
  int shard_dim(MeshAxis axis) const;  // -1 if not sharded on the axis
  friend bool operator==(const Placement&, const Placement&) = default;
};

// "Shard(seq) on tp, Partial(sum) on cp"; "Replicate" without shards and partial axes.
std::string to_string(const Placement& placement, const std::vector<Axis>& axes);

// The strategy: a table from logical axes to mesh axes, for parameters and for tensors between blocks.
class ShardRules {
 public:
  void set(Axis axis, MeshAxes mesh);
  const MeshAxes& of(Axis axis) const;
  // if two dimensions claim a mesh axis, the first one gets it
  Placement place(const std::vector<Axis>& axes) const;

 private:
  std::array<MeshAxes, kAxisCount> table_;
};

}  // namespace shardscape
