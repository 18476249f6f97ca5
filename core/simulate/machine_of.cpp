#include "simulate/machine_of.h"

#include "design/cluster.h"

namespace shardscape {

Machine machine_of(const Design& design) { return {accelerator_of(design.cluster), network_of(design), trains(design)}; }

}  // namespace shardscape
