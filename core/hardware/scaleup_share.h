// The share of a device's scale-up bandwidth that a group can use. It depends on the links between the ranks
// of the group and on the communication pattern.
// - Switch: the whole bandwidth, for any group.
// - Mesh: a device has one link to each other device, N-1 links in a domain of N devices. A group of n ranks
//   uses n-1 links of each device. A ring runs over all of them at once, as many rings as the complete graph
//   of n nodes has. RCCL uses one channel each: one link of MI300X carries 48 of its 64 GB/s, and four
//   devices reach 144 GB/s (ROCm/rccl issue 1210). An exchange uses the same links. One message uses one
//   link, and so does a step of halving-doubling.
// - Torus: two links along each dimension. A closed dimension that the group covers entirely gives two links.
//   A part of a dimension, or an open dimension, gives one link, because the rank at the end has only one.
//   Groups whose ranks lie between the ranks of this group (strides) run at the same time and share the
//   links. Rings run along all dimensions at once, so links add up (jax-ml/scaling-book, sharding.md
//   @04d8de5: V / (axes · W) for gathers). An exchange waits for the busiest link, the bisection. With d
//   ranks in a ring, d/8 of a rank's data passes each link; in a line d/4 (a quarter of a gather's time, same
//   source). Dimensions are exchanged one by one, so the longest one decides. A message passes one link after
//   another.
#pragma once

#include "hardware/network.h"

namespace shardscape {

enum class LinkUse : uint8_t {
  Rings,     // rings and chains of neighbours
  Exchange,  // every rank with every other rank at once
  Message    // one partner at a time
};

// Links of a device, which share its bandwidth evenly; 1 behind a switch.
int64_t scaleup_links(const Network& network);
// The share, 0 < share <= 1. ranks: ranks of the group in one domain, at least 2. sides: extent of the group
// on the torus. If no side has more than one rank, the group is taken as `ranks` consecutive ranks from the
// domain's first rank on.
double scaleup_share(const Network& network, int64_t ranks, const TorusSides& sides, LinkUse use);
// Hops of a gather in rings: n-1. On a torus: the hops along its dimensions one after another, with both
// directions of a ring in use.
int64_t ring_hops(const Network& network, int64_t ranks, const TorusSides& sides);

}  // namespace shardscape
