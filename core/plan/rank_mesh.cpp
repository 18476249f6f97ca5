#include "plan/rank_mesh.h"

#include <optional>

namespace shardscape {
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

}  // namespace

MeshAxes axes_of_group(std::string_view name, bool folded) {
  MeshAxes axes;
  for (size_t at = 0; at < name.size(); at += mesh_axis_name(axes.back()).size() + 1) {
    const std::optional<MeshAxis> axis = axis_at(name.substr(at), folded);
    if (!axis) return {};
    axes.push_back(*axis);
  }
  return axes;
}

DeviceMesh mesh_of(const Report& report) { return device_mesh(report.design); }

MeshAxes expert_axes(const Report& report) {
  const Structure& s = report.graph().structure;
  MeshAxes axes;
  if (s.etp) axes.push_back(MeshAxis::Etp);
  if (s.ep) axes.push_back(MeshAxis::Ep);
  if (s.edp && (s.ep || s.folded)) axes.push_back(s.folded ? MeshAxis::EdpFolded : MeshAxis::Edp);
  return axes;
}

int stage_of_rank(const Report& report, int64_t rank) {
  return static_cast<int>(mesh_of(report).coordinate(rank, MeshAxis::Pp));
}

std::string rank_text(const Report& report, int64_t rank) {
  const DeviceMesh mesh = mesh_of(report);
  const auto coordinates = [&](const MeshAxes& axes) {
    std::string out;
    for (MeshAxis axis : axes) {
      if (axis == MeshAxis::Cp && mesh.degree(axis) == 1) continue;
      out += (out.empty() ? "" : ", ") + std::string(mesh_axis_name(axis)) + " " +
             std::to_string(mesh.coordinate(rank, axis));
    }
    return out;
  };
  const std::string experts = coordinates(expert_axes(report));
  return coordinates({MeshAxis::Tp, MeshAxis::Cp, MeshAxis::Dp, MeshAxis::Pp}) +
         (experts.empty() ? "" : " | " + experts);
}

}  // namespace shardscape
