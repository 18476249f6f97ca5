// The groups of one rank: for every group that the design's collectives use, its member ranks. No Qt.
#pragma once

#include <string>
#include <vector>

#include "chakra/groups.h"
#include "plan/report.h"

namespace shardscape::ui {

struct RankGroup {
  std::string name;  // as in the collectives: "tp", "dp_cp", "embedding"
  GroupRole role;
  std::vector<int64_t> ranks;  // ascending; only the rank itself if its stage is not in this group
  int64_t nodes = 1, fewest_per_node = 1, most_per_node = 1;
  int64_t domains = 1;  // scale-up domains: nodes, or racks
  bool contains(int64_t rank) const;
  bool takesPart() const { return ranks.size() > 1; }
};

// All groups of a report's collectives: mesh axes in their fixed order, then other groups by name.
std::vector<std::string> group_names(const Report& report);
// The mesh axes of a group: "dp_cp" is {Dp, Cp}. Empty for a name without mesh axes. folded: experts have
// their own tensor parallelism (etp).
GroupRole group_role(const std::string& name, bool folded);
// The groups of a rank, without groups of one rank.
std::vector<RankGroup> groups_of_rank(const Report& report, int64_t rank);

}  // namespace shardscape::ui
