#include "serving/engine/kv_link.h"

#include <algorithm>

#include "performance/collective_time.h"
#include "timing/machine_of.h"

namespace shardscape {
namespace {

struct Port {
  double rate = 0, latency = 0;  // bytes per second of all ranks, seconds
};

Port port_of(const Design& design) {
  const Machine machine = without_nccl_messages(machine_of(design));  // RDMA by NIXL or Mooncake
  const Network& network = machine.network;
  const GroupSpan span = span_of({0, std::max(network.domain, network.node)}, network);
  const auto seconds = [&](double bytes) {
    return collective_seconds(machine, CollectiveKind::SendRecv, bytes, span);
  };
  constexpr double kLarge = 1 << 28;  // from there on the rate decides
  const double rate = kLarge / (seconds(2 * kLarge) - seconds(kLarge));
  const auto ranks = static_cast<double>(design.world() / std::max<int64_t>(1, design.parallel.dp));
  return {rate * ranks, seconds(1)};
}

}  // namespace

KvLink kv_link(const Design& prefill, const Design& decode) {
  const Port from = port_of(prefill), to = port_of(decode);
  return {from.rate, to.rate, std::max(from.latency, to.latency)};
}

}  // namespace shardscape
