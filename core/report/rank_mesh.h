// The device mesh of a report's design: where each of its ranks stands.
#pragma once

#include "parallel/mesh.h"
#include "report/report.h"

namespace shardscape {

DeviceMesh mesh_of(const Report& report);

}  // namespace shardscape
