#include "ui/views/communication/rank_groups.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "plan/rank_mesh.h"

namespace shardscape::ui {
namespace {

// The axis with the longest name that the text starts with ("tp_kv" is one axis, not tp and kv). Two axes
// share the name of expert replicas: one for experts with tp, one for experts with etp (folded).
std::optional<MeshAxis> axis_at(std::string_view text, bool folded) {
  std::optional<MeshAxis> found;
  for (const MeshAxisRow& row : kMeshAxes) {
    if (!text.starts_with(row.name) || (row.name.size() < text.size() && text[row.name.size()] != '_'))
      continue;
    const size_t known = found ? mesh_axis_name(*found).size() : 0;
    if (row.name.size() > known || (folded && row.name.size() == known)) found = row.axis;
  }
  return found;
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
  GroupRole role;
  for (size_t at = 0; at < name.size(); at += mesh_axis_name(role.axes.back()).size() + 1) {
    const std::optional<MeshAxis> axis = axis_at(std::string_view(name).substr(at), folded);
    if (!axis) return {};
    role.axes.push_back(*axis);
  }
  return role;
}

std::vector<RankGroup> groups_of_rank(const Report& report, int64_t rank) {
  const DeviceMesh mesh = mesh_of(report);
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
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace shardscape::ui
