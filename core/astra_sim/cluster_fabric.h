// The cluster of a job as a graph: ranks, switches, and the links between them.
//
// - Scale-up domain: a switch with one link per rank; a mesh of direct links; or a torus of one router per
//   rank, because ranks do not forward messages of others.
// - NICs: one link per rank to the leaf switch of its rail, at the rank's share of the NICs of its node.
//   Simulators of packets take the path with the fewest hops. Where two ranks of a domain meet in one leaf
//   switch, that path is as short as the path through the scale-up switch. There the scale-up switch has the
//   NICs, one link per leaf switch with the sum of the rates, and a path between domains is longer.
// - Spines: as many as a leaf switch has ranks, each with one link of a NIC's rate to each leaf switch, so
//   nothing is oversubscribed below them. If the catalogue has no size of leaf switches, a single spine.
// - Pods: the k-th spines of all pods meet in the k-th core switch. The links of a pod have the rate of its
//   NICs, divided by the oversubscription.
//
// The latencies of a path add up to those of the network: scaleup_us inside a domain (per hop on meshes and
// tori), nic_us through one leaf switch, and spine_us more through a spine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hardware/network.h"

namespace shardscape {

struct FabricLink {
  int64_t a = 0, b = 0;  // nodes
  double gbps = 0;       // per direction, 10^9 bytes per second
  double latency_ns = 0;
};

// Nodes are the ranks, then the switches.
struct ClusterFabric {
  int64_t ranks = 0, switches = 0;
  std::vector<FabricLink> links;  // no two between the same nodes; those of scale-up domains first
  std::vector<std::string> substitutions;
  bool too_large = false;  // more than most_links; links is incomplete
  int64_t nodes() const { return ranks + switches; }
};

ClusterFabric cluster_fabric(const Network& network, int64_t ranks, int64_t most_links);

// The rate of a NIC's link. Pods that are no larger than a domain oversubscribe each NIC.
double nic_link_gbps(const Network& network);
// Whether links between pods, each of several domains, are oversubscribed.
bool has_pods(const Network& network, int64_t ranks);

}  // namespace shardscape
