// Seconds of a collective over the links that its group spans.
//
// n ranks in D domains, g of them in each; S bytes of the full buffer. A collective is a launch, hops, and bytes that a rank
// sends on its scale-up links and through its NIC; both levels are busy at once, so the fuller one decides:
//   ring        2(n-1) hops, 2D of them through NICs, 2(n-1)/n·S on the links, 1/g of that through each of g NICs (one ring
//               per rail); half of all that for gathers and reduce-scatters (Thakur et al., IJHPCA 19(1), 2005; nccl-tests,
//               doc/PERFORMANCE.md @a0b82b2). A broadcast or reduction: n-1 hops and S, pipelined.
//   tree        2(g-1 + log2 D) hops, 2S on the links, 2(D-1)/D·S/g through NICs; 0.92 of the bandwidth (double binary
//               trees; NVIDIA/nccl, src/graph/tuning.cc @5067397)
//   halving-doubling  2·log2 n hops, the ring's bytes inside, 2(D-1)/D·S/g through NICs, one after the other (Thakur);
//               for gathers half of it, which is NCCL's PAT where D = n
//   hierarchical  reduce-scatter inside, ring of one rank per domain across, all-gather inside, pipelined in chunks
//               (BlueConnect, MLSys 2019)
//   in-network  S on the links once each way; through NICs S/g with SHARP, else as the tree does (NCCL's NVLSTree)
//   direct      one hop and a little per peer; of an all-to-all S(g-1)/n on the links, S(n-g)/n through the NIC
// These are bytes at the rate of a device. Where its links lead to single neighbours a group has a share of them only
// (scaleup_share.h), and on a torus rings take fewer hops and pass on what exchanges send to others.
//
// What a hop costs and what share of the bandwidth is left depends on the protocol: LL, LL128 and Simple of NCCL, with the
// constants of tuning.cc; the fastest is taken. What a network takes beyond the links that these constants were measured on is
// added to each of its hops, as NCCL adds the latency that a network reports (latencyInter), and likewise what the way over a
// spine adds where a hop leads from one leaf switch to another: of a ring the leaves that it touches, of a tree log2 of them.
//
// Rails: NICs of a node that lead to leaf switches of their own, which the spine joins. Ranks in like places of their nodes meet
// on one rail. What goes to an unlike place (all of an all-to-all but one part in as many as there are rails, and whatever a group
// sends that lies unevenly on nodes) goes over the links to the rank on the receiver's rail first, a hop more (PXN, NCCL 2.12);
// where the links of a domain do not reach all NICs of a node it goes over the spine.
//
// Where such a collective was measured on such links (collective_table.h) the measurement is taken: between sizes interpolated
// in logarithms, between numbers of ranks likewise, beyond the largest group by the ratio of the formulas. Links of another
// rate than the measured ones move bytes faster or slower by the ratio, hops cost the same.
//
// Oversubscription: what passes between pods shares the links above them. Rings and trees pass once per pod, so each gets
// min(1, domains of the group in a pod / oversubscription) of its NICs' rate, as all groups of a pod do so at once. Of an
// all-to-all or message all that leaves the pod is slowed by the factor.
#pragma once

#include <cstdint>
#include <string>

#include "machine/machine.h"

namespace shardscape {

// What a rank sends in one direction, per level.
struct LinkLoad {
  double scaleup_bytes = 0, nic_bytes = 0;
};

struct CollectiveEstimate {
  double seconds = 0;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::Ring;  // that was chosen
  LinkLoad load;
};

// bytes: of the full buffer (the gathered output, the full input of a reduction, the whole send buffer, the message).
double collective_seconds(const Machine& machine, CollectiveKind kind, double bytes, const GroupSpan& span);
CollectiveEstimate collective_estimate(const Machine& machine, CollectiveKind kind, double bytes, const GroupSpan& span);
// By formula alone, as if nothing had been measured.
CollectiveEstimate collective_formula(const Network& network, CollectiveKind kind, double bytes, const GroupSpan& span);

// Collectives that run at the same time share links. The share of each level's rate that one takes while it runs alone, 0 to 1;
// shares of several add up.
struct LinkShare {
  double scaleup = 0, nic = 0;
  LinkShare& operator+=(const LinkShare& other);
};
LinkShare link_share(const Machine& machine, const CollectiveEstimate& estimate);
// How many times longer one takes while all run (itself among them): by as much as a level that it uses is asked for beyond
// its rate.
double slowdown(const LinkShare& one, const LinkShare& all);

// "measured: ..." or "formula", for people.
std::string collective_basis(const Machine& machine);

}  // namespace shardscape
