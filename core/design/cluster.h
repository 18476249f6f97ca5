// The network of a design's cluster: its knobs over the catalogue over the accelerator.
#pragma once

#include "design/design.h"
#include "machine/accelerator.h"
#include "machine/network.h"
#include "machine/network_catalogue.h"

namespace shardscape {

// The catalogue's network that the cluster stands on; nullptr: none is known for its accelerator.
const NetworkEntry* catalogue_network(const ClusterSpec& cluster);
// The catalogue's accelerator with what the cluster's knobs change of it; nullptr: not in the catalogue. Lives as long as the program,
// equal ones are one.
const Accelerator* accelerator_of(const ClusterSpec& cluster);
std::string machine_name(const ClusterSpec& cluster);  // "NVIDIA H100 SXM 80 GB": what estimates say they are of
// Ranks of a design that need not be valid, or the limit where there are more.
int64_t world_at_most(const Design& design, int64_t limit);
// Ranks of a scale-up domain. 0 in the knob: a node, or of a rack-scale network the rack; of that a job which does not fit
// into one rack is given whole segments.
int64_t scaleup_domain(const Design& design);
// Of a valid design.
Network network_of(const Design& design);

}  // namespace shardscape
