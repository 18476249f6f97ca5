// Files that describe the network of a job for ASTRA-sim's packet-level backends: ns-3 and htsim.
//
// Rates are the nominal rates of links, latencies those of hops (hardware/network.h). All sources:
// astra-sim/astra-sim @518bd51 with its submodules.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "astra_sim/sim_cluster.h"
#include "base/problem.h"
#include "hardware/network.h"

namespace shardscape {

enum class PacketBackend : uint8_t { Ns3, Htsim };
inline constexpr int kPacketBackendCount = 2;
std::string_view backend_name(PacketBackend backend);   // "ns3", in flags and files
std::string_view backend_label(PacketBackend backend);  // "ns-3", for people
// "ns3,htsim" in any order, without repetition. where: of a problem.
Result<std::vector<PacketBackend>> parse_packet_backends(std::string_view text, const std::string& where);

inline constexpr const char* kNs3ConfigName = "ns3-config.txt";
inline constexpr const char* kNs3TopologyName = "ns3-topology.txt";
inline constexpr const char* kNs3LogicalName = "ns3-logical-topology.json";
inline constexpr const char* kNs3FlowsName = "ns3-no-flows.txt";
inline constexpr const char* kHtsimName = "htsim.topo";

struct PacketFileKind {
  const char* name;
  PacketBackend backend;
  const char* content;  // for people
};
std::span<const PacketFileKind> packet_file_kinds();
const char* topology_name(PacketBackend backend);  // the file that describes links or tiers

struct PacketFile {
  std::string name, text;
};

struct PacketNetwork {
  PacketBackend backend{};
  std::vector<PacketFile> files;
  // Properties of the cluster that the files cannot express, each with the description written instead.
  std::vector<std::string> substitutions;
};

// The files of one backend for a job of so many ranks. cluster: of the job, for the logical dimensions of
// ns-3. Problem: what the backend cannot read.
Result<PacketNetwork> packet_network(PacketBackend backend, const Network& network, int64_t ranks,
                                     const SimCluster& cluster);

}  // namespace shardscape
