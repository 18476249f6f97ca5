#include "report/rank_mesh.h"

namespace shardscape {

DeviceMesh mesh_of(const Report& report) {
  return device_mesh(report.design);
}

MeshAxes expert_axes(const Report& report) {
  const Structure& s = report.graph().structure;
  if (s.folded) return {MeshAxis::Etp, MeshAxis::Ep, MeshAxis::EdpFolded};
  return s.ep ? MeshAxes{MeshAxis::Ep, MeshAxis::Edp} : MeshAxes{};
}

}  // namespace shardscape
