#include "astra_sim/ns3_network.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "astra_sim/cluster_fabric.h"
#include "base/json_text.h"
#include "base/units.h"

namespace shardscape {
namespace {

constexpr int64_t kGiga = 1'000'000'000, kMega = 1'000'000;

int64_t bits_per_second(const FabricLink& link) {
  return std::max<int64_t>(1, std::llround(link.gbps * 8 * static_cast<double>(kGiga)));
}
int64_t nanoseconds(const FabricLink& link) { return std::llround(link.latency_ns); }

std::string rate_text(int64_t bps) {
  if (bps % kGiga == 0) return std::to_string(bps / kGiga) + "Gbps";
  if (bps % kMega == 0) return std::to_string(bps / kMega) + "Mbps";
  return std::to_string(bps) + "bps";
}

std::string topology_text(const ClusterFabric& fabric) {
  std::string out = std::to_string(fabric.nodes()) + " " + std::to_string(fabric.switches) + " " +
                    std::to_string(fabric.links.size()) + "\n";
  for (int64_t i = fabric.ranks; i < fabric.nodes(); ++i)
    out += (i > fabric.ranks ? " " : "") + std::to_string(i);
  out += "\n";
  for (const FabricLink& link : fabric.links)
    out += std::to_string(link.a) + " " + std::to_string(link.b) + " " + rate_text(bits_per_second(link)) +
           " " + std::to_string(nanoseconds(link)) + "ns 0\n";
  return out;
}

std::string logical_text(const SimCluster& cluster) {
  nlohmann::ordered_json dimensions = nlohmann::ordered_json::array();
  for (const SimDimension& d : cluster.dimensions) dimensions.push_back(std::to_string(d.ranks));
  return json_document(nlohmann::ordered_json{{"logical-dims", dimensions}});
}

// The thresholds of explicit congestion notification, as in the examples: 4 KB per Gbit/s, at most 800 KB,
// and four times as much.
std::string threshold_lines(const ClusterFabric& fabric) {
  std::set<int64_t> rates;
  for (const FabricLink& link : fabric.links) rates.insert(bits_per_second(link));
  std::string kmax = "KMAX_MAP", kmin = "KMIN_MAP", pmax = "PMAX_MAP";
  for (std::string* map : {&kmax, &kmin, &pmax}) *map += " " + std::to_string(rates.size());
  for (const int64_t rate : rates) {
    const int64_t kb = std::clamp<int64_t>(4 * rate / kGiga, 1, 800);
    kmin += " " + std::to_string(rate) + " " + std::to_string(kb);
    kmax += " " + std::to_string(rate) + " " + std::to_string(4 * kb);
    pmax += " " + std::to_string(rate) + " 0.2";
  }
  return kmax + "\n" + kmin + "\n" + pmax + "\n";
}

// MiB per switch. A port reserves three times the bytes on its link (common.h, headroom) and 4 KiB; twice the
// largest sum leaves as much to share. At least the 32 MiB of the examples; ns-3 counts bytes in 32 bits.
int64_t buffer_size(const ClusterFabric& fabric) {
  std::vector<double> reserved(static_cast<size_t>(fabric.nodes()));
  for (const FabricLink& link : fabric.links) {
    const double bytes = 3 * link.gbps * link.latency_ns + 4096;
    for (const int64_t end : {link.a, link.b}) reserved[static_cast<size_t>(end)] += bytes;
  }
  double most = 0;
  for (size_t i = static_cast<size_t>(fabric.ranks); i < reserved.size(); ++i)
    most = std::max(most, reserved[i]);
  constexpr double kMebi = 1 << 20;
  return std::clamp<int64_t>(std::llround(std::min(2 * most / kMebi, 1e6)), 32, 4095);
}

std::string config_text(const ClusterFabric& fabric) {
  return std::string("ENABLE_QCN 1\nUSE_DYNAMIC_PFC_THRESHOLD 1\nPACKET_PAYLOAD_SIZE 1000\n\n") +
         "TOPOLOGY_FILE " + kNs3TopologyName + "\nFLOW_FILE " + kNs3FlowsName + "\nTRACE_FILE " +
         kNs3FlowsName +
         "\nTRACE_OUTPUT_FILE ns3-output.tr\nFCT_OUTPUT_FILE ns3-output-fct.txt\n"
         "PFC_OUTPUT_FILE ns3-output-pfc.txt\nQLEN_MON_FILE ns3-output-qlen.txt\n"
         "QLEN_MON_START 0\nQLEN_MON_END 20000\n\n"
         "SIMULATOR_STOP_TIME 40000000000000.00\n\n"
         "CC_MODE 12\nALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\nCLAMP_TARGET_RATE 0\n"
         "RP_TIMER 900\nEWMA_GAIN 0.00390625\nFAST_RECOVERY_TIMES 1\nRATE_AI 50Mb/s\nRATE_HAI 100Mb/s\n"
         "MIN_RATE 100Mb/s\nDCTCP_RATE_AI 1000Mb/s\n\n"
         "ERROR_RATE_PER_LINK 0\nL2_CHUNK_SIZE 4000\nL2_ACK_INTERVAL 1\nL2_BACK_TO_ZERO 0\n\n"
         "HAS_WIN 1\nGLOBAL_T 0\nVAR_WIN 1\nFAST_REACT 1\nU_TARGET 0.95\nMI_THRESH 0\nINT_MULTI 1\n"
         "MULTI_RATE 0\nSAMPLE_FEEDBACK 0\nPINT_LOG_BASE 1.05\nPINT_PROB 1.0\nNIC_TOTAL_PAUSE_TIME 0\n"
         "RATE_BOUND 1\nACK_HIGH_PRIO 0\nLINK_DOWN 0 0 0\nENABLE_TRACE 0\n\n" +
         threshold_lines(fabric) + "BUFFER_SIZE " + std::to_string(buffer_size(fabric)) + "\n";
}

Problem no_ns3_network(const std::string& what, const std::string& accepted) {
  return {ProblemCode::ValueTooLarge, std::string(backend_label(PacketBackend::Ns3)), what, accepted};
}

int64_t most_ports(const ClusterFabric& fabric) {
  std::vector<int64_t> ports(static_cast<size_t>(fabric.nodes()));
  for (const FabricLink& link : fabric.links)
    for (const int64_t end : {link.a, link.b}) ++ports[static_cast<size_t>(end)];
  return *std::max_element(ports.begin(), ports.end());
}

}  // namespace

Result<PacketNetwork> ns3_network(const Network& network, int64_t ranks, const SimCluster& cluster) {
  ClusterFabric fabric = cluster_fabric(network, ranks, kNs3MostLinks);
  if (fabric.too_large)
    return no_ns3_network("the network of " + grouped(ranks) + " ranks has more than " +
                              grouped(kNs3MostLinks) + " links, and ns-3 has no addresses for more",
                          "fewer ranks: a rank takes one to four links");
  if (const int64_t ports = most_ports(fabric); ports > kNs3MostPorts)
    return no_ns3_network("the network has a switch of " + grouped(ports) +
                              " ports, and a switch of ns-3 has at most " + grouped(kNs3MostPorts),
                          "fewer ranks, or a network with smaller leaf switches");
  return PacketNetwork{PacketBackend::Ns3,
                       {{kNs3ConfigName, config_text(fabric)},
                        {kNs3TopologyName, topology_text(fabric)},
                        {kNs3LogicalName, logical_text(cluster)},
                        {kNs3FlowsName, "0\n"}},
                       std::move(fabric.substitutions)};
}

}  // namespace shardscape
