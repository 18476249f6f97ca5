#include "timing/machine_of.h"

#include "design/cluster.h"
#include "model/library.h"

namespace shardscape {

Machine machine_of(const Design& design) {
  Machine out{accelerator_of(design.cluster), network_of(design), trains(design)};
  if (const KernelProfile* profile = ModelLibrary::instance().profile(design.workload.profile)) {
    if (out.training) out.code_base_factor = profile->slowdown;
    out.host_launch_us = profile->host_launch_us;
  }
  if (out.training) {
    const ClusterSpec& c = design.cluster;
    constexpr double kPercent = 1e-5;  // of thousandths of a percent
    out.spread = {static_cast<double>(c.compute_jitter) * kPercent,
                  static_cast<double>(c.straggler_slowdown) * kPercent, design.world()};
    out.slowest_rank = slowest_rank_mean(out.spread);
  }
  return out;
}

namespace {

// The id determines the tables of kernels and collectives and most values. A design may change the values in
// the key, and the memory, on which no time depends.
void add_to(CacheKey& key, const Accelerator& accelerator) {
  const auto& [id, name, sources, aliases, family, processors, collective_processors, bf16_tflops, fp8_tflops,
               fp4_tflops, int8_tops, fp32_tflops, memory_gb, memory_bytes, device_bytes, memory_gbps,
               scaleup_gbps, nic_gbps, channel_gbps, board_watts, price_per_hour] = accelerator;
  key.add(std::string_view(id));
  for (const double word : {bf16_tflops, fp8_tflops, fp4_tflops, int8_tops, memory_gbps}) key.add(word);
}

void add_to(CacheKey& key, const HopLatency& hop) {
  const auto& [scaleup_us, nic_us, spine_us] = hop;
  for (const double word : {scaleup_us, nic_us, spine_us}) key.add(word);
}

// The name is a label. The accelerator's id determines the table of measured collectives, and with
// Machine::training whether the kernels of inference engines count.
void add_to(CacheKey& key, const Network& network) {
  const auto& [domain, node, scaleup_gbps, nic_gbps, hop, measured_hop, launch_us, scaleup_efficiency,
               nic_efficiency, rails, leaf, pod, oversubscription, links, peers, torus_wrap, torus, nvls,
               sharp, channel_gbps, max_ctas, algorithm, measured, name] = network;
  const auto& [tp_ctas, cp_ctas, dp_ctas] = max_ctas;
  for (const int64_t word : {domain, node, rails, leaf, pod, static_cast<int64_t>(links), peers, torus_wrap,
                             int64_t{nvls}, int64_t{sharp}, static_cast<int64_t>(algorithm),
                             int64_t{measured != nullptr}, tp_ctas, cp_ctas, dp_ctas})
    key.add(word);
  for (const auto& [ranks, closed] : torus) key.add(closed ? -ranks : ranks);
  for (const double word : {scaleup_gbps, nic_gbps, launch_us, scaleup_efficiency, nic_efficiency,
                            oversubscription, channel_gbps})
    key.add(word);
  add_to(key, hop);
  add_to(key, measured_hop);
}

}  // namespace

// The bindings name every member, so a new member does not compile until it is added to a key.
void add_to(CacheKey& key, const Machine& machine) {
  const auto& [accelerator, network, training, code_base_factor, host_gbps, host_launch_us, spread,
               slowest_rank] = machine;
  add_to(key, *accelerator);
  add_to(key, network);
  key.add(int64_t{training});
  key.add(code_base_factor);
  key.add(host_gbps);
  key.add(host_launch_us.value_or(-1));
  key.add(slowest_rank);
}

}  // namespace shardscape
