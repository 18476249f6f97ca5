// Communicator groups of a job, numbered for a simulator: small ids, and those of one rank distinct modulo 500.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parallel/mesh.h"

namespace shardscape {

// Which ranks a collective spans: along mesh axes, the first and the last pipeline stage (tied embeddings), or a stage and the
// one as far from the other end (ChunkLayout::BothWays).
struct GroupRole {
  MeshAxes axes;
  bool embedding = false, mirror = false;
};

struct CommGroup {
  int32_t id = 0;
  std::vector<int64_t> ranks;  // ascending
};

// Ranks of the role's group around one rank, ascending; only itself where the role does not concern it.
std::vector<int64_t> role_group(const DeviceMesh& mesh, const GroupRole& role, int64_t rank);

class GroupTable {
 public:
  static constexpr int32_t kIdModulus = 500;  // ids equal modulo this share tags in ASTRA-sim

  GroupTable(const DeviceMesh& mesh, std::span<const GroupRole> roles);
  const std::vector<CommGroup>& groups() const { return groups_; }
  // 0 where the rank is in no group of this role.
  int32_t id(int role, int64_t rank) const { return ids_[static_cast<size_t>(role)][static_cast<size_t>(rank)]; }
  std::string json() const;  // {"1": [0,1], ...}

 private:
  std::vector<CommGroup> groups_;
  std::vector<std::vector<int32_t>> ids_;  // per role, per rank
};

}  // namespace shardscape
