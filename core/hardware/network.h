// The network between accelerators, and the span of a group of ranks on it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/collective_kind.h"
#include "mesh/mesh.h"

namespace shardscape {

class CollectiveTable;

// The topology of a scale-up domain. scaleup_share.h gives the share of the links that a group can use.
enum class ScaleupLinks : uint8_t {
  Switch,  // one link per rank, to switches
  Mesh,    // one link to every other rank
  Torus2,
  Torus3  // links to the neighbours along two or three dimensions
};

// One dimension of a torus. closed: a link joins its last rank to its first rank, which makes the dimension a
// ring; otherwise it is a line.
struct TorusEdge {
  int64_t ranks = 1;
  bool closed = false;
  friend bool operator==(const TorusEdge&, const TorusEdge&) = default;
};
inline constexpr size_t kTorusEdges = 3;
// The first dimension runs along consecutive ranks. Unused dimensions have one rank.
using TorusEdges = std::array<TorusEdge, kTorusEdges>;
// The torus of a domain, as near to a square or cube as its ranks allow. wrap: a dimension is closed if its
// ranks are a multiple of wrap; of three dimensions, all must be, because optical switches join the faces of
// whole cubes (jax-ml/scaling-book, tpus.md @04d8de5). wrap = 0: a dimension is closed from three ranks on.
TorusEdges torus_edges(ScaleupLinks links, int64_t ranks, int64_t wrap);
// The largest divisor of `number` that is at most `limit`; at least 1.
int64_t divisor_at_most(int64_t number, int64_t limit);

// The part of a torus dimension that a group covers: `ranks` coordinates within a range of `reach`
// coordinates. The other ranks in this range belong to other groups of the same kind.
struct TorusSide {
  int64_t ranks = 1, reach = 1;
  friend bool operator==(const TorusSide&, const TorusSide&) = default;
};
using TorusSides = std::array<TorusSide, kTorusEdges>;

// Algorithms of collectives. A collective that an algorithm does not support (such as a gather by tree) runs
// as Auto.
enum class CollectiveAlgorithm : uint8_t {
  Auto,             // the fastest of NCCL's algorithms
  Ring,             // over all ranks; across domains one ring per rank of a domain, each on its own rail
  Tree,             // double binary trees across domains, chains inside
  HalvingDoubling,  // recursive halving, then doubling; for gathers also NCCL's PAT
  Hierarchical,     // reduce-scatter inside, all-reduce across, all-gather inside
  InNetwork,        // switches reduce: NVLink SHARP inside, SHARP across
  Direct            // every rank exchanges with every other rank at once
};
inline constexpr int kCollectiveAlgorithmCount = 7;
std::string_view algorithm_name(CollectiveAlgorithm algorithm);  // "halving-doubling"

// Latency of one hop of a small message in microseconds, as a collective library sees it: the work per step
// in NCCL's LL protocol, and the latency of the links. The defaults are NCCL's constants, measured over
// NVLink and over one InfiniBand switch (NVIDIA/nccl, src/graph/tuning.cc @5067397, hwLatencies of rings).
struct HopLatency {
  // Inside a scale-up domain.
  double scaleup_us = 0.6;
  double nic_us = 2.7;  // between domains, through one leaf switch
  double spine_us = 0;  // additional latency of a path through spine switches
  friend bool operator==(const HopLatency&, const HopLatency&) = default;
};

// The most CTAs that NCCL may give to one collective of a group (max_ctas of ncclConfig_t; Megatron's
// --nccl-communicator-config-path). A CTA runs one channel. 0: NCCL chooses.
struct CtaLimits {
  int64_t tp = 0, cp = 0, dp = 0;  // dp: all groups of gradients and parameters
  friend bool operator==(const CtaLimits&, const CtaLimits&) = default;
};

// A network of two levels: the scale-up domain (NVLink), and the network between domains through NICs.
struct Network {
  int64_t domain = 8;         // ranks per scale-up domain
  int64_t node = 8;           // ranks per node, which share the node's NICs
  double scaleup_gbps = 450;  // per rank and direction, 10^9 bytes per second
  double nic_gbps = 50;  // per rank and direction, 10^9 bytes per second: the rank's share of its node's NICs
  HopLatency hop;
  HopLatency measured_hop;  // of the links on which `measured` was measured
  double launch_us = 6.6;   // of every collective, before its first byte moves
  // Shares of the link rates that a large unmeasured collective reaches.
  double scaleup_efficiency = 0.7;
  double nic_efficiency = 0.93;
  int64_t rails = 8;  // NICs per node, each with its own leaf switch; 1: all NICs share one leaf switch
  int64_t leaf = 0;   // ranks whose rails meet in one leaf switch; 0: all
  int64_t pod = 0;    // ranks below the oversubscribed level; 0: all
  double oversubscription = 1;  // bandwidth below the oversubscribed level / bandwidth of its uplinks
  ScaleupLinks links = ScaleupLinks::Switch;
  int64_t peers = 0;        // mesh: devices that a device has links to, if more than the domain's other ranks
  int64_t torus_wrap = 0;   // the parameter `wrap` of torus_edges()
  TorusEdges torus{};       // of the domain, or of the slice that a job gets
  bool nvls = false;        // scale-up switches can reduce (NVLink SHARP)
  bool sharp = false;       // switches between domains can reduce
  double channel_gbps = 0;  // most that one CTA of NCCL moves, 10^9 bytes per second; 0: no limit known
  CtaLimits max_ctas{};
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::Auto;
  const CollectiveTable* measured = nullptr;  // measured collectives on these links; static lifetime
  std::string name;                           // name in the catalogue; empty: not in the catalogue
};

// The span of a group of ranks on the network.
struct GroupSpan {
  int64_t ranks = 1;
  int64_t per_domain = 1;       // fewest ranks of the group in any of its domains
  int64_t domain_count = 0;     // number of domains; 0: ranks / per_domain
  int64_t most_per_domain = 0;  // most ranks of the group in any domain; 0: per_domain, all domains are equal
  int64_t pods = 1;             // number of pods; links between pods are oversubscribed
  int64_t leaf_switches = 1;    // number of leaf switches along a rail
  // Whether the ranks have different positions in their nodes or domains, and therefore different rails.
  bool crosses_rails = false;
  TorusSides torus{};    // extent on the torus of a domain, if it is one
  int64_t max_ctas = 0;  // of the group's communicator; 0: NCCL chooses
  int64_t domains() const { return domain_count > 0 ? domain_count : ranks / per_domain; }
  bool even() const { return per_domain * domains() == ranks; }
  friend bool operator==(const GroupSpan&, const GroupSpan&) = default;
};

// The span of ranks in any order; a single rank yields the default span. pod, leaf, node: as in Network. node
// has an effect only if a node holds several domains.
GroupSpan span_of(const std::vector<int64_t>& ranks, int64_t domain, int64_t pod = 0, int64_t leaf = 0,
                  int64_t node = 0);
// The span of the slowest group along the axes, because its replicas wait for it. The slowest group has the
// fewest ranks in some domain, and among equals the most domains. pods and leaf_switches are the maximum over
// all groups; crosses_rails is true if any group crosses rails. Computed from the strides of the mesh without
// an enumeration of ranks, except for expert groups that are no product of mesh axes.
GroupSpan span_of(const DeviceMesh& mesh, const MeshAxes& axes, int64_t domain, int64_t pod = 0,
                  int64_t leaf = 0, int64_t node = 0);
GroupSpan span_of(const DeviceMesh& mesh, const MeshAxes& axes, const Network& network);
GroupSpan span_of(const std::vector<int64_t>& ranks, const Network& network);
bool is_torus(const Network& network);  // whether its scale-up domains are tori
// The extent of `ranks` consecutive ranks from the first rank of the torus on.
TorusSides neighbours(const Network& network, int64_t ranks);

}  // namespace shardscape
