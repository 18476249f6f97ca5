#include "design/cluster.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "base/units.h"
#include "performance/collective_table.h"

namespace shardscape {

const NetworkEntry* catalogue_network(const ClusterSpec& cluster) {
  return cluster.network == "auto" ? default_network(cluster.accelerator) : find_network(cluster.network);
}

namespace {

double thousandths(int64_t value) { return static_cast<double>(value) / 1000; }

Accelerator changed(const Accelerator& base, const ClusterSpec& cluster) {
  Accelerator out = base;
  std::string changes;
  const auto change = [&](int64_t value, double& field, const char* unit) {
    if (value <= 0) return;
    field = static_cast<double>(value);
    changes += (changes.empty() ? "" : ", ") + grouped(value) + " " + unit;
  };
  change(cluster.peak_tflops, out.bf16_tflops, "TFLOP/s");
  for (double* narrower : {&out.fp8_tflops, &out.fp4_tflops, &out.int8_tops})
    *narrower *= out.bf16_tflops / base.bf16_tflops;
  change(cluster.memory_capacity, out.memory_gb, "GB");
  if (cluster.memory_capacity > 0) {
    out.memory_bytes = cluster.memory_capacity << 30;
    out.device_bytes = 0;
  }
  change(cluster.memory_bandwidth, out.memory_gbps, "GB/s");
  if (!changes.empty()) out.name += " (" + changes + ")";
  if (cluster.board_power > 0) out.board_watts = static_cast<double>(cluster.board_power);
  if (cluster.price_per_hour > 0) out.price_per_hour = thousandths(cluster.price_per_hour);
  return out;
}

}  // namespace

std::shared_ptr<const Accelerator> accelerator_of(const ClusterSpec& cluster) {
  const Accelerator* base = find_accelerator(cluster.accelerator);
  const bool as_sold = cluster.peak_tflops <= 0 && cluster.memory_capacity <= 0 &&
                       cluster.memory_bandwidth <= 0 && cluster.board_power <= 0 &&
                       cluster.price_per_hour <= 0;
  if (!base || as_sold) return unowned(base);
  return std::make_shared<const Accelerator>(changed(*base, cluster));
}

Operation operation_of(const ClusterSpec& cluster) {
  Operation out;
  if (const auto accelerator = accelerator_of(cluster)) {
    out.price_per_hour = accelerator->price_per_hour;
    out.board_watts = accelerator->board_watts;
  }
  const auto given = [](double value) { return Range{value, value, value}; };
  out.host_watts = cluster.host_power > 0 ? static_cast<double>(cluster.host_power)
                                          : kPublishedHostShare * out.board_watts;
  if (cluster.pue > 0) out.pue = thousandths(cluster.pue);
  if (cluster.failure_rate > 0) out.failure_rate = given(thousandths(cluster.failure_rate));
  if (cluster.restart_time > 0) out.restart_seconds = given(static_cast<double>(cluster.restart_time));
  if (cluster.checkpoint_bandwidth > 0) out.checkpoint_gbps = thousandths(cluster.checkpoint_bandwidth);
  return out;
}

int64_t world_at_most(const Design& design, int64_t limit) {
  int64_t ranks = 1;
  for (int64_t degree : {design.parallel.tp, design.parallel.pp, design.parallel.dp, design.parallel.cp})
    if (degree > 1 && (__builtin_mul_overflow(ranks, degree, &ranks) || ranks > limit)) return limit;
  return ranks;
}

int64_t scaleup_domain(const Design& design) {
  const ClusterSpec& cluster = design.cluster;
  if (cluster.scaleup_domain > 0) return cluster.scaleup_domain;
  const NetworkEntry* entry = catalogue_network(cluster);
  if (!entry || entry->domain <= cluster.gpus_per_node) return cluster.gpus_per_node;
  return entry->segment > 0 && world_at_most(design, entry->domain + 1) > entry->domain ? entry->segment
                                                                                        : entry->domain;
}

void follow_node_size(ClusterSpec& cluster, const ClusterSpec& before) {
  const NetworkEntry *now = catalogue_network(cluster), *then = catalogue_network(before);
  const int64_t size = then ? then->gpus_per_node : ClusterSpec{}.gpus_per_node;
  if (now && now != then && cluster.gpus_per_node == size) cluster.gpus_per_node = now->gpus_per_node;
}

Network network_of(const Design& design) {
  const ClusterSpec& cluster = design.cluster;
  const Accelerator* accelerator = find_accelerator(cluster.accelerator);
  Network net;
  const auto first = [](double& out, std::initializer_list<double> values) {
    for (double value : values)
      if (value > 0) {
        out = value;
        return;
      }
  };
  NetworkEntry entry;
  if (const NetworkEntry* known = catalogue_network(cluster)) entry = *known;
  net.name = entry.name;
  net.domain = scaleup_domain(design);
  first(net.scaleup_gbps, {static_cast<double>(cluster.scaleup_bandwidth), entry.scaleup_gbps,
                           accelerator ? accelerator->scaleup_gbps : 0});
  constexpr double kBitsPerByte = 8;
  first(net.nic_gbps, {static_cast<double>(cluster.nic_bandwidth) / kBitsPerByte, entry.nic_gbps,
                       accelerator ? accelerator->nic_gbps : 0});
  constexpr double kUsPerNs = 1e-3;
  first(net.launch_us, {entry.launch_us});
  first(net.hop.scaleup_us, {entry.scaleup_latency_us});
  first(net.hop.nic_us, {entry.nic_latency_us});
  first(net.hop.spine_us, {entry.spine_latency_us});
  net.measured_hop = net.hop;
  first(net.hop.scaleup_us, {static_cast<double>(cluster.scaleup_latency) * kUsPerNs});
  first(net.hop.nic_us, {static_cast<double>(cluster.network_latency) * kUsPerNs});
  first(net.hop.spine_us, {static_cast<double>(cluster.spine_latency) * kUsPerNs});
  first(net.scaleup_efficiency, {entry.scaleup_efficiency});
  first(net.nic_efficiency, {entry.nic_efficiency});
  net.node = cluster.gpus_per_node;
  const int64_t usual = entry.rails > 0 ? entry.rails : net.node;  // one NIC per GPU of a node
  net.rails = cluster.rails > 0 ? cluster.rails : usual;
  // A leaf switch has the same number of ports for any number of rails. Fewer rails reach fewer nodes per
  // leaf switch.
  if (entry.leaf > 0) net.leaf = std::max(net.node, entry.leaf * net.rails / usual / net.node * net.node);
  first(net.oversubscription, {static_cast<double>(cluster.oversubscription) * 1e-3, entry.oversubscription});
  // Without a pod size, all traffic between domains passes the oversubscribed level.
  if (net.oversubscription > 1)
    net.pod = cluster.pod_size > 0 ? cluster.pod_size : entry.pod > 0 ? entry.pod : net.domain;
  net.links = entry.links;
  if (net.links == ScaleupLinks::Mesh) net.peers = std::max(entry.domain, entry.gpus_per_node) - 1;
  net.torus_wrap = entry.torus_wrap;
  net.torus = torus_edges(net.links, world_at_most(design, net.domain), net.torus_wrap);
  switch (cluster.in_network_reduction) {
    case InNetworkReduction::Auto:
      net.nvls = entry.nvls;
      break;  // NCCL uses NVLink SHARP by default, SHARP only on request
    case InNetworkReduction::None: break;
    case InNetworkReduction::Nvls: net.nvls = true; break;
    case InNetworkReduction::Sharp: net.nvls = net.sharp = true; break;
  }
  if (accelerator) net.channel_gbps = accelerator->channel_gbps;
  // Overlapped collectives of tp use the user buffers of Transformer Engine instead of NCCL.
  net.max_ctas = {design.parallel.tp_comm_overlap ? 0 : cluster.tp_max_ctas, cluster.cp_max_ctas,
                  cluster.dp_max_ctas};
  net.algorithm = cluster.collective_algorithm;
  net.measured = collective_table(cluster.accelerator);
  return net;
}

std::string machine_name(const ClusterSpec& cluster) {
  const std::shared_ptr<const Accelerator> accelerator = accelerator_of(cluster);
  return accelerator ? accelerator->name : cluster.accelerator;
}

}  // namespace shardscape
