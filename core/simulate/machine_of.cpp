#include "simulate/machine_of.h"

#include "design/cluster.h"

namespace shardscape {

Machine machine_of(const Design& design) { return {accelerator_of(design.cluster), network_of(design), trains(design)}; }

void add_to(MemoKey& key, const Machine& machine) {
  const Network& n = machine.network;
  key.add(static_cast<const void*>(machine.accelerator));
  key.add(static_cast<const void*>(n.measured));
  for (const int64_t word : {n.domain, n.node, n.rails, n.leaf, n.pod, int64_t{n.nvls}, int64_t{n.sharp}, int64_t{machine.training}, static_cast<int64_t>(n.algorithm), static_cast<int64_t>(n.links), n.peers}) key.add(word);
  for (const TorusEdge& edge : n.torus) key.add(edge.closed ? -edge.ranks : edge.ranks);
  for (const double word : {machine.host_gbps, n.scaleup_gbps, n.nic_gbps, n.hop.scaleup_us, n.hop.nic_us, n.hop.spine_us, n.measured_hop.scaleup_us, n.measured_hop.nic_us, n.measured_hop.spine_us, n.launch_us, n.scaleup_efficiency,
                            n.nic_efficiency, n.oversubscription})
    key.add(word);
}

}  // namespace shardscape
