// What a rank holds of a tensor, per mesh axis: Replicate, Shard(dimension) or Partial(sum or max).
#pragma once

#include <string>
#include <vector>

#include "model/axis.h"
#include "parallel/mesh.h"

namespace shardscape {

enum class Reduce : uint8_t { Sum, Max };

struct Placement {
  std::vector<MeshAxes> shards;  // per dimension, major to minor; mesh axes not named anywhere are Replicate
  MeshAxes partial;              // ascending; every rank along these holds a summand (or candidate)
  Reduce reduce = Reduce::Sum;

  bool uses(MeshAxis axis) const;  // sharded or partial along it
  int shard_dim(MeshAxis axis) const;  // -1 when not sharded along it
  friend bool operator==(const Placement&, const Placement&) = default;
};

// "Shard(seq) on tp, Partial(sum) on cp"; "Replicate" where nothing else.
std::string to_string(const Placement& placement, const std::vector<Axis>& axes);

// The strategy: a small table from logical axes to mesh axes, for parameters and for tensors between blocks.
class ShardRules {
 public:
  void set(Axis axis, MeshAxes mesh);
  const MeshAxes& of(Axis axis) const;
  Placement place(const std::vector<Axis>& axes) const;  // first dimension wins where two claim a mesh axis

 private:
  std::array<MeshAxes, kAxisCount> table_;
};

}  // namespace shardscape
