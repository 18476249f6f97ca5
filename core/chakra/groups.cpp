#include "chakra/groups.h"

#include <algorithm>

namespace shardscape {
namespace {

// The number of residues modulo 500 for each role. A rank has at most one group per role, so its ids never
// collide. Ids are small: they use the fewest blocks of 500 ids that hold all groups.
std::vector<int64_t> residues_per_role(const std::vector<int64_t>& groups) {
  for (int64_t blocks = 1;; ++blocks) {
    std::vector<int64_t> widths;
    int64_t sum = 0;
    for (const int64_t n : groups) sum += widths.emplace_back((n + blocks - 1) / blocks);
    if (sum <= GroupTable::kIdModulus) return widths;
  }
}

}  // namespace

std::vector<int64_t> role_group(const DeviceMesh& mesh, const GroupRole& role, int64_t rank) {
  std::vector<int64_t> ranks;
  const int64_t last = mesh.degree(MeshAxis::Pp) - 1, stage = mesh.coordinate(rank, MeshAxis::Pp);
  if (role.mirror) {
    if (last == 2 * stage) return {rank};
    ranks = {rank, mesh.with(rank, MeshAxis::Pp, last - stage)};
  } else if (role.embedding) {
    if (last == 0 || (stage != 0 && stage != last)) return {rank};
    ranks = {mesh.with(rank, MeshAxis::Pp, 0), mesh.with(rank, MeshAxis::Pp, last)};
  } else {
    ranks = mesh.group(rank, role.axes);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::string groups_json(const std::vector<CommGroup>& groups) {
  std::string text = "{";
  for (size_t i = 0; i < groups.size(); ++i) {
    text += (i ? ",\n  \"" : "\n  \"") + std::to_string(groups[i].id) + "\": [";
    for (size_t k = 0; k < groups[i].ranks.size(); ++k) {
      if (k) text += ", ";
      text += std::to_string(groups[i].ranks[k]);
    }
    text += "]";
  }
  return text + "\n}\n";
}

GroupTable::GroupTable(const DeviceMesh& mesh, std::span<const GroupRole> roles) {
  const int64_t world = mesh.ranks();
  std::vector<int64_t> counts;
  std::vector<std::vector<std::vector<int64_t>>> members(roles.size());  // by role, by group
  for (size_t r = 0; r < roles.size(); ++r) {
    std::vector<bool> placed(static_cast<size_t>(world));
    for (int64_t rank = 0; rank < world; ++rank) {
      if (placed[static_cast<size_t>(rank)]) continue;
      std::vector<int64_t> ranks = role_group(mesh, roles[r], rank);
      if (ranks.size() < 2) continue;
      for (const int64_t member : ranks) placed[static_cast<size_t>(member)] = true;
      members[r].push_back(std::move(ranks));
    }
    counts.push_back(static_cast<int64_t>(members[r].size()));
  }
  const std::vector<int64_t> widths = residues_per_role(counts);
  int64_t first = 1;
  for (size_t r = 0; r < roles.size(); ++r) {
    std::vector<int32_t>& ids = ids_.emplace_back(static_cast<size_t>(world), 0);
    for (int64_t k = 0; k < counts[r]; ++k) {
      const auto id = static_cast<int32_t>(k / widths[r] * kIdModulus + first + k % widths[r]);
      std::vector<int64_t>& ranks = members[r][static_cast<size_t>(k)];
      for (const int64_t member : ranks) ids[static_cast<size_t>(member)] = id;
      groups_.push_back({id, std::move(ranks)});
    }
    first += widths[r];
  }
  std::sort(groups_.begin(), groups_.end(),
            [](const CommGroup& a, const CommGroup& b) { return a.id < b.id; });
}

}  // namespace shardscape
