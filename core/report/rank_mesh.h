// The device mesh of a report's design: where each of its ranks stands.
#pragma once

#include "parallel/mesh.h"
#include "report/report.h"

namespace shardscape {

DeviceMesh mesh_of(const Report& report);
// Axes of the experts' own mesh, fastest first: {Ep, Edp}, after Etp where experts' tensor parallelism has a degree of its own.
// None where the design has no experts, or keeps them all on every rank as it keeps its other parameters.
MeshAxes expert_axes(const Report& report);

}  // namespace shardscape
