#include "plan/rank_mesh.h"

namespace shardscape {

DeviceMesh mesh_of(const Report& report) { return device_mesh(report.design); }

MeshAxes expert_axes(const Report& report) {
  const Structure& s = report.graph().structure;
  MeshAxes axes;
  if (s.etp) axes.push_back(MeshAxis::Etp);
  if (s.ep) axes.push_back(MeshAxis::Ep);
  if (s.edp && (s.ep || s.folded)) axes.push_back(s.folded ? MeshAxis::EdpFolded : MeshAxis::Edp);
  return axes;
}

}  // namespace shardscape
