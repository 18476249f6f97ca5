// The rows of the knob table: the cluster.
#include "design/knobs/knob_writer.h"
#include "design/limits.h"
#include "hardware/accelerator.h"
#include "hardware/network_catalogue.h"

namespace shardscape {
namespace {

inline constexpr Named<InNetworkReduction> kInNetwork[] = {
    {InNetworkReduction::Auto, "auto", "Auto: NVLink SHARP where available"},
    {InNetworkReduction::None, "none", "None"},
    {InNetworkReduction::Nvls, "nvls", "Within domains (NVLink SHARP)"},
    {InNetworkReduction::Sharp, "sharp", "Within and between domains (SHARP)"}};
static_assert(names_all(kInNetwork));
inline constexpr Named<CollectiveAlgorithm> kAlgorithms[] = {
    {CollectiveAlgorithm::Auto, "auto", "Auto: fastest that NCCL offers"},
    {CollectiveAlgorithm::Ring, "ring", "Ring"},
    {CollectiveAlgorithm::Tree, "tree", "Double binary tree"},
    {CollectiveAlgorithm::HalvingDoubling, "halving-doubling", "Recursive halving and doubling"},
    {CollectiveAlgorithm::Hierarchical, "hierarchical", "Hierarchical"},
    {CollectiveAlgorithm::InNetwork, "in-network", "In-network reduction"},
    {CollectiveAlgorithm::Direct, "direct", "Direct"}};
static_assert(names_all(kAlgorithms));

std::vector<KnobChoice> accelerator_choices() {
  std::vector<KnobChoice> choices;
  for (const Accelerator& item : accelerators()) choices.push_back({item.id, item.name});
  return choices;
}

std::vector<KnobChoice> network_choices() {
  std::vector<KnobChoice> choices{{"auto", "Auto (default of the accelerator)"}};
  for (const NetworkEntry& item : networks()) choices.push_back({item.id, item.name});
  return choices;
}

// Limits of NCCL's CTAs, by the group of the communicator.
template <int64_t ClusterSpec::*Field>
void add_limit(TableWriter& table, const char* name, const char* label, const std::string& group) {
  table.number(
      member<&Design::cluster, Field>(), name, label, "", "CTAs", 0, kMaxCtas,
      "The most CTAs that NCCL gives to a ring of " + group +
          " (max_ctas in the file of Megatron's --nccl-communicator-config-path). A CTA moves 20 GB/s on "
          "Ampere, 36.7 on Hopper and 40 on Blackwell. 0: NCCL uses as many CTAs as it needs.");
}

void add_ctas(TableWriter& table) {
  using C = ClusterSpec;
  add_limit<&C::tp_max_ctas>(table, "tp_max_ctas", "CTAs of TP",
                             "tensor parallelism, if it does not overlap with GEMMs");
  add_limit<&C::cp_max_ctas>(table, "cp_max_ctas", "CTAs of CP", "context parallelism");
  add_limit<&C::dp_max_ctas>(table, "dp_max_ctas", "CTAs of DP",
                             "gradients and parameters of data parallelism, alone or with context "
                             "parallelism");
}

void add_operation(TableWriter& table) {
  using C = ClusterSpec;
  constexpr auto cluster = &Design::cluster;
  table.section("Price and power", true);
  table.outside_of_steps();
  table.decimal(member<cluster, &C::price_per_hour>(), "price_per_hour", "Price per hour", 0, kMaxPrice,
                "Dollars per accelerator-hour. 0: the catalogue's price, if it has one.", "$");
  table.number(member<cluster, &C::board_power>(), "board_power", "Board power", "", "W", 0, kMaxWatts,
               "Power of one accelerator while the job runs. 0: the board's power limit.");
  table.number(member<cluster, &C::host_power>(), "host_power", "Host power", "", "W", 0, kMaxWatts,
               "Power of hosts, NICs and switches per accelerator. 0: half of the board power, as measured "
               "on nodes of 8 H100.");
  table.decimal(member<cluster, &C::pue>(), "pue", "PUE", 0, kMaxPue,
                "Power usage effectiveness: power of the site / power of its computers. 0: 1.1, as large "
                "sites report.");
  table.section("Failures and checkpoints", true);
  table.outside_of_steps();
  table.decimal(member<cluster, &C::failure_rate>(), "failure_rate", "Failure rate", 0, kMaxFailureRate,
                "Interruptions of the job per 1,000 node-days, for nodes of 8 accelerators. 0: 4. Published "
                "runs report 1.6 to 13.");
  table.number(member<cluster, &C::restart_time>(), "restart_time", "Restart time", "", "s", 0, kMaxDuration,
               "Seconds from an interruption until training resumes from the last checkpoint, without the "
               "repeated steps. 0: 600. Published runs report 120 to 900.");
  table.decimal(member<cluster, &C::checkpoint_bandwidth>(), "checkpoint_bandwidth", "Checkpoint bandwidth",
                0, kMaxStorageRate,
                "Rate at which one rank writes to storage while all ranks write, in 10^9 bytes per second. "
                "Training waits for the slowest rank. 0: 0.125, as published for Llama 3.",
                "GB/s");
}

void add_network(TableWriter& table) {
  using C = ClusterSpec;
  constexpr auto cluster = &Design::cluster;
  table.section("Network", true);
  table.choice(member<cluster, &C::network>(), "network", "Network", network_choices(),
               "Links between accelerators, from the catalogue. The settings below override single values; 0 "
               "means the catalogue's value.");
  table.number(
      member<cluster, &C::scaleup_domain>(), "scaleup_domain", "Scale-up domain", "", "ranks", 0, kMaxWorld,
      "Ranks connected by scale-up links: NVLink, Infinity Fabric, ICI, NeuronLink. 0: a node, or the "
      "rack of a rack-scale network such as NVL72. A job on several racks uses segments of 64 ranks.");
  table.number(
      member<cluster, &C::scaleup_bandwidth>(), "scaleup_bandwidth", "Scale-up bandwidth", "", "GB/s", 0,
      kMaxLinkRate,
      "Bandwidth of the scale-up links of one rank in one direction, in 10^9 bytes per second: "
      "half of the bidirectional rate in data sheets. 450 for an H100. 0: the accelerator's bandwidth.");
  table.number(member<cluster, &C::nic_bandwidth>(), "nic_bandwidth", "NIC bandwidth", "", "Gb/s", 0,
               kMaxLinkRate,
               "Line rate of the network per rank and direction, in 10^9 bits per second: a rank's share of "
               "its node's NICs. 400 for one NDR InfiniBand port per rank. 0: the catalogue's value.");
  table.number(
      member<cluster, &C::scaleup_latency>(), "scaleup_latency", "Scale-up latency", "", "ns", 0,
      kMaxLatencyNs,
      "Latency of one hop of a small message inside a scale-up domain, including library overhead. 0: the "
      "catalogue's value, otherwise NCCL's constant, 600 ns. Measured tables already include the latency.");
  table.number(
      member<cluster, &C::network_latency>(), "network_latency", "Network latency", "", "ns", 0,
      kMaxLatencyNs,
      "Latency of one hop of a small message between domains through one leaf switch, including library "
      "overhead. 0: the catalogue's value, otherwise NCCL's constant, 2,700 ns on InfiniBand.");
  table.number(member<cluster, &C::spine_latency>(), "spine_latency", "Spine latency", "", "ns", 0,
               kMaxLatencyNs,
               "Additional latency of a hop through a spine switch from one leaf switch to another. 0: the "
               "catalogue's value.");
  table.number(
      member<cluster, &C::rails>(), "rails", "Rails", "", "", 0, kMaxGpusPerNode,
      "Number of a node's NICs with a leaf switch of their own. The setting does not change the NIC "
      "bandwidth per rank. Traffic to another rail first goes over the links of the node to the rank on the "
      "receiver's rail (PXN), or over the spine if the node has no such links. With 1 rail, "
      "all traffic stays on that rail. With fewer rails, a leaf switch reaches proportionally fewer "
      "nodes, and all other nodes are behind a spine. 0: the catalogue's value.");
  table.decimal(
      member<cluster, &C::oversubscription>(), "oversubscription", "Oversubscription", 0,
      kMaxOversubscription,
      "Bandwidth below the oversubscribed level of the network / bandwidth of its uplinks. 7 between Llama "
      "3's pods, where a seventh of the bandwidth remains. 1: full bisection. 0: the catalogue's value.");
  table.number(member<cluster, &C::pod_size>(), "pod_size", "Pod size", "", "ranks", 0, kMaxWorld,
               "Ranks that reach each other without crossing the oversubscribed level. 0: the catalogue's "
               "value, otherwise a scale-up domain.");
  table.choice(named<cluster, &C::in_network_reduction, kInNetwork>(), "in_network_reduction",
               "In-network reduction", choices_of(kInNetwork),
               "Whether switches reduce the data of all-reduces. auto: within domains if the network has "
               "NVLink SHARP, as NCCL does by default; between domains only on request.");
  table.choice(named<cluster, &C::collective_algorithm, kAlgorithms>(), "collective_algorithm",
               "Collective algorithm", choices_of(kAlgorithms),
               "Algorithm of collectives. auto: the fastest algorithm that NCCL offers. A collective that "
               "the chosen algorithm does not support uses auto.");
}

void add_rank_speed(TableWriter& table) {
  using C = ClusterSpec;
  constexpr auto cluster = &Design::cluster;
  table.section("Speed of ranks", true);
  table.decimal(
      member<cluster, &C::compute_jitter>(), "compute_jitter", "Compute jitter", 0, kMaxJitter,
      "Training: standard deviation of the compute time of a rank in a step, relative to the mean. Clocks "
      "and chips differ. A step waits for the slowest of all ranks, so steps grow with the number of ranks. "
      "The report then gives the median, the 5th and the 95th percentile of the step time. 0: all ranks are "
      "equally fast.",
      "%");
  table.decimal(
      member<cluster, &C::straggler_slowdown>(), "straggler_slowdown", "Slowdown of a straggler", 0,
      kMaxSlowdown,
      "Training: how much longer one slow rank computes than the mean of the others. All other ranks wait "
      "for it. 0: no straggler.",
      "%");
}

}  // namespace

void add_cluster(TableWriter& table) {
  using C = ClusterSpec;
  constexpr auto cluster = &Design::cluster;
  table.group(KnobGroup::Cluster);
  table.section("Hardware");
  table.choice(member<cluster, &C::accelerator>(), "accelerator", "Accelerator", accelerator_choices(),
               "Device of every rank. A design must fit in its memory. Peaks are dense.");
  table.number(
      member<cluster, &C::peak_tflops>(), "peak_tflops", "Peak", "", "TFLOP/s", 0, kMaxPeakTflops,
      "Dense peak of bfloat16 GEMMs, for a device that is not on the market. FP8 and FP4 keep their ratio to "
      "bfloat16. The accelerator's measured efficiencies are scaled. 0: the accelerator's peak.");
  table.number(
      member<cluster, &C::memory_capacity>(), "memory_capacity", "Memory", "", "GB", 0, kMaxMemoryGb,
      "Memory capacity of the device. A design must fit in this memory. 0: the accelerator's capacity.");
  table.number(member<cluster, &C::memory_bandwidth>(), "memory_bandwidth", "Memory bandwidth", "", "GB/s", 0,
               kMaxLinkRate,
               "Bandwidth of the device's memory, in 10^9 bytes per second. 0: the accelerator's bandwidth.");
  table.number(
      member<cluster, &C::gpus_per_node>(), "gpus_per_node", "GPUs per node", "", "ranks", 1, kMaxGpusPerNode,
      "Ranks that share the NICs of a node. The value follows the accelerator and the network (4 for GB200 "
      "NVL72, whose scale-up domain is the rack), unless it differs from the network's value.");
  add_network(table);
  add_ctas(table);
  add_rank_speed(table);
  add_operation(table);
}

}  // namespace shardscape
