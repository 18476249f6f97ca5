// The rows of the knob table: the cluster.
#include "design/knobs/knob_writer.h"
#include "design/limits.h"
#include "hardware/accelerator.h"
#include "hardware/network_catalogue.h"

namespace shardscape {
namespace {

inline constexpr Named<InNetworkReduction> kInNetwork[] = {
    {InNetworkReduction::Auto, "auto", "As the network offers"},
    {InNetworkReduction::None, "none", "None"},
    {InNetworkReduction::Nvls, "nvls", "Inside domains (NVLink SHARP)"},
    {InNetworkReduction::Sharp, "sharp", "Inside and between (SHARP)"}};
inline constexpr Named<CollectiveAlgorithm> kAlgorithms[] = {
    {CollectiveAlgorithm::Auto, "auto", "Fastest (as NCCL chooses)"},
    {CollectiveAlgorithm::Ring, "ring", "Ring"},
    {CollectiveAlgorithm::Tree, "tree", "Double binary tree"},
    {CollectiveAlgorithm::HalvingDoubling, "halving-doubling", "Recursive halving and doubling"},
    {CollectiveAlgorithm::Hierarchical, "hierarchical", "Hierarchical"},
    {CollectiveAlgorithm::InNetwork, "in-network", "In the network"},
    {CollectiveAlgorithm::Direct, "direct", "Direct"}};

std::vector<KnobChoice> accelerator_choices() {
  std::vector<KnobChoice> choices;
  for (const Accelerator& item : accelerators()) choices.push_back({item.id, item.name});
  return choices;
}

std::vector<KnobChoice> network_choices() {
  std::vector<KnobChoice> choices{{"auto", "Usual one of the accelerator"}};
  for (const NetworkEntry& item : networks()) choices.push_back({item.id, item.name});
  return choices;
}

}  // namespace

void add_cluster(TableWriter& table) {
  using C = ClusterSpec;
  constexpr auto cluster = &Design::cluster;
  table.group(KnobGroup::Cluster);
  table.section("Hardware");
  table.choice(member<cluster, &C::accelerator>(), "accelerator", "Accelerator", accelerator_choices(),
               "Device of every rank: its memory is the capacity that a design has to fit. Peaks are dense.");
  table.number(member<cluster, &C::peak_tflops>(), "peak_tflops", "Peak", "", "TFLOP/s", 0, kMaxPeakTflops,
               "Dense peak of bfloat16 products, for a device that nobody sells yet; FP8 and FP4 keep their "
               "ratio to it. The accelerator's measured "
               "efficiencies are scaled. 0: the accelerator's.");
  table.number(member<cluster, &C::memory_capacity>(), "memory_capacity", "Memory", "", "GB", 0, kMaxMemoryGb,
               "Capacity of the device, which a design has to fit. 0: the accelerator's.");
  table.number(member<cluster, &C::memory_bandwidth>(), "memory_bandwidth", "Memory bandwidth", "", "GB/s", 0,
               kMaxLinkRate, "Of the device's memory, 10^9 bytes per second. 0: the accelerator's.");
  table.number(
      member<cluster, &C::gpus_per_node>(), "gpus_per_node", "GPUs per node", "", "ranks", 1, kMaxGpusPerNode,
      "Ranks that share the fast links of a node, or of a rack-scale domain such as NVL72. Groups that reach "
      "beyond run over the network.");
  table.section("Network", true);
  table.choice(member<cluster, &C::network>(), "network", "Network", network_choices(),
               "Links between accelerators, from the catalogue. The knobs below override single values of "
               "it; 0 takes them as they are.");
  table.number(member<cluster, &C::scaleup_domain>(), "scaleup_domain", "Scale-up domain", "", "ranks", 0,
               kMaxWorld,
               "Ranks that NVLink joins. 0: a node, or the rack of a rack-scale network such as NVL72, of "
               "which jobs of several racks "
               "are given segments of 64.");
  table.number(member<cluster, &C::scaleup_bandwidth>(), "scaleup_bandwidth", "NVLink bandwidth", "", "GB/s",
               0, kMaxLinkRate,
               "Of one rank and direction, 10^9 bytes per second: half of what data sheets add up. 450 for "
               "an H100. 0: the accelerator's.");
  table.number(member<cluster, &C::nic_bandwidth>(), "nic_bandwidth", "NIC bandwidth", "", "Gb/s", 0,
               kMaxLinkRate,
               "Line rate of the network per rank and direction, 10^9 bits per second: a rank's share of its "
               "node's NICs. 400 for one NDR "
               "InfiniBand port each. 0: as in the catalogue.");
  table.number(member<cluster, &C::scaleup_latency>(), "scaleup_latency", "NVLink latency", "", "ns", 0,
               kMaxLatencyNs,
               "Of one hop of a small message inside a domain, what the library does in it included. 0: as "
               "in the catalogue, else NCCL's "
               "constant, 600 ns. Measured tables have it in them.");
  table.number(member<cluster, &C::network_latency>(), "network_latency", "Network latency", "", "ns", 0,
               kMaxLatencyNs,
               "Of one hop of a small message between domains over one leaf switch, what the library does in "
               "it included. 0: as in the "
               "catalogue, else NCCL's constant, 2,700 ns on InfiniBand.");
  table.number(member<cluster, &C::spine_latency>(), "spine_latency", "Spine latency", "", "ns", 0,
               kMaxLatencyNs,
               "What a hop takes longer that leads from one leaf switch over a spine to another. 0: as in "
               "the catalogue.");
  table.number(member<cluster, &C::rails>(), "rails", "Rails", "", "", 0, kMaxGpusPerNode,
               "NICs of a node that lead to leaf switches of their own. Bandwidth is NIC bandwidth per rank, "
               "however many there are. Traffic "
               "to another rail goes over NVLink to the rank on the receiver's rail first (PXN), or over the "
               "spine where NVLink does not join "
               "the node; with 1 rail there is none. A leaf switch reaches as many nodes fewer as there are "
               "rails fewer: what lies beyond is a "
               "spine away. 0: as in the catalogue.");
  table.decimal(member<cluster, &C::oversubscription>(), "oversubscription", "Oversubscription", 0,
                kMaxOversubscription,
                "Bandwidth below the thinnest level of the network over that level's own: 7 where a seventh "
                "gets through, as between "
                "Llama 3's pods. 1: full bisection. 0: as in the catalogue.");
  table.number(member<cluster, &C::pod_size>(), "pod_size", "Pod size", "", "ranks", 0, kMaxWorld,
               "Ranks that reach each other without the oversubscribed level. 0: as in the catalogue, else a "
               "scale-up domain.");
  table.choice(named<cluster, &C::in_network_reduction, kInNetwork>(), "in_network_reduction",
               "In-network reduction", choices_of(kInNetwork),
               "Whether switches add up what all-reduces send. auto: inside domains where the network has "
               "NVLink SHARP, as NCCL does "
               "unasked; between them only on request.");
  table.choice(named<cluster, &C::collective_algorithm, kAlgorithms>(), "collective_algorithm",
               "Collective algorithm", choices_of(kAlgorithms),
               "How collectives run. auto takes the fastest of those that NCCL offers; what another "
               "algorithm cannot do runs as under auto.");
}

}  // namespace shardscape
