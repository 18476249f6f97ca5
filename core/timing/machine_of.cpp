#include "timing/machine_of.h"

#include "design/cluster.h"

namespace shardscape {

Machine machine_of(const Design& design) {
  return {accelerator_of(design.cluster), network_of(design), trains(design)};
}

void add_to(CacheKey& key, const Machine& machine) {
  const Network& n = machine.network;
  // The id of an accelerator determines its tables of kernels and collectives. A design may change its peaks.
  const Accelerator& a = *machine.accelerator;
  key.add(std::string_view(a.id));
  for (const double word : {a.bf16_tflops, a.fp8_tflops, a.fp4_tflops, a.memory_gbps}) key.add(word);
  key.add(int64_t{n.measured != nullptr});
  for (const int64_t word :
       {n.domain, n.node, n.rails, n.leaf, n.pod, int64_t{n.nvls}, int64_t{n.sharp},
        int64_t{machine.training}, static_cast<int64_t>(n.algorithm), static_cast<int64_t>(n.links), n.peers})
    key.add(word);
  for (const TorusEdge& edge : n.torus) key.add(edge.closed ? -edge.ranks : edge.ranks);
  for (const double word :
       {machine.host_gbps, n.scaleup_gbps, n.nic_gbps, n.hop.scaleup_us, n.hop.nic_us, n.hop.spine_us,
        n.measured_hop.scaleup_us, n.measured_hop.nic_us, n.measured_hop.spine_us, n.launch_us,
        n.scaleup_efficiency, n.nic_efficiency, n.oversubscription})
    key.add(word);
}

}  // namespace shardscape
