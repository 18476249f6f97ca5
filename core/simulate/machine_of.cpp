#include "simulate/machine_of.h"

namespace shardscape {

Machine machine_of(const Design& design) {
  Machine machine;
  machine.accelerator = find_accelerator(design.cluster.accelerator);
  machine.network.domain = design.cluster.gpus_per_node;
  if (machine.accelerator->scaleup_gbps > 0) machine.network.scaleup_gbps = machine.accelerator->scaleup_gbps;
  if (machine.accelerator->nic_gbps > 0) machine.network.nic_gbps = machine.accelerator->nic_gbps;
  return machine;
}

}  // namespace shardscape
