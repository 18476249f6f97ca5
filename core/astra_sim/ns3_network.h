// The files of ASTRA-sim's ns-3 backend (astra-sim/astra-network-ns3 @8fd3604, scratch/common.h; astra-sim,
// network_frontend/ns3 @518bd51).
//
// - Topology: "nodes switches links", the numbers of the switches, then "from to rate latency error-rate" per
//   link. Node r is rank r.
// - Configuration: the topology by name, relative to the folder in which the simulator runs, and thresholds
//   of switches, which ns-3 asserts for each rate of a link. Settings of the transport are those of the
//   examples.
// - Flows and traces: the reader takes the first number of both files, even if it is absent.
//
// Limits of ns-3: a host's address has 16 bits of its number; link i has the network 10.(i/254+1).x.0; a
// switch has the ports 1 to 1024.
#pragma once

#include "astra_sim/packet_network.h"

namespace shardscape {

inline constexpr int64_t kNs3MostLinks = 254 * 255;
inline constexpr int64_t kNs3MostPorts = 1024;

Result<PacketNetwork> ns3_network(const Network& network, int64_t ranks, const SimCluster& cluster);

}  // namespace shardscape
