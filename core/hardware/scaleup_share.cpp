#include "hardware/scaleup_share.h"

#include <algorithm>

namespace shardscape {
namespace {

bool torus(const Network& network) {
  return network.links == ScaleupLinks::Torus2 || network.links == ScaleupLinks::Torus3;
}

TorusSides known(const Network& network, int64_t ranks, const TorusSides& sides) {
  return std::any_of(sides.begin(), sides.end(), [](const TorusSide& side) { return side.ranks > 1; })
             ? sides
             : neighbours(network, ranks);
}

// Number of groups that share a link along this dimension.
double crowd(const TorusSide& side) {
  return static_cast<double>(side.reach) / static_cast<double>(side.ranks);
}

bool goes_round(const TorusEdge& edge, const TorusSide& side) {
  return edge.closed && side.reach >= edge.ranks;
}

// The share of a rank's sent data that passes the busiest link.
double busiest(int64_t n, bool ring) {
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
  if (!torus(network))
    return use == LinkUse::Message ? 1 / all : static_cast<double>(std::max<int64_t>(1, ranks - 1)) / all;
  const TorusSides lie = known(network, ranks, sides);
  double links = 0, busy = 0, crowded = 1, n = 1;
  for (size_t i = 0; i < lie.size(); ++i) {
    if (lie[i].ranks < 2) continue;
    const bool ring = goes_round(network.torus[i], lie[i]);
    links += (ring ? 2 : 1) / crowd(lie[i]);
    busy = std::max(busy, busiest(lie[i].ranks, ring) * crowd(lie[i]));
    crowded = std::max(crowded, crowd(lie[i]));
    n *= static_cast<double>(lie[i].ranks);
  }
  if (n < 2) return 1 / all;
  switch (use) {
    case LinkUse::Rings: return links / all;
    case LinkUse::Exchange: return (n - 1) / n / busy / all;
    case LinkUse::Message: return 1 / crowded / all;
  }
  return 1;
}

int64_t ring_hops(const Network& network, int64_t ranks, const TorusSides& sides) {
  if (!torus(network)) return ranks - 1;
  const TorusSides lie = known(network, ranks, sides);
  int64_t hops = 0;
  for (size_t i = 0; i < lie.size(); ++i)
    if (lie[i].ranks > 1)
      hops += goes_round(network.torus[i], lie[i]) ? lie[i].reach / 2
                                                   : lie[i].reach - lie[i].reach / lie[i].ranks;
  return hops;
}

}  // namespace shardscape
