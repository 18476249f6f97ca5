#include "ui/views/communication/rank_groups.h"

#include <algorithm>

#include "plan/rank_mesh.h"

namespace shardscape::ui {
namespace {

constexpr MeshAxis kAllAxes[] = {
    MeshAxis::TpKv,     MeshAxis::TpRep,     MeshAxis::TpOuter, MeshAxis::TpContext, MeshAxis::Tp,
    MeshAxis::CpRing,   MeshAxis::CpUlysses, MeshAxis::Cp,      MeshAxis::DpRep,     MeshAxis::DpShard,
    MeshAxis::Dp,       MeshAxis::Etp,       MeshAxis::EpNode,  MeshAxis::EpLocal,   MeshAxis::Ep,
    MeshAxis::EdpShard, MeshAxis::Edp,       MeshAxis::Pp};

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

GroupRole group_role(const std::string& name) {
  if (name == "embedding") return {{}, true};
  if (name == "mirror") return {{}, false, true};
  GroupRole role;
  // Longer names first: tp_kv is one axis, not tp and something else.
  for (size_t at = 0; at < name.size();) {
    const auto axis = std::find_if(std::begin(kAllAxes), std::end(kAllAxes), [&](MeshAxis a) {
      const std::string_view text = mesh_axis_name(a);
      const size_t end = at + text.size();
      return name.compare(at, text.size(), text) == 0 && (end == name.size() || name[end] == '_');
    });
    if (axis == std::end(kAllAxes)) return {};
    role.axes.push_back(*axis);
    at += mesh_axis_name(*axis).size() + 1;
  }
  return role;
}

std::vector<RankGroup> groups_of_rank(const Report& report, int64_t rank) {
  const DeviceMesh mesh = mesh_of(report);
  std::vector<RankGroup> groups;
  for (const std::string& name : group_names(report)) {
    RankGroup group;
    group.name = name;
    group.role = group_role(name);
    // Two axes have each of these names: replicas of experts that are split over tp as all else is, and of
    // those that are not.
    if (report.design.parallel.folds_experts()) {
      std::replace(group.role.axes.begin(), group.role.axes.end(), MeshAxis::Edp, MeshAxis::EdpFolded);
      std::replace(group.role.axes.begin(), group.role.axes.end(), MeshAxis::EdpShard,
                   MeshAxis::EdpShardFolded);
    }
    const bool known = group.role.embedding || group.role.mirror ? mesh.degree(MeshAxis::Pp) > 1
                                                                 : mesh.group_size(group.role.axes) > 1;
    if (!known) continue;
    group.ranks = role_group(mesh, group.role, rank);
    count_nodes(group, report.design.cluster.gpus_per_node);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace shardscape::ui
