#include "hardware/scaleup_share.h"

#include <algorithm>

namespace shardscape {
namespace {

TorusSides extent_or_neighbours(const Network& network, int64_t ranks, const TorusSides& sides) {
  return std::any_of(sides.begin(), sides.end(), [](const TorusSide& side) { return side.ranks > 1; })
             ? sides
             : neighbours(network, ranks);
}

// Number of groups that share a link along this dimension.
double groups_per_link(const TorusSide& side) {
  return static_cast<double>(side.reach) / static_cast<double>(side.ranks);
}

bool forms_ring(const TorusEdge& edge, const TorusSide& side) {
  return edge.closed && side.reach >= edge.ranks;
}

// The share of a rank's sent data that passes the busiest_link_share link.
double busiest_link_share(int64_t n, bool ring) {
  // Pairs on different sides of the middle.
  const auto crossing = static_cast<double>((n / 2) * ((n + 1) / 2));
  return crossing / static_cast<double>(n) / (ring ? 2 : 1);
}

}  // namespace

int64_t scaleup_links(const Network& network) {
  switch (network.links) {
    case ScaleupLinks::Switch: return 1;
    case ScaleupLinks::Mesh: return std::max(network.peers, network.domain - 1);
    case ScaleupLinks::Torus2: return 4;
    case ScaleupLinks::Torus3: return 6;
  }
  return 1;
}

double scaleup_share(const Network& network, int64_t ranks, const TorusSides& sides, LinkUse use) {
  const auto all = static_cast<double>(scaleup_links(network));
  if (all <= 1) return 1;
  if (!is_torus(network))
    return use == LinkUse::Message ? 1 / all : static_cast<double>(std::max<int64_t>(1, ranks - 1)) / all;
  const TorusSides extent = extent_or_neighbours(network, ranks, sides);
  double links = 0, busy = 0, most_groups = 1, n = 1;
  for (size_t i = 0; i < extent.size(); ++i) {
    if (extent[i].ranks < 2) continue;
    const bool ring = forms_ring(network.torus[i], extent[i]);
    links += (ring ? 2 : 1) / groups_per_link(extent[i]);
    busy = std::max(busy, busiest_link_share(extent[i].ranks, ring) * groups_per_link(extent[i]));
    most_groups = std::max(most_groups, groups_per_link(extent[i]));
    n *= static_cast<double>(extent[i].ranks);
  }
  if (n < 2) return 1 / all;
  switch (use) {
    case LinkUse::Rings: return links / all;
    case LinkUse::Exchange: return (n - 1) / n / busy / all;
    case LinkUse::Message: return 1 / most_groups / all;
  }
  return 1;
}

int64_t ring_hops(const Network& network, int64_t ranks, const TorusSides& sides) {
  if (!is_torus(network)) return ranks - 1;
  const TorusSides extent = extent_or_neighbours(network, ranks, sides);
  int64_t hops = 0;
  for (size_t i = 0; i < extent.size(); ++i)
    if (extent[i].ranks > 1)
      hops += forms_ring(network.torus[i], extent[i]) ? extent[i].reach / 2
                                                      : extent[i].reach - extent[i].reach / extent[i].ranks;
  return hops;
}

}  // namespace shardscape
