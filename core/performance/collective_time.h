// Seconds of a collective over the links that its group spans.
//
// Notation: n ranks in D scale-up domains, g ranks in each domain, S bytes of the full buffer. A collective
// costs a launch, hops, and the bytes that a rank sends on its scale-up links and through its NIC. Both
// levels are busy at the same time, so the fuller level decides.
// - Ring: 2(n-1) hops, 2D of them through NICs. 2(n-1)/n·S on the links; 1/g of that through each of g NICs
//   (one ring per rail). Gathers and reduce-scatters take half (Thakur et al., IJHPCA 19(1), 2005;
//   nccl-tests, doc/PERFORMANCE.md @a0b82b2). A broadcast or reduction takes n-1 hops and S, pipelined.
// - Tree: 2(g-1 + log2 D) hops, 2S on the links, 2(D-1)/D·S/g through NICs, 0.92 of the bandwidth (double
//   binary trees; NVIDIA/nccl, src/graph/tuning.cc @5067397).
// - Halving-doubling: 2·log2 n hops, the ring's bytes inside, 2(D-1)/D·S/g through NICs, one level after the
//   other (Thakur et al.). Gathers take half; this is NCCL's PAT where D = n.
// - Hierarchical: reduce-scatter inside, ring of one rank per domain across, all-gather inside, pipelined in
//   chunks (BlueConnect, MLSys 2019).
// - In-network: S on the links once each way. Through NICs S/g with SHARP, otherwise as the tree (NCCL's
//   NVLSTree). Gathers and reduce-scatters move S on the links one way, and (D-1)/D·S/g through NICs, where
//   they need SHARP (NCCL 2.27: updateCollCostTable of src/enqueue.cc; NVLS with CollNet). Their bytes are
//   those of a ring, and they save its hops.
// - Direct: one hop and a small time per peer. All-to-all: S(g-1)/n on the links, S(n-g)/n through the NIC.
//
// Links: the bytes above move at the full rate of a device. If links lead to single neighbours, a group uses
// only some of the links (scaleup_share.h). On a torus, rings take fewer hops, and links also forward the
// exchanges of other ranks.
//
// Protocols: hop latency and reachable bandwidth depend on NCCL's protocols LL, LL128 and Simple, with the
// constants of tuning.cc. The fastest protocol counts. If a network has higher latency than the links of
// these constants, each hop takes the difference longer, as NCCL adds a network's own latency (latencyInter).
// A hop between leaf switches also pays the spine: a ring for the leaf switches that it touches, a tree for
// log2 of them.
//
// Rails: each NIC of a node has its own leaf switch; a spine joins the leaf switches. Ranks at
// equal positions of their nodes meet on one rail. Traffic to a different position first goes over the links
// to the rank on the receiver's rail, one more hop (PXN, NCCL 2.12). This concerns all parts of an all-to-all
// except one in as many as there are rails, and all traffic of a group that lies unevenly on nodes. If the
// links of a domain do not reach all NICs of a node, such traffic goes over the spine.
//
// Measurements: if the collective was measured on such links (collective_table.h), the measured curve counts.
// Sizes and numbers of ranks are interpolated in logarithms. Beyond the largest group, the ratio of the
// formulas scales the time. Links of another rate move bytes faster or slower by the ratio; hops cost the
// same.
//
// Inference: engines run small all-reduces inside a domain with kernels of their own. One-shot: every rank
// reads the buffers of all others. Two-shot: every rank sums its part, then reads the parts of the others
// (vLLM, csrc/custom_all_reduce.cuh). Where the kernels were measured with as many ranks, the faster of
// kernel and NCCL counts. The load is that of the two-shot kernel. A forced algorithm excludes the kernels.
//
// CTAs: a channel of NCCL is one CTA, which moves Network::channel_gbps on a ring (perChMaxRingLL128Bws of
// tuning.cc). With a limit of CTAs, a gather, reduction or broadcast takes at least the bytes that a rank
// sends / (CTAs · channel_gbps).
//
// Messages between domains: NCCL sends to a peer on 2 channels, or on 1 if the communicator has more than
// twice as many ranks as its 16 channels (NVIDIA/nccl 2.28.9, src/graph/paths.cc, ncclTopoGetNchannels: 2n >
// 4 channels). NCCL 2.29 plans a channel for each 14 GB/s of the NIC (P2P_PER_CHANNEL_NET_BW): NICs above 50
// GB/s get these channels, which do not limit them. Groups of 8 peers of a domain share these channels
// (src/include/channel.h, ncclP2pChannelBaseForRound). A channel moves 18.3 GB/s (NVIDIA/nccl issue 1272:
// GH200, NCCL 2.20.5, one channel; with several the line rate). So an all-to-all over two domains and a
// message take at least their bytes between domains / (2 · 18.3 GB/s) with NICs of up to 50 GB/s. Messages
// above 16 KiB have the latencies of Simple (P2P_LL_THRESHOLD of src/enqueue.cc). This holds where
// Network::channel_gbps is set, and not for kernels that replace NCCL's exchanges (DeepEP).
//
// Oversubscription: pods share the links above them. Rings and trees pass once per pod. Each gets min(1,
// domains of the group in a pod / oversubscription) of its NICs' rate, because all groups of a pod send at
// once. For an all-to-all or a message, the factor slows all traffic that leaves the pod.
#pragma once

#include <cstdint>
#include <string>

#include "performance/machine.h"

namespace shardscape {

// Bytes that a rank sends in one direction, per level.
struct LinkLoad {
  double scaleup_bytes = 0, nic_bytes = 0;
};

struct CollectiveEstimate {
  double seconds = 0;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::Ring;  // the chosen algorithm
  LinkLoad load;
};

// bytes: of the full buffer (gathered output, full input of a reduction, whole send buffer, or message). A
// group of one rank takes 0 seconds.
double collective_seconds(const Machine& machine, CollectiveKind kind, double bytes, const GroupSpan& span);
CollectiveEstimate collective_estimate(const Machine& machine, CollectiveKind kind, double bytes,
                                       const GroupSpan& span);
// The estimate by formulas only, without measurements.
CollectiveEstimate collective_formula(const Network& network, CollectiveKind kind, double bytes,
                                      const GroupSpan& span);

// The machine for messages that kernels other than NCCL's send.
Machine without_nccl_messages(Machine machine);

// The share of each level's rate that a collective takes while it runs alone, 0 to 1. Shares of concurrent
// collectives add up, because they share links.
struct LinkShare {
  double scaleup = 0, nic = 0;
  LinkShare& operator+=(const LinkShare& other);
  bool operator==(const LinkShare&) const = default;
};
LinkShare link_share(const Machine& machine, const CollectiveEstimate& estimate);
// The factor, at least 1, by which a collective takes longer while all collectives run, itself included: the
// largest sum of shares over the levels that it uses.
double slowdown(const LinkShare& one, const LinkShare& all);

// Bus bandwidth / (bytes of the full buffer / seconds), as nccl-tests define it: the rate of the links that
// moves the bytes which a rank has to send in any case (nccl-tests, doc/PERFORMANCE.md @a0b82b2). All-reduce:
// 2(n-1)/n; all-gather, reduce-scatter and all-to-all: (n-1)/n; broadcast, reduce and messages: 1.
double bus_factor(CollectiveKind kind, int64_t ranks);

// The origin of collective times, as text: "measured: ..." or "formulas; ...".
std::string collective_basis(const Machine& machine);

}  // namespace shardscape
