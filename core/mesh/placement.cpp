#include "mesh/placement.h"

#include <algorithm>

namespace shardscape {

bool Placement::uses(MeshAxis axis) const { return shard_dim(axis) >= 0 || contains(partial, axis); }

int Placement::shard_dim(MeshAxis axis) const {
  for (size_t dim = 0; dim < shards.size(); ++dim) {
    if (contains(shards[dim], axis)) return static_cast<int>(dim);
  }
  return -1;
}

std::string to_string(const Placement& placement, const std::vector<Axis>& axes) {
  std::string text;
  const auto append = [&](const std::string& what, const MeshAxes& mesh) {
    if (!text.empty()) text += ", ";
    text += what + " on ";
    std::string groups;
    for (const MeshAxes& group : declared_groups(mesh))
      groups += (groups.empty() ? "" : "+") + group_name(group);
    text += groups;
  };
  for (size_t dim = 0; dim < placement.shards.size(); ++dim) {
    if (placement.shards[dim].empty()) continue;
    const std::string name = dim < axes.size() ? std::string(axis_name(axes[dim])) : std::to_string(dim);
    append("Shard(" + name + ")", placement.shards[dim]);
  }
  if (!placement.partial.empty()) {
    append(placement.reduce == Reduce::Sum ? "Partial(sum)" : "Partial(max)", placement.partial);
  }
  return text.empty() ? "Replicate" : text;
}

void ShardRules::set(Axis axis, MeshAxes mesh) { table_[static_cast<size_t>(axis)] = std::move(mesh); }

const MeshAxes& ShardRules::of(Axis axis) const { return table_[static_cast<size_t>(axis)]; }

Placement ShardRules::place(const std::vector<Axis>& axes) const {
  Placement placement;
  placement.shards.resize(axes.size());
  MeshAxes used_axes;
  for (size_t dim = 0; dim < axes.size(); ++dim) {
    for (MeshAxis axis : of(axes[dim])) {
      const bool free = std::none_of(used_axes.begin(), used_axes.end(),
                                     [&](MeshAxis other) { return share_ranks(axis, other); });
      if (free) placement.shards[dim].push_back(axis);
    }
    used_axes.insert(used_axes.end(), placement.shards[dim].begin(), placement.shards[dim].end());
  }
  return placement;
}

}  // namespace shardscape
