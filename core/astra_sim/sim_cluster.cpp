#include "astra_sim/sim_cluster.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "base/units.h"
#include "hardware/scaleup_share.h"
#include "timing/machine_of.h"

namespace shardscape {
namespace {

constexpr double kNsPerUs = 1e3;
constexpr double kHopsThroughSwitch = 2;

bool power_of_two(int64_t n) { return std::has_single_bit(static_cast<uint64_t>(n)); }

class ClusterDescription {
 public:
  ClusterDescription(const Lowering& lowering, bool flat)
      : lowering_(lowering), network_(machine_of(lowering.report().design).network) {
    const int64_t world = lowering.mesh().ranks();
    if (flat || world == 1)
      one_dimension(world);
    else
      levels(world);
    choose_algorithms();
    if (out_.dimensions.size() > 1) note_multidimensional_messages();
  }

  SimCluster take() { return std::move(out_); }

 private:
  void add(const char* topology, int64_t ranks, double gbps, double hop_us) {
    if (ranks < 2 && !out_.dimensions.empty()) return;
    const bool through_switch = std::string_view(topology) == "Switch";
    out_.dimensions.push_back(
        {topology, ranks, gbps, hop_us * kNsPerUs / (through_switch ? kHopsThroughSwitch : 1), {}, {}});
  }
  void add_nics(int64_t ranks, double share = 1) {
    add("Switch", ranks, network_.nic_gbps / share, network_.hop.nic_us);
  }

  void one_dimension(int64_t world) {
    const bool one_domain = world <= network_.domain;
    if (one_domain) return scaleup_level(world, true);
    add_nics(world, world > network_.pod && network_.pod > 0 ? network_.oversubscription : 1);
    out_.substitutions.push_back(
        "network.yml has one dimension at the rate of the slowest links, because ASTRA-sim's "
        "congestion-aware backend requires one dimension");
  }

  // Ranks per building block of a level. If `limit` does not divide the ranks, the largest divisor below
  // `limit`, and a note.
  int64_t even_part(int64_t ranks, int64_t limit, const char* what) {
    if (ranks <= limit) return ranks;
    const int64_t part = divisor_at_most(ranks, limit);
    if (part != limit)
      out_.substitutions.push_back(std::to_string(ranks) + " ranks do not fill " + what + " of " +
                                   std::to_string(limit) +
                                   " evenly, which ASTRA-sim cannot express; network.yml has " +
                                   std::to_string(ranks / part) + " of " + std::to_string(part));
    return part;
  }

  void levels(int64_t world) {
    const int64_t inside = even_part(world, network_.domain, "scale-up domains");
    if (inside > 1) scaleup_level(inside, false);
    const int64_t domains = world / inside;
    if (network_.leaf > 0 && world > network_.leaf && network_.hop.spine_us > 0)
      out_.substitutions.push_back(
          "latencies are those of one leaf switch: a dimension cannot express the additional " +
          significant(network_.hop.spine_us) + " us of a path over a spine switch");
    if (network_.pod <= 0 || network_.oversubscription <= 1 || world <= network_.pod)
      return add_nics(domains);
    const int64_t in_pod = even_part(domains, std::max<int64_t>(1, network_.pod / inside),
                                     "pods, counted in scale-up domains,");
    if (in_pod > 1) add_nics(in_pod);
    add_nics(domains / in_pod, network_.oversubscription);
  }

  void scaleup_level(int64_t ranks, bool flat) {
    switch (network_.links) {
      case ScaleupLinks::Switch: return add("Switch", ranks, network_.scaleup_gbps, network_.hop.scaleup_us);
      case ScaleupLinks::Mesh: return add("FullyConnected", ranks, link_gbps(), network_.hop.scaleup_us);
      case ScaleupLinks::Torus2:
      case ScaleupLinks::Torus3: return torus(ranks, flat);
    }
  }

  double link_gbps() const { return network_.scaleup_gbps / static_cast<double>(scaleup_links(network_)); }

  // A closed torus dimension has the rate of both directions. An open dimension is a line; it is described as
  // a ring at the rate of one link.
  void torus(int64_t ranks, bool flat) {
    if (flat) return add("Ring", ranks, 2 * link_gbps(), network_.hop.scaleup_us);
    bool lines = false;
    for (const TorusEdge& edge : torus_edges(network_.links, ranks, network_.torus_wrap)) {
      if (edge.ranks < 2) continue;
      add("Ring", edge.ranks, (edge.closed ? 2 : 1) * link_gbps(), network_.hop.scaleup_us);
      lines |= !edge.closed && edge.ranks > 2;
    }
    if (lines)
      out_.substitutions.push_back(
          "dimensions of the torus that are not closed in a job of this size are described as rings at the "
          "rate of one link");
  }

  bool halving_fits(const SimDimension& dimension) const {
    if (dimension.topology != "Switch" || !power_of_two(dimension.ranks)) return false;
    // In a single dimension, groups smaller than the job use the same algorithm.
    for (int role = 0; role < static_cast<int>(lowering_.roles().size()) && out_.dimensions.size() == 1;
         ++role)
      if (!power_of_two(lowering_.role_size(role))) return false;
    return true;
  }

  void choose_algorithms() {
    std::string wanted;
    for (SimDimension& d : out_.dimensions) {
      const bool switched = d.topology == "Switch";
      // A switch takes one message of a rank at a time; the links of a mesh take all messages at once.
      d.all_to_all = switched ? "direct1" : d.topology == "FullyConnected" ? "direct" : "ring";
      d.reduction = d.topology == "FullyConnected" ? "direct" : "ring";
      switch (network_.algorithm) {
        case CollectiveAlgorithm::HalvingDoubling:
          if (halving_fits(d))
            d.reduction = "halvingDoubling";
          else
            wanted = "halving-doubling, which needs powers of two on a switch";
          break;
        case CollectiveAlgorithm::Direct:
          if (switched) d.reduction = "direct1";
          break;
        case CollectiveAlgorithm::Tree:
          wanted = "tree, which ASTRA-sim supports for the whole job only";
          break;
        case CollectiveAlgorithm::InNetwork:
          wanted = "in-network reduction, which ASTRA-sim does not support";
          break;
        case CollectiveAlgorithm::Auto:
        case CollectiveAlgorithm::Ring:
        case CollectiveAlgorithm::Hierarchical: break;
      }
    }
    if (!wanted.empty()) out_.substitutions.push_back("collectives run as rings instead of " + wanted);
  }

  // Whether ranks a and b differ in several dimensions; the simulator charges only the first of them.
  bool differs_in_several_dimensions(int64_t a, int64_t b) const {
    int differing = 0;
    for (const SimDimension& d : out_.dimensions) {
      differing += a % d.ranks != b % d.ranks;
      a /= d.ranks;
      b /= d.ranks;
    }
    return differing > 1;
  }

  bool ring_crosses_dimensions(const std::vector<int64_t>& ranks) const {
    for (size_t i = 0; i < ranks.size(); ++i)
      if (differs_in_several_dimensions(ranks[i], ranks[(i + 1) % ranks.size()])) return true;
    return false;
  }

  void note_multidimensional_messages() {
    const DeviceMesh& mesh = lowering_.mesh();
    std::string names;
    const auto name = [&](const std::string& text) { names += (names.empty() ? "" : ", ") + text; };
    for (int role = 0; role < static_cast<int>(lowering_.roles().size()); ++role) {
      // the job's own group runs dimension by dimension
      if (lowering_.role_size(role) == mesh.ranks()) continue;
      const GroupRole& of = lowering_.roles()[static_cast<size_t>(role)];
      bool found = false;
      for (int64_t rank = 0; rank < mesh.ranks() && !found; ++rank) {
        const bool first = std::all_of(of.axes.begin(), of.axes.end(),
                                       [&](MeshAxis a) { return mesh.coordinate(rank, a) == 0; });
        found = first && ring_crosses_dimensions(role_group(mesh, of, rank));
      }
      if (found) name(of.axes.empty() ? "pairs of stages" : group_name(of.axes));
    }
    const auto neighbours = [&](MeshAxis axis) {
      for (int64_t rank = 0; rank < mesh.ranks() && mesh.degree(axis) > 1; ++rank)
        if (differs_in_several_dimensions(
                rank, mesh.with(rank, axis, (mesh.coordinate(rank, axis) + 1) % mesh.degree(axis))))
          return true;
      return false;
    };
    if (neighbours(MeshAxis::Pp)) name("messages between stages");
    for (const MeshAxis ring : ring_axes(lowering_.report().graph().structure))
      if (neighbours(ring)) name("messages of rings");
    if (!names.empty())
      out_.substitutions.push_back(
          "ASTRA-sim charges a message between ranks that differ in several dimensions to the first and "
          "fastest of these dimensions, so some hops are too cheap in: " +
          names);
    if (exchanges_in_parts())
      out_.substitutions.push_back(
          "in networks of several dimensions ASTRA-sim runs the all-to-alls of groups smaller than the job "
          "as a ring, where each byte passes n/2 links; a flat network exchanges directly, at the rate of "
          "its slowest links");
  }

  bool exchanges_in_parts() const {
    for (const Segment& segment : lowering_.report().graph().segments)
      for (const Op& op : segment.ops) {
        const int role = op.kind == OpKind::AllToAll ? lowering_.role_of(redistribution(op).group) : -1;
        if (role >= 0 && lowering_.role_size(role) > 2 &&
            lowering_.role_size(role) < lowering_.mesh().ranks())
          return true;
      }
    return false;
  }

  const Lowering& lowering_;
  const Network network_;
  SimCluster out_;
};

}  // namespace

SimCluster sim_cluster(const Lowering& lowering, bool flat) {
  return ClusterDescription(lowering, flat).take();
}

}  // namespace shardscape
