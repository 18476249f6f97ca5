#include "ui/views/communication/rank_groups.h"

#include <algorithm>
#include <utility>

#include "design/cluster.h"
#include "plan/rank_mesh.h"

namespace shardscape::ui {
namespace {

int64_t blocks_with(const std::vector<int64_t>& ranks, int64_t block) {
  int64_t out = 0, last = -1;
  for (const int64_t rank : ranks)
    if (std::exchange(last, rank / block) != rank / block) ++out;
  return out;
}

void count_nodes(RankGroup& group, int64_t gpus_per_node) {
  group.nodes = 0;
  for (size_t first = 0, next = 0; first < group.ranks.size(); first = next) {
    const int64_t node = group.ranks[first] / gpus_per_node;
    while (next < group.ranks.size() && group.ranks[next] / gpus_per_node == node) ++next;
    const auto here = static_cast<int64_t>(next - first);
    group.fewest_per_node = group.nodes == 0 ? here : std::min(group.fewest_per_node, here);
    group.most_per_node = std::max(group.most_per_node, here);
    ++group.nodes;
  }
}

}  // namespace

bool RankGroup::contains(int64_t rank) const { return std::binary_search(ranks.begin(), ranks.end(), rank); }

std::vector<std::string> group_names(const Report& report) {
  std::vector<std::string> groups;
  for (const StageReport& stage : report.stages) {
    for (const CollectiveValue& value : stage.collectives) {
      if (std::find(groups.begin(), groups.end(), value.group) == groups.end()) groups.push_back(value.group);
    }
  }
  const auto place = [](const std::string& group) {
    static const std::vector<std::string> known{
        "tp", "dcp", "cp",        "cp_ring", "cp_ulysses", "etp",   "ep_local",  "ep_node",
        "ep", "edp", "edp_shard", "pp",      "dp",         "dp_cp", "embedding", "mirror"};
    return std::find(known.begin(), known.end(), group) - known.begin();
  };
  std::sort(groups.begin(), groups.end(), [&](const std::string& a, const std::string& b) {
    return std::pair(place(a), a) < std::pair(place(b), b);
  });
  return groups;
}

GroupRole group_role(const std::string& name, bool folded) {
  if (name == "embedding") return {{}, true};
  if (name == "mirror") return {{}, false, true};
  return {axes_of_group(name, folded)};
}

std::vector<RankGroup> groups_of_rank(const Report& report, int64_t rank) {
  const DeviceMesh mesh = mesh_of(report);
  const int64_t domain = scaleup_domain(report.design);
  std::vector<RankGroup> groups;
  for (const std::string& name : group_names(report)) {
    RankGroup group;
    group.name = name;
    group.role = group_role(name, report.design.parallel.folds_experts());
    const bool known = group.role.embedding || group.role.mirror ? mesh.degree(MeshAxis::Pp) > 1
                                                                 : mesh.group_size(group.role.axes) > 1;
    if (!known) continue;
    group.ranks = role_group(mesh, group.role, rank);
    count_nodes(group, report.design.cluster.gpus_per_node);
    group.domains = blocks_with(group.ranks, domain);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace shardscape::ui
