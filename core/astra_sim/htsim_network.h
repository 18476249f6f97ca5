// The topology file of htsim, as ASTRA-sim's htsim backend reads it (Broadcom/csg-htsim @67cbbbb,
// sim/datacenter/fat_tree_topology.cpp; astra-sim, network_frontend/htsim @518bd51).
//
// htsim has fat trees of two or three tiers, and one link per rank. A job of several scale-up domains takes
// three tiers: the scale-up switch of a domain, the NICs of the domain, and the switches that join NICs at
// equal positions of all domains. The reader requires that the rates of all tiers fit the counts of links
// and the factors Oversubscribed, which are whole numbers. With d ranks per domain and A switches for their
// NICs:
//
//   tier 0   Radix_Down d, Radix_Up A, Oversubscribed d/A   rate s of the scale-up links
//   tier 1   Radix_Down 1, Radix_Up d/A, Oversubscribed s·A/(d·n)   rate s
//   tier 2   Radix_Down domains   rate n of a NIC
//
// A job in one domain has a single switch and an unused one above it.
//
// Limits of htsim: rates in whole Gbit/s, latencies in whole nanoseconds above 0, 96 ports of a switch of
// tier 0 and 64 of others (assertions of init_network). Queue_Up and Queue_Down are left out: ASTRA-sim sets
// queue sizes first, and the reader takes a second value as an error.
#pragma once

#include "astra_sim/packet_network.h"

namespace shardscape {

inline constexpr int64_t kHtsimMostPortsBelow = 96, kHtsimMostPorts = 64;

Result<PacketNetwork> htsim_network(const Network& network, int64_t ranks);

}  // namespace shardscape
