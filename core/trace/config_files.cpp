#include "trace/config_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/units.h"

namespace shardscape {

std::string system_json(const Accelerator& accelerator) {
  nlohmann::ordered_json j;
  j["scheduling-policy"] = "LIFO";
  j["collective-optimization"] = "baseline";
  j["preferred-dataset-splits"] = 1;
  j["active-chunks-per-dimension"] = 1;
  j["endpoint-delay"] = kEndpointDelayNs;
  j["local-reduction-delay"] = 0;
  j["peak-perf"] = accelerator.bf16_tflops;
  j["local-mem-bw"] = accelerator.memory_gbps;
  j["roofline-enabled"] = 1;
  j["trace-enabled"] = 0;
  j["replay-only"] = 0;
  j["track-local-mem"] = 0;
  for (const char* collective : {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"})
    j[std::string(collective) + "-implementation"] = {"ring"};
  return j.dump(2) + "\n";
}

std::variant<std::string, Problem> network_yml(const Report& report) {
  const Accelerator& a = *report.accelerator;
  const bool one_node = report.ranks <= report.design.cluster.gpus_per_node;
  double gbps = one_node ? a.scaleup_gbps : a.nic_gbps;
  if (gbps <= 0) gbps = one_node ? a.nic_gbps : a.scaleup_gbps;
  if (gbps <= 0)
    return Problem{Severity::Error, "accelerator", "no link bandwidth is published for " + a.name,
                   "an accelerator with a known scale-up or NIC bandwidth", {}};
  const nlohmann::json bandwidth = gbps * 1e9 / (1 << 30);  // the simulator's GB are 2^30 bytes
  const nlohmann::json latency = kNetworkLatencyNs;
  return "topology: [ Switch ]\nnpus_count: [ " + std::to_string(report.ranks) + " ]\nbandwidth: [ " +
         bandwidth.dump() + " ]\nlatency: [ " + latency.dump() + " ]\n";
}

std::string memory_json(const Report& report) {
  if (!uses_host(report)) return nlohmann::ordered_json{{"memory-type", "NO_MEMORY_EXPANSION"}}.dump(2) + "\n";
  nlohmann::ordered_json j{{"memory-type", "PER_NPU_MEMORY_EXPANSION"}};
  j["remote-mem-latency"] = kHostLatencyNs;
  j["remote-mem-bw"] = kHostGbps;
  return j.dump(2) + "\n";
}

bool uses_host(const Report& report) {
  return std::any_of(report.stages.begin(), report.stages.end(), [](const StageReport& s) { return !s.host.empty(); });
}

}  // namespace shardscape
