// What share of a device's scale-up bandwidth a group can use: by what of the domain's links lies between its ranks, and by what is
// asked of them.
//
//   switch   all of it, whoever the ranks are
//   mesh     a device has one of its links to each other device: N-1 of them in a domain of N. Among n ranks n-1 links of each:
//            a ring runs over all of them at once, as many rings as the complete graph of n nodes has (RCCL, one channel each;
//            one link of MI300X carries 48 of its 64 GB/s, four devices 144: ROCm/rccl issue 1210), and so does an exchange.
//            One message takes one link, and so does a step of halving and doubling.
//   torus    two links along each dimension. Along a dimension that is closed to a ring and that the group goes round entirely, two
//            links; along a part of it, or where it is not closed, one, as the rank at the end has no more. Groups that lie between
//            the ranks of this one (strides) run at the same time and share them. Rings run along all dimensions at once, so links
//            add up (jax-ml/scaling-book, sharding.md @04d8de5: V / (axes · W) for gathers). In an exchange the busiest link
//            decides, the bisection: of d ranks in a ring d/8 of what a rank sends pass each link, in a line d/4 (a quarter of a
//            gather's time, ibid.); dimension by dimension, so the longest one. A message passes one link after another.
#pragma once

#include "machine/network.h"

namespace shardscape {

enum class LinkUse : uint8_t {
  Rings,     // and chains, of neighbours
  Exchange,  // every rank with every other at once
  Message    // one partner at a time
};

// Links of a device, among which its bandwidth is split evenly; 1: one to a switch.
int64_t scaleup_links(const Network& network);
// ranks: of the group in one domain, 2 at least. sides: as it lies on a torus; unknown where all are of one rank, then the
// ranks are neighbours from the domain's first on. 0 < share <= 1.
double scaleup_share(const Network& network, int64_t ranks, const TorusSides& sides, LinkUse use);
// Hops of a gather in rings: n-1, but on a torus those along its dimensions one after another, both ways round.
int64_t ring_hops(const Network& network, int64_t ranks, const TorusSides& sides);

}  // namespace shardscape
