// Who is in whose group: the ranks around one rank, along every group that the design's collectives use. No
// Qt in here.
#pragma once

#include <string>
#include <vector>

#include "chakra/groups.h"
#include "plan/report.h"

namespace shardscape::ui {

struct RankGroup {
  std::string name;  // as the collectives have it: "tp", "dp_cp", "embedding"
  GroupRole role;
  std::vector<int64_t> ranks;  // ascending; only the rank itself where its stage has no part in this group
  int64_t nodes = 1, fewest_per_node = 1, most_per_node = 1;
  bool contains(int64_t rank) const;
  bool takesPart() const { return ranks.size() > 1; }
};

// Every group of a report's collectives, in the order of the house for mesh axes, then the others by name.
std::vector<std::string> group_names(const Report& report);
// "dp_cp" is {Dp, Cp}; of a name that is no mesh axis the role is empty. folded: experts have a tp of their
// own.
GroupRole group_role(const std::string& name, bool folded);
// Without groups of one rank.
std::vector<RankGroup> groups_of_rank(const Report& report, int64_t rank);

}  // namespace shardscape::ui
