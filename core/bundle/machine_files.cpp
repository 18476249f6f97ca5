#include "bundle/machine_files.h"

#include "astra_sim/config_files.h"
#include "astra_sim/sim_cluster.h"
#include "chakra/lower.h"
#include "memory/estimate.h"

namespace shardscape {
namespace {

MachineFiles files_of(const Report& report) {
  const SimCluster cluster = sim_cluster(Lowering(report), false);
  return {network_yml(cluster), system_json(report, cluster, true)};
}

// Data-parallel ranks on the cluster, which compute in the same types.
Design replicas(const Design& of, int64_t ranks) {
  Design out = default_design();
  out.parallel = {};
  out.parallel.dp = ranks;
  out.workload = {};
  out.workload.dtype = of.workload.dtype;
  out.workload.batch = ranks;
  out.cluster = of.cluster;
  return out;
}

}  // namespace

Result<MachineFiles> machine_files(const Report& report, int64_t ranks) {
  if (report.ranks == ranks) return files_of(report);
  const auto made = estimate(replicas(report.design, ranks));
  if (made->valid()) return files_of(*made);
  for (const Problem& problem : made->problems)
    if (problem.severity == Severity::Error) return problem;
  return Problem{ProblemCode::ValueTooLarge, "machine", "the cluster cannot have these ranks", "fewer ranks"};
}

}  // namespace shardscape
