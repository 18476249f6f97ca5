// The accelerator and the network of a design's cluster. Knobs override the network catalogue, which
// overrides the accelerator catalogue.
#pragma once

#include <memory>

#include "design/design.h"
#include "hardware/accelerator.h"
#include "hardware/network.h"
#include "hardware/network_catalogue.h"
#include "hardware/operation.h"

namespace shardscape {

// The catalogue network of the cluster; nullptr if none is known for its accelerator.
const NetworkEntry* catalogue_network(const ClusterSpec& cluster);
// The catalogue accelerator with the values that the cluster's knobs override; nullptr if the catalogue lacks
// it.
std::shared_ptr<const Accelerator> accelerator_of(const ClusterSpec& cluster);
// The accelerator's name in estimates, with overridden values: "NVIDIA H100 SXM 80 GB".
std::string machine_name(const ClusterSpec& cluster);
// Price, power, failures and checkpoints: knobs, then the catalogue, then published values.
Operation operation_of(const ClusterSpec& cluster);
// Ranks of a design, valid or not, but at most `limit`.
int64_t world_at_most(const Design& design, int64_t limit);
// Ranks of a scale-up domain. If the knob is 0: a node, or the rack of a rack-scale network. A job larger
// than a rack gets the network's `segment` of each rack.
int64_t scaleup_domain(const Design& design);
// After a change of the accelerator or the network: if the nodes had the size that the network of `before`
// has, they get the size that the new network has. Another size is the person's own and stays.
void follow_node_size(ClusterSpec& cluster, const ClusterSpec& before);
// The network of a valid design.
Network network_of(const Design& design);

}  // namespace shardscape
