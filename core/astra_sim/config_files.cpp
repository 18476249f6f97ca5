#include "astra_sim/config_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "timing/machine_of.h"

namespace shardscape {

std::string system_json(const Report& report, const SimCluster& cluster, bool roofline) {
  constexpr double kTera = 1e12;
  nlohmann::ordered_json j;
  j["scheduling-policy"] = "LIFO";
  j["collective-optimization"] = cluster.dimensions.size() > 1 ? "localBWAware" : "baseline";
  j["preferred-dataset-splits"] = 1;
  j["active-chunks-per-dimension"] = 1;
  j["endpoint-delay"] = kEndpointDelayNs;
  j["local-reduction-delay"] = 0;
  j["peak-perf"] = peak_flops(*report.accelerator, report.design.workload.dtype) / kTera;
  j["local-mem-bw"] = report.accelerator->memory_gbps;
  j["roofline-enabled"] = roofline ? 1 : 0;
  j["trace-enabled"] = 0;
  j["replay-only"] = 0;
  j["track-local-mem"] = 0;
  for (const char* collective : {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"}) {
    auto& list = j[std::string(collective) + "-implementation"] = nlohmann::ordered_json::array();
    for (const SimDimension& d : cluster.dimensions)
      list.push_back(collective == std::string("all-to-all") ? d.all_to_all : d.reduction);
  }
  return json_document(j);
}

std::string network_yml(const SimCluster& cluster) {
  constexpr double kGiga = 1e9, kSimulatorsGiga = 1 << 30;
  std::string topology, ranks, bandwidth, latency;
  const auto add = [](std::string& list, const std::string& entry) {
    list += (list.empty() ? " " : ", ") + entry;
  };
  for (const SimDimension& d : cluster.dimensions) {
    add(topology, d.topology);
    add(ranks, std::to_string(d.ranks));
    add(bandwidth, nlohmann::json(d.gbps * kGiga / kSimulatorsGiga).dump());
    add(latency, nlohmann::json(d.latency_ns).dump());
  }
  return "topology: [" + topology + " ]\nnpus_count: [" + ranks + " ]\nbandwidth: [" + bandwidth +
         " ]\nlatency: [" + latency + " ]\n";
}

std::string memory_json(const Report& report) {
  if (!uses_host(report))
    return json_document(nlohmann::ordered_json{{"memory-type", "NO_MEMORY_EXPANSION"}});
  nlohmann::ordered_json j{{"memory-type", "PER_NPU_MEMORY_EXPANSION"}};
  j["remote-mem-latency"] = kHostLatencyNs;
  j["remote-mem-bw"] = machine_of(report.design).host_gbps;
  return json_document(j);
}

bool uses_host(const Report& report) {
  return std::any_of(report.stages.begin(), report.stages.end(),
                     [](const StageReport& s) { return !s.host.empty(); });
}

}  // namespace shardscape
