// Links between accelerators, and what of them a group of ranks spans.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/mesh.h"

namespace shardscape {

class CollectiveTable;

// How the ranks of a scale-up domain are joined; what of its links a group can use, scaleup_share.h says.
enum class ScaleupLinks : uint8_t {
  Switch,        // one link per rank, to switches
  Mesh,          // links of its own to every other rank
  Torus2, Torus3 // to its neighbours along two or three dimensions
};

// A dimension of a torus. closed: its last rank has a link to its first, which is not the one between neighbours.
struct TorusEdge {
  int64_t ranks = 1;
  bool closed = false;
  friend bool operator==(const TorusEdge&, const TorusEdge&) = default;
};
inline constexpr size_t kTorusEdges = 3;
using TorusEdges = std::array<TorusEdge, kTorusEdges>;  // the first along neighbouring ranks; those that are missing have one rank
// As near to a square or cube as the ranks allow. wrap: what closes a dimension: it is a multiple of that many ranks, and of three
// dimensions all are, as optical switches join the faces of whole cubes (jax-ml/scaling-book, tpus.md @04d8de5); 0: three ranks.
TorusEdges torus_edges(ScaleupLinks links, int64_t ranks, int64_t wrap);
int64_t divisor_at_most(int64_t number, int64_t limit);

// What of a dimension a group has: so many coordinates, spread over so many. All other ranks between them belong to groups like it.
struct TorusSide {
  int64_t ranks = 1, reach = 1;
  friend bool operator==(const TorusSide&, const TorusSide&) = default;
};
using TorusSides = std::array<TorusSide, kTorusEdges>;

enum class CollectiveKind : uint8_t { AllReduce, AllGather, ReduceScatter, AllToAll, Broadcast, Reduce, SendRecv };
inline constexpr int kCollectiveKindCount = 7;

// How a collective runs. What an algorithm cannot do (a tree gathers nothing) runs as Auto.
enum class CollectiveAlgorithm : uint8_t {
  Auto,             // the fastest of those that NCCL offers
  Ring,             // over all ranks; across domains one ring per rank of a domain, each on its own rail
  Tree,             // double binary trees across domains, chains inside
  HalvingDoubling,  // recursive halving, then doubling; of gathers also NCCL's PAT
  Hierarchical,     // reduce-scatter inside, all-reduce across, all-gather inside
  InNetwork,        // switches add up: NVLink SHARP inside, SHARP across
  Direct            // every rank exchanges with every other at once
};
inline constexpr int kCollectiveAlgorithmCount = 7;
std::string_view algorithm_name(CollectiveAlgorithm algorithm);  // "halving-doubling"

// Microseconds of one hop of a small message, as a collective library sees it: what it does per step (its LL protocol) and what the
// links take. The defaults are NCCL's own constants, measured over NVLink and over one InfiniBand switch (NVIDIA/nccl,
// src/graph/tuning.cc @5067397, hwLatencies of rings).
struct HopLatency {
  double scaleup_us = 0.6;
  double nic_us = 2.7;    // between domains, over one leaf switch
  double spine_us = 0;    // more where the way leads over switches above the leaves
  friend bool operator==(const HopLatency&, const HopLatency&) = default;
};

// Two levels: a scale-up domain (NVLink), and the network between domains through NICs.
struct Network {
  int64_t domain = 8;               // ranks of one scale-up domain
  int64_t node = 8;                 // ranks that share a node, and its NICs
  double scaleup_gbps = 450;        // per rank and direction, 10^9 bytes per second
  double nic_gbps = 50;             // likewise, of the rank's share of its node's NICs
  HopLatency hop;
  HopLatency measured_hop;          // of the links that `measured` is of
  double launch_us = 6.6;           // of any collective, before its first byte moves
  double scaleup_efficiency = 0.7;  // of the links' rate that a large collective reaches where nothing was measured
  double nic_efficiency = 0.93;
  int64_t rails = 8;                // NICs of a node that go to leaf switches of their own; 1: all to the same
  int64_t leaf = 0;                 // ranks that reach each other along their rails over one leaf switch; 0: all
  int64_t pod = 0;                  // ranks that reach each other without the oversubscribed level; 0: all
  double oversubscription = 1;      // bandwidth below that level over the bandwidth of its links upwards
  ScaleupLinks links = ScaleupLinks::Switch;
  int64_t peers = 0;                // of a mesh: devices that a device has links to, where a domain has fewer
  int64_t torus_wrap = 0;           // as torus_edges() takes it
  TorusEdges torus{};               // of the domain, or of the part of it that a job is given
  bool nvls = false;                // switches of a scale-up domain add up (NVLink SHARP)
  bool sharp = false;               // so do those between domains
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::Auto;
  const CollectiveTable* measured = nullptr;  // of collectives on such links; lives as long as the program
  std::string name;                 // of the catalogue; empty: made up
};

// A group of ranks as the network sees it.
struct GroupSpan {
  int64_t ranks = 1;
  int64_t per_domain = 1;           // of the group in the scale-up domain that holds fewest of it
  int64_t touched = 0;              // domains; 0: ranks / per_domain
  int64_t fullest = 0;              // of the group in the domain that holds most; 0: per_domain, all hold as many
  int64_t pods = 1;                 // parts of the network between which links are oversubscribed
  int64_t leaves = 1;               // of leaf switches, along a rail
  bool unlike = false;              // its ranks stand in unlike places of their nodes or domains, so on unlike rails
  TorusSides torus{};               // of a domain that is one
  int64_t domains() const { return touched > 0 ? touched : ranks / per_domain; }
  bool even() const { return per_domain * domains() == ranks; }
  friend bool operator==(const GroupSpan&, const GroupSpan&) = default;
};

// Of ranks in any order; 1-rank groups span nothing. pod, leaf, node: as in Network; of nodes only those matter that hold several domains.
GroupSpan span_of(const std::vector<int64_t>& ranks, int64_t domain, int64_t pod = 0, int64_t leaf = 0, int64_t node = 0);
// Of the slowest group along axes, for which its replicas wait: the one with the fewest ranks in some domain, and of these
// with the most domains; pods and leaves are the most of any group, and any that stands on unlike rails is enough. From the
// mesh's strides, without enumerating ranks, unless a group of experts is no product of mesh axes.
GroupSpan span_of(const DeviceMesh& mesh, const MeshAxes& axes, int64_t domain, int64_t pod = 0, int64_t leaf = 0, int64_t node = 0);
GroupSpan span_of(const DeviceMesh& mesh, const MeshAxes& axes, const Network& network);
GroupSpan span_of(const std::vector<int64_t>& ranks, const Network& network);
// How ranks from the first of a torus on lie.
TorusSides neighbours(const Network& network, int64_t ranks);

}  // namespace shardscape
