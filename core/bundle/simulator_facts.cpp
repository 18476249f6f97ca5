#include "bundle/simulator_facts.h"

#include "bundle/bundle_files.h"

namespace shardscape {
namespace {

// Linux's usual limit of open files, less those of the program itself.
constexpr int64_t kUsualOpenFiles = 1000;

}  // namespace

std::vector<std::string> simulator_facts(const Report& report, const ExportOptions& options) {
  std::vector<std::string> out;
  if (report.ranks < 2) return {"ASTRA-sim needs at least 2 ranks: it cannot run this bundle of one rank"};
  out.push_back(
      "a run is complete when each rank prints \"finished\": ASTRA-sim returns 0 even if a rank hangs, and "
      "134 "
      "or 139 if it aborts while it exits, after all ranks have finished");
  out.push_back(
      std::string("give ") + kGroupsName +
      " as --comm-group-configuration, in a path without the word \"empty\": ASTRA-sim reads no groups "
      "from a path with this word and stops at the first collective of a group");
  if (report.design.parallel.pp > 1 || report.graph().structure.ring)
    out.push_back(
        "messages are eager: a send ends when its bytes have arrived, whether or not the receiver waits for "
        "them");
  if (report.ranks > kUsualOpenFiles)
    out.push_back("ASTRA-sim opens the traces of all ranks at once: raise the limit with ulimit -n " +
                  std::to_string(report.ranks + 100));
  if (options.granularity != Granularity::Op)
    out.push_back(
        "nodes of granularity " + std::string(granularity_name(options.granularity)) +
        (options.durations
             ? " may hide more communication than ops, which shortens a step (docs/models/traces.md, "
               "Granularity)"
             : " are shorter than their ops: ASTRA-sim's roofline takes the larger of the summed FLOPs and "
               "the "
               "summed bytes (docs/models/traces.md, Granularity); --durations keeps the times of the ops"));
  if (options.tensors)
    out.push_back(std::string("set track-local-mem to 1 in ") + kSystemName +
                  " to follow tensors; ASTRA-sim's memory then grows with the square of a trace");
  const WorkloadSpec& workload = report.design.workload;
  if (options.tensors && (workload.offload_optimizer || workload.offload_activations > 0))
    out.push_back(
        "with track-local-mem ASTRA-sim reads compute and communication nodes only: a trace with offload has "
        "memory nodes, and ASTRA-sim then prints no peak");
  return out;
}

}  // namespace shardscape
