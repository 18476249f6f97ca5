// The device mesh of a report's design: the coordinates of each rank.
#pragma once

#include "mesh/mesh.h"
#include "plan/report.h"

namespace shardscape {

DeviceMesh mesh_of(const Report& report);
// The stage of a rank, and the coordinates of a rank as text: "tp 1, dp 0, pp 3", or "tp 0, dp 3, pp 1 | ep
// 5, edp 0" with experts.
int stage_of_rank(const Report& report, int64_t rank);
std::string rank_text(const Report& report, int64_t rank);
// The axes of the expert mesh with more than one rank, fastest-varying first: a subset of {Etp, Ep, Edp}.
// Empty when experts use no mesh of their own.
MeshAxes expert_axes(const Report& report);
// The mesh axes of a group's name: "dp_cp" is {Dp, Cp}. Empty for a name without mesh axes. folded: experts
// have their own tensor parallelism (etp).
MeshAxes axes_of_group(std::string_view name, bool folded);

}  // namespace shardscape
