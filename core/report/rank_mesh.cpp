#include "report/rank_mesh.h"

namespace shardscape {

DeviceMesh mesh_of(const Report& report) {
  const ParallelSpec& p = report.design.parallel;
  return DeviceMesh({p.tp, p.cp, p.dp, p.pp, report.design.model.kv_heads, ulysses_ranks(report.design)}, p.order);
}

}  // namespace shardscape
