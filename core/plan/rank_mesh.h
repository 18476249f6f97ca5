// The device mesh of a report's design: where each of its ranks stands.
#pragma once

#include "mesh/mesh.h"
#include "plan/report.h"

namespace shardscape {

DeviceMesh mesh_of(const Report& report);
// Axes of more than one rank of the experts' own mesh, fastest first: of {Etp, Ep, Edp}. None where experts
// lie as all else does.
MeshAxes expert_axes(const Report& report);

}  // namespace shardscape
