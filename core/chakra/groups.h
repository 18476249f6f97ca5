// Communicator groups of a job, numbered for a simulator: ids are small, and the ids of one rank are distinct
// modulo 500.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mesh/mesh.h"

namespace shardscape {

// The ranks that a collective spans: ranks along mesh axes, the first and the last pipeline stage (embedding:
// tied embeddings), or a stage and its mirror stage (mirror: ChunkLayout::BothWays).
struct GroupRole {
  MeshAxes axes;
  bool embedding = false, mirror = false;
};

struct CommGroup {
  int32_t id = 0;
  std::vector<int64_t> ranks;  // ascending
};

std::string groups_json(const std::vector<CommGroup>& groups);  // {"1": [0,1], ...}

// Ranks of the role's group that contains `rank`, ascending. Only `rank` itself if it has no group in this
// role.
std::vector<int64_t> role_group(const DeviceMesh& mesh, const GroupRole& role, int64_t rank);

class GroupTable {
 public:
  static constexpr int32_t kIdModulus = 500;  // ASTRA-sim shares tags between ids that are equal modulo this

  GroupTable(const DeviceMesh& mesh, std::span<const GroupRole> roles);
  const std::vector<CommGroup>& groups() const { return groups_; }
  // Id of the rank's group in this role; 0: the rank has no group.
  int32_t id(int role, int64_t rank) const {
    return ids_[static_cast<size_t>(role)][static_cast<size_t>(rank)];
  }
  std::string json() const { return groups_json(groups_); }

 private:
  std::vector<CommGroup> groups_;
  std::vector<std::vector<int32_t>> ids_;  // per role, per rank
};

}  // namespace shardscape
