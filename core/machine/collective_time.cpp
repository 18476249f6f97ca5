#include "machine/collective_time.h"

#include <algorithm>

namespace shardscape {

// Ring and direct algorithms (Thakur et al., IJHPCA 19(1), 2005): every step costs a latency, the slower level is the bottleneck.
double collective_seconds(const Machine& machine, CollectiveKind kind, double bytes, const GroupSpan& span) {
  if (span.ranks <= 1) return 0;
  const Network& net = machine.network;
  const auto n = static_cast<double>(span.ranks), domains = static_cast<double>(span.domains());
  const double share = (n - 1) / n;
  const bool crosses = span.domains() > 1;
  const double inside = (n - domains) * net.scaleup_latency_us * 1e-6, across = crosses ? domains * net.nic_latency_us * 1e-6 : 0;
  // Rails: each rank of a domain carries its part of what leaves the domain.
  const double rate = crosses ? std::min(net.scaleup_gbps, net.nic_gbps * static_cast<double>(span.per_domain)) * 1e9 : net.scaleup_gbps * 1e9;
  switch (kind) {
    case CollectiveKind::AllReduce: return 2 * (inside + across + share * bytes / rate);
    case CollectiveKind::AllGather:
    case CollectiveKind::ReduceScatter: return inside + across + share * bytes / rate;
    case CollectiveKind::AllToAll: {
      const double leaves = bytes * (1 - 1 / domains) / (net.nic_gbps * 1e9);
      const double stays = bytes * (static_cast<double>(span.per_domain) - 1) / n / (net.scaleup_gbps * 1e9);
      return inside + across + std::max(leaves, stays);
    }
    case CollectiveKind::Broadcast:
    case CollectiveKind::Reduce: return inside + across + bytes / rate;
    case CollectiveKind::SendRecv:
      return crosses ? net.nic_latency_us * 1e-6 + bytes / (net.nic_gbps * 1e9) : net.scaleup_latency_us * 1e-6 + bytes / (net.scaleup_gbps * 1e9);
  }
  return 0;
}

}  // namespace shardscape
