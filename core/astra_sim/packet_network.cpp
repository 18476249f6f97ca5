#include "astra_sim/packet_network.h"

#include <algorithm>
#include <array>

#include "astra_sim/htsim_network.h"
#include "astra_sim/ns3_network.h"

namespace shardscape {
namespace {

struct BackendNames {
  std::string_view name, label;
};
constexpr std::array<BackendNames, kPacketBackendCount> kBackends{{{"ns3", "ns-3"}, {"htsim", "htsim"}}};

constexpr PacketFileKind kFiles[] = {
    {kNs3ConfigName, PacketBackend::Ns3, "settings of ns-3, with the names of its other files"},
    {kNs3TopologyName, PacketBackend::Ns3, "ranks, switches and links of the cluster for ns-3"},
    {kNs3LogicalName, PacketBackend::Ns3, "ranks per dimension of the collectives, for ns-3"},
    {kNs3FlowsName, PacketBackend::Ns3, "the number 0: ns-3 sends no messages but those of the traces"},
    {kHtsimName, PacketBackend::Htsim, "tiers of switches of the cluster for htsim"},
};

}  // namespace

std::string_view backend_name(PacketBackend backend) { return kBackends[static_cast<size_t>(backend)].name; }
std::string_view backend_label(PacketBackend backend) {
  return kBackends[static_cast<size_t>(backend)].label;
}

const char* topology_name(PacketBackend backend) {
  switch (backend) {
    case PacketBackend::Ns3: return kNs3TopologyName;
    case PacketBackend::Htsim: return kHtsimName;
  }
  return "";
}

std::span<const PacketFileKind> packet_file_kinds() { return kFiles; }

Result<std::vector<PacketBackend>> parse_packet_backends(std::string_view text, const std::string& where) {
  std::vector<PacketBackend> out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string_view name = text.substr(begin, comma - begin);
    const auto* const known = std::find_if(kBackends.begin(), kBackends.end(),
                                           [&](const BackendNames& b) { return b.name == name; });
    if (known == kBackends.end())
      return Problem{ProblemCode::FlagValueInvalid, where, "\"" + std::string(name) + "\" is no backend",
                     "ns3, htsim or ns3,htsim"};
    const auto backend = static_cast<PacketBackend>(known - kBackends.begin());
    if (std::find(out.begin(), out.end(), backend) != out.end())
      return Problem{ProblemCode::FlagValueInvalid, where, "\"" + std::string(name) + "\" is given twice",
                     "each backend once"};
    out.push_back(backend);
    begin = comma + 1;
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<PacketNetwork> packet_network(PacketBackend backend, const Network& network, int64_t ranks,
                                     const SimCluster& cluster) {
  if (ranks < 2)
    return Problem{ProblemCode::OneRank, std::string(backend_label(backend)),
                   "a job of one rank has no network", "a job of two ranks or more"};
  switch (backend) {
    case PacketBackend::Ns3: return ns3_network(network, ranks, cluster);
    case PacketBackend::Htsim: return htsim_network(network, ranks);
  }
  return PacketNetwork{};
}

}  // namespace shardscape
