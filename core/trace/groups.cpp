#include "trace/groups.h"

#include <algorithm>
#include <set>

namespace shardscape {
namespace {

// Hands out ids from 1 upwards; an id left out for one group is offered to the next.
class IdSource {
 public:
  explicit IdSource(size_t ranks) : taken_(ranks) {}

  int32_t next(const std::vector<int64_t>& members) {
    for (auto it = left_out_.begin(); it != left_out_.end(); ++it) {
      const int32_t id = *it;
      if (!free_for(members, id)) continue;
      left_out_.erase(it);
      return take(members, id);
    }
    for (;;) {
      const int32_t id = ++last_;
      if (free_for(members, id)) return take(members, id);
      left_out_.insert(id);
    }
  }

 private:
  bool free_for(const std::vector<int64_t>& members, int32_t id) const {
    return std::none_of(members.begin(), members.end(), [&](int64_t rank) {
      const auto& ids = taken_[static_cast<size_t>(rank)];
      return std::find(ids.begin(), ids.end(), id % GroupTable::kIdModulus) != ids.end();
    });
  }
  int32_t take(const std::vector<int64_t>& members, int32_t id) {
    for (const int64_t rank : members) taken_[static_cast<size_t>(rank)].push_back(id % GroupTable::kIdModulus);
    return id;
  }

  std::vector<std::vector<int32_t>> taken_;
  std::set<int32_t> left_out_;
  int32_t last_ = 0;
};

}  // namespace

std::vector<int64_t> role_group(const DeviceMesh& mesh, const GroupRole& role, int64_t rank) {
  std::vector<int64_t> ranks;
  if (role.embedding) {
    const int64_t last = mesh.degree(MeshAxis::Pp) - 1, stage = mesh.coordinate(rank, MeshAxis::Pp);
    if (last == 0 || (stage != 0 && stage != last)) return {rank};
    ranks = {mesh.with(rank, MeshAxis::Pp, 0), mesh.with(rank, MeshAxis::Pp, last)};
  } else {
    ranks = mesh.group(rank, role.axes);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

GroupTable::GroupTable(const DeviceMesh& mesh, std::span<const GroupRole> roles) {
  const int64_t world = mesh.ranks();
  IdSource source(static_cast<size_t>(world));
  for (const GroupRole& role : roles) {
    std::vector<int32_t>& ids = ids_.emplace_back(static_cast<size_t>(world), 0);
    for (int64_t rank = 0; rank < world; ++rank) {
      if (ids[static_cast<size_t>(rank)] != 0) continue;
      std::vector<int64_t> ranks = role_group(mesh, role, rank);
      if (ranks.size() < 2) continue;
      const int32_t id = source.next(ranks);
      for (const int64_t member : ranks) ids[static_cast<size_t>(member)] = id;
      groups_.push_back({id, std::move(ranks)});
    }
  }
  std::sort(groups_.begin(), groups_.end(), [](const CommGroup& a, const CommGroup& b) { return a.id < b.id; });
}

std::string GroupTable::json() const {
  std::string text = "{";
  for (size_t i = 0; i < groups_.size(); ++i) {
    text += (i ? ",\n  \"" : "\n  \"") + std::to_string(groups_[i].id) + "\": [";
    for (size_t k = 0; k < groups_[i].ranks.size(); ++k) {
      if (k) text += ", ";
      text += std::to_string(groups_[i].ranks[k]);
    }
    text += "]";
  }
  return text + "\n}\n";
}

}  // namespace shardscape
