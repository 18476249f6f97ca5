#include "report/rank_mesh.h"

namespace shardscape {

DeviceMesh mesh_of(const Report& report) {
  return device_mesh(report.design);
}

}  // namespace shardscape
