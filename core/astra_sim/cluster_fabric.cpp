#include "astra_sim/cluster_fabric.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/units.h"
#include "hardware/scaleup_share.h"

namespace shardscape {
namespace {

constexpr double kNsPerUs = 1e3;

bool is_torus(ScaleupLinks links) { return links == ScaleupLinks::Torus2 || links == ScaleupLinks::Torus3; }

// A leaf switch, by the ranks that meet in it.
using LeafKey = std::tuple<int64_t, int64_t, int64_t>;  // pod, block of ranks in the pod, rail

class FabricBuilder {
 public:
  FabricBuilder(const Network& network, int64_t ranks, int64_t most_links)
      : network_(network), most_links_(static_cast<size_t>(most_links)) {
    out_.ranks = ranks;
    one_domain_ = ranks <= network.domain;
    pooled_ = !one_domain_ && network.domain > 1 && network.links != ScaleupLinks::Mesh &&
              (is_torus(network.links) || domain_shares_leaf());
    add_domains();
    if (!one_domain_) {
      add_leaves();
      if (leaves_.size() > 1) add_spines();
    }
  }

  ClusterFabric take() { return std::move(out_); }

 private:
  struct Leaf {
    int64_t node = 0, ranks = 0;
  };

  int64_t add_switch() {
    ++out_.switches;
    return out_.nodes() - 1;
  }
  void link(int64_t a, int64_t b, double gbps, double latency_ns) {
    if (out_.links.size() < most_links_)
      out_.links.push_back({a, b, gbps, latency_ns});
    else
      out_.too_large = true;
  }

  LeafKey leaf_of(int64_t rank) const {
    const int64_t pod = has_pods(network_, out_.ranks) ? rank / network_.pod : 0;
    const int64_t in_pod = rank - pod * network_.pod;
    const int64_t node = std::max<int64_t>(1, network_.node);
    const int64_t rails = std::clamp<int64_t>(network_.rails, 1, node);
    return {pod, network_.leaf > 0 ? in_pod / network_.leaf : 0, rank % node * rails / node};
  }

  bool domain_shares_leaf() const {
    std::set<std::pair<int64_t, LeafKey>> met;
    for (int64_t rank = 0; rank < out_.ranks; ++rank)
      if (!met.insert({rank / network_.domain, leaf_of(rank)}).second) return true;
    return false;
  }

  void add_domains() {
    for (int64_t first = 0; first < out_.ranks && !out_.too_large; first += network_.domain) {
      const int64_t count = std::min(network_.domain, out_.ranks - first);
      if (network_.domain < 2) continue;
      if (network_.links == ScaleupLinks::Mesh)
        add_mesh(first, count);
      else if (is_torus(network_.links) && one_domain_)
        add_torus(count);
      else
        add_star(first, count);
    }
    if (pooled_ && is_torus(network_.links))
      out_.substitutions.push_back(
          "the torus of a domain is one switch with the rate of all links of a rank, because the path "
          "through NICs has fewer hops than most paths on a torus");
    else if (pooled_)
      out_.substitutions.push_back(
          "the NICs of a domain are links of its scale-up switch, which all its ranks share: a rank can use "
          "more than its own NIC. With NICs at ranks, messages inside a domain would also take them");
  }

  void add_star(int64_t first, int64_t count) {
    const int64_t center = add_switch();
    for (int64_t i = 0; i < count; ++i)
      link(first + i, center, network_.scaleup_gbps, network_.hop.scaleup_us * kNsPerUs / 2);
  }

  double single_link_gbps() const {
    return network_.scaleup_gbps / static_cast<double>(scaleup_links(network_));
  }

  void add_mesh(int64_t first, int64_t count) {
    for (int64_t i = 0; i < count && !out_.too_large; ++i)
      for (int64_t k = i + 1; k < count && !out_.too_large; ++k)
        link(first + i, first + k, single_link_gbps(), network_.hop.scaleup_us * kNsPerUs);
  }

  void add_torus(int64_t count) {
    const int64_t routers = out_.nodes();
    for (int64_t i = 0; i < count; ++i) link(i, add_switch(), network_.scaleup_gbps, 0);
    int64_t stride = 1;
    for (const TorusEdge& edge : torus_edges(network_.links, count, network_.torus_wrap)) {
      for (int64_t i = 0; i < count && !out_.too_large; ++i) {
        const int64_t at = i / stride % edge.ranks;
        // The link of the last rank closes the ring. Two ranks have one link.
        const bool last = at + 1 == edge.ranks;
        if (edge.ranks < 2 || (last && !(edge.closed && edge.ranks > 2))) continue;
        const int64_t next = last ? i - at * stride : i + stride;
        link(routers + i, routers + next, single_link_gbps(), network_.hop.scaleup_us * kNsPerUs);
      }
      stride *= edge.ranks;
    }
  }

  // The node that has the NIC of a rank.
  int64_t nic_node(int64_t rank) const { return pooled_ ? out_.ranks + rank / network_.domain : rank; }

  void add_leaves() {
    std::map<std::pair<int64_t, LeafKey>, int64_t> nics;  // by node and leaf switch
    bool several_rails = false;
    for (int64_t rank = 0; rank < out_.ranks; ++rank) {
      const LeafKey key = leaf_of(rank);
      ++nics[{nic_node(rank), key}];
      ++leaves_[key].ranks;
      several_rails |= std::get<2>(key) > 0;
    }
    for (auto& [key, leaf] : leaves_) leaf.node = add_switch();
    const double inside_us = pooled_ ? network_.hop.scaleup_us : 0;
    const double latency_ns = std::max(0.0, network_.hop.nic_us - inside_us) * kNsPerUs / 2;
    for (const auto& [of, count] : nics)
      link(of.first, leaves_[of.second].node, static_cast<double>(count) * nic_link_gbps(network_),
           latency_ns);
    if (several_rails && !pooled_)
      out_.substitutions.push_back(
          "messages between rails pass a spine switch, because ranks do not forward messages of others "
          "(PXN)");
    if (nic_link_gbps(network_) < network_.nic_gbps)
      out_.substitutions.push_back("the oversubscription of " + significant(network_.oversubscription) +
                                   " between domains is in the rate of each NIC");
  }

  void add_spines() {
    int64_t planes = 1;
    std::map<int64_t, int64_t> pod_ranks;
    for (const auto& [key, leaf] : leaves_) {
      if (network_.leaf > 0) planes = std::max(planes, leaf.ranks);
      pod_ranks[std::get<0>(key)] += leaf.ranks;
    }
    const int64_t spines = out_.nodes(), cores = spines + planes * static_cast<int64_t>(pod_ranks.size());
    for (int64_t i = spines; i < cores; ++i) add_switch();
    for (const auto& [key, leaf] : leaves_)
      for (int64_t plane = 0; plane < planes; ++plane)
        link(leaf.node, spines + std::get<0>(key) * planes + plane,
             nic_link_gbps(network_) * static_cast<double>(network_.leaf > 0 ? 1 : leaf.ranks),
             network_.hop.spine_us * kNsPerUs / 2);
    if (pod_ranks.size() < 2) return;
    for (int64_t plane = 0; plane < planes; ++plane) add_switch();
    for (const auto& [pod, count] : pod_ranks)
      for (int64_t plane = 0; plane < planes; ++plane)
        link(spines + pod * planes + plane, cores + plane,
             network_.nic_gbps * static_cast<double>(count) / network_.oversubscription /
                 static_cast<double>(planes),
             0);
  }

  const Network& network_;
  const size_t most_links_;
  bool one_domain_ = false;
  bool pooled_ = false;  // NICs are links of the scale-up switch
  std::map<LeafKey, Leaf> leaves_;
  ClusterFabric out_;
};

}  // namespace

double nic_link_gbps(const Network& network) {
  const bool each_nic = network.oversubscription > 1 && network.pod > 0 && network.pod <= network.domain;
  return each_nic ? network.nic_gbps / network.oversubscription : network.nic_gbps;
}

bool has_pods(const Network& network, int64_t ranks) {
  return network.oversubscription > 1 && network.pod > network.domain && ranks > network.pod;
}

ClusterFabric cluster_fabric(const Network& network, int64_t ranks, int64_t most_links) {
  return FabricBuilder(network, ranks, most_links).take();
}

}  // namespace shardscape
