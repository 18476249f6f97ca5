// The device mesh of a report's design: the coordinates of each rank.
#pragma once

#include "mesh/mesh.h"
#include "plan/report.h"

namespace shardscape {

DeviceMesh mesh_of(const Report& report);
// The axes of the expert mesh with more than one rank, fastest-varying first: a subset of {Etp, Ep, Edp}.
// Empty when experts use no mesh of their own.
MeshAxes expert_axes(const Report& report);
// The mesh axes of a group's name: "dp_cp" is {Dp, Cp}. Empty for a name without mesh axes. folded: experts
// have their own tensor parallelism (etp).
MeshAxes axes_of_group(std::string_view name, bool folded);

}  // namespace shardscape
