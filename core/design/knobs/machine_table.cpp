#include "design/knobs/machine_table.h"

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "design/cluster.h"
#include "design/knobs/knobs.h"
#include "hardware/scaleup_share.h"
#include "performance/calibration.h"
#include "performance/collective_table.h"
#include "performance/collective_time.h"

namespace shardscape {
namespace {

std::string number_text(double value) {
  if (std::abs(value - std::round(value)) < 1e-9) return grouped(static_cast<int64_t>(std::llround(value)));
  if (value >= 1000) return grouped(static_cast<int64_t>(std::llround(value)));
  std::string text = significant(value, 4);
  if (text.find('.') != std::string::npos) text.erase(text.find_last_not_of('0') + 1);
  return text;
}

// The possible sources of a value; a knob takes precedence.
struct Choice {
  int64_t knob = 0;             // > 0: the design sets the value
  bool in_network = false;      // the network entry has the value
  bool in_accelerator = false;  // the accelerator entry has the value
  const char* otherwise = "";   // source of the default value
};

class Table {
 public:
  explicit Table(const Design& design)
      : design_(design),
        base_(*find_accelerator(design.cluster.accelerator)),
        owner_(accelerator_of(design.cluster)),
        accelerator_(*owner_),
        network_(network_of(design)) {
    if (const NetworkEntry* entry = catalogue_network(design.cluster)) entry_ = *entry;
  }

  std::vector<MachineSection> take() {
    accelerator();
    network();
    kernels();
    operation();
    return std::move(out_);
  }

 private:
  void section(std::string title, std::string name) {
    out_.push_back({std::move(title), std::move(name), {}});
  }

  void add(std::string key, std::string label, double value, std::string unit, ValueOrigin origin,
           std::string source) {
    out_.back().values.push_back({std::move(key), std::move(label), number_text(value), std::move(unit),
                                  origin, std::move(source), value});
  }
  void add_word(std::string key, std::string label, std::string word, ValueOrigin origin,
                std::string source) {
    out_.back().values.push_back(
        {std::move(key), std::move(label), std::move(word), {}, origin, std::move(source)});
  }

  std::string set_by(const char* knob) const {
    return std::string("set in this design, ") + find_knob(knob)->flag();
  }

  // Adds a value of the accelerator, from the catalogue or a knob.
  void of_device(const char* key, const char* label, double value, const char* unit,
                 const char* knob = nullptr, int64_t set = 0) {
    if (value <= 0) return;
    if (set > 0)
      add(key, label, value, unit, ValueOrigin::Design, set_by(knob));
    else
      add(key, label, value, unit, ValueOrigin::Catalogue, source_of(base_.sources, key));
  }

  void accelerator() {
    const ClusterSpec& c = design_.cluster;
    section("Accelerator", accelerator_.name);
    of_device("bf16_tflops", "Peak, bfloat16", accelerator_.bf16_tflops, "TFLOP/s", "peak_tflops",
              c.peak_tflops);
    of_device("fp8_tflops", "Peak, float8", accelerator_.fp8_tflops, "TFLOP/s", "peak_tflops", c.peak_tflops);
    of_device("fp4_tflops", "Peak, float4", accelerator_.fp4_tflops, "TFLOP/s", "peak_tflops", c.peak_tflops);
    of_device("int8_tops", "Peak, int8", accelerator_.int8_tops, "TOP/s", "peak_tflops", c.peak_tflops);
    of_device("fp32_tflops", "Peak, float32", accelerator_.fp32_tflops, "TFLOP/s");
    of_device("memory_gb", "Memory", accelerator_.memory_gb, "GiB", "memory_capacity", c.memory_capacity);
    of_device("memory_gbps", "Memory bandwidth", accelerator_.memory_gbps, "GB/s", "memory_bandwidth",
              c.memory_bandwidth);
    of_device("processors", "SMs or compute units", static_cast<double>(accelerator_.processors), "");
    of_device("collective_processors", "SMs used by a collective",
              static_cast<double>(accelerator_.collective_processors), "");
    of_device("channel_gbps", "Rate of an NCCL channel", accelerator_.channel_gbps, "GB/s");
    of_device("board_watts", "Power limit", accelerator_.board_watts, "W", "board_power", c.board_power);
    of_device("price_per_hour", "Price", accelerator_.price_per_hour, "$ per hour", "price_per_hour",
              c.price_per_hour);
  }

  // Adds a value with a published default.
  void of_site(const char* key, const char* label, double value, const char* unit, const char* knob,
               int64_t set, const char* source) {
    if (value <= 0) return;
    add(key, label, value, unit, set > 0 ? ValueOrigin::Design : ValueOrigin::Program,
        set > 0 ? set_by(knob) : source);
  }

  void operation() {
    const ClusterSpec& c = design_.cluster;
    const Operation site = operation_of(c);
    section("Power and failures", "");
    of_site("host_watts", "Host power", site.host_watts, "W", "host_power", c.host_power, kHostShareSource);
    of_site("pue", "Power usage effectiveness", site.pue, "", "pue", c.pue, kPueSource);
    of_site("failure_rate", "Interruptions per 1,000 node-days", site.failure_rate.usual, "", "failure_rate",
            c.failure_rate, kPublishedFailureRate.source);
    of_site("restart_seconds", "Restart time", site.restart_seconds.usual, "s", "restart_time",
            c.restart_time, kPublishedRestart.source);
    of_site("checkpoint_gbps", "Checkpoint bandwidth per rank", site.checkpoint_gbps, "GB/s",
            "checkpoint_bandwidth", c.checkpoint_bandwidth, kCheckpointSource);
  }

  void of_network(const char* key, const char* label, double value, const char* unit, const char* knob,
                  const Choice& choice) {
    if (choice.knob > 0) return add(key, label, value, unit, ValueOrigin::Design, set_by(knob));
    if (choice.in_network)
      return add(key, label, value, unit, ValueOrigin::Catalogue, source_of(entry_.sources, key));
    if (choice.in_accelerator)
      return add(key, label, value, unit, ValueOrigin::Catalogue, source_of(base_.sources, key));
    add(key, label, value, unit, ValueOrigin::Program, choice.otherwise);
  }

  void network() {
    const ClusterSpec& c = design_.cluster;
    constexpr double kBitsPerByte = 8;
    constexpr const char* kNcclRing = "NCCL's constant of rings: NVIDIA/nccl src/graph/tuning.cc @5067397";
    const bool known = !entry_.id.empty();
    section("Network", known ? entry_.name : "not in the catalogue");
    const bool as_sold = known && c.gpus_per_node == entry_.gpus_per_node;
    of_network("gpus_per_node", "GPUs per node", static_cast<double>(c.gpus_per_node), "", "gpus_per_node",
               {as_sold ? 0 : 1, as_sold});
    // Whether the job gets only a segment of each rack.
    const bool segment = network_.domain == entry_.segment && entry_.segment != entry_.domain;
    if (segment && c.scaleup_domain == 0)
      add("domain", "Scale-up domain", static_cast<double>(network_.domain), "ranks", ValueOrigin::Catalogue,
          source_of(entry_.sources, "segment"));
    else
      of_network("domain", "Scale-up domain", static_cast<double>(network_.domain), "ranks", "scaleup_domain",
                 {c.scaleup_domain, entry_.domain > c.gpus_per_node, false, "default: a node"});
    of_network("scaleup_gbps", "Scale-up bandwidth", network_.scaleup_gbps, "GB/s", "scaleup_bandwidth",
               {c.scaleup_bandwidth, entry_.scaleup_gbps > 0, base_.scaleup_gbps > 0,
                "assumed, because no value is published"});
    constexpr const char* kLinks[] = {"switch", "mesh", "torus-2d", "torus-3d"};
    const bool stated = entry_.links != ScaleupLinks::Switch;
    add_word("scaleup_links", "Scale-up topology", kLinks[static_cast<size_t>(network_.links)],
             stated ? ValueOrigin::Catalogue : ValueOrigin::Program,
             stated ? source_of(entry_.sources, "scaleup_links") : "default");
    if (const int64_t links = scaleup_links(network_); links > 1)
      add("scaleup_link_gbps", "One of " + std::to_string(links) + " scale-up links",
          network_.scaleup_gbps / static_cast<double>(links), "GB/s",
          c.scaleup_bandwidth > 0 ? ValueOrigin::Design : ValueOrigin::Catalogue,
          c.scaleup_bandwidth > 0 ? set_by("scaleup_bandwidth") : source_of(entry_.sources, "scaleup_links"));
    of_network("scaleup_efficiency", "Scale-up efficiency", network_.scaleup_efficiency, "", nullptr,
               {0, entry_.scaleup_efficiency > 0, false,
                "default: efficiency of NCCL rings in the A100 measurements"});
    of_network("scaleup_latency_us", "Scale-up latency", network_.hop.scaleup_us, "µs", "scaleup_latency",
               {c.scaleup_latency, entry_.scaleup_latency_us > 0, false, kNcclRing});
    of_network(
        "nic_gbps", "NIC bandwidth", network_.nic_gbps * kBitsPerByte, "Gb/s", "nic_bandwidth",
        {c.nic_bandwidth, entry_.nic_gbps > 0, base_.nic_gbps > 0, "assumed, because no value is published"});
    of_network("nic_efficiency", "NIC efficiency", network_.nic_efficiency, "", nullptr,
               {0, entry_.nic_efficiency > 0, false, "default: efficiency of HDR InfiniBand"});
    of_network("rails", "Rails", static_cast<double>(network_.rails), "", "rails",
               {c.rails, entry_.rails > 0, false, "default: one for each GPU of a node"});
    if (network_.leaf > 0)
      of_network("leaf", "Ranks per leaf switch", static_cast<double>(network_.leaf), "ranks", "rails",
                 {c.rails, true});
    of_network("nic_latency_us", "Network latency", network_.hop.nic_us, "µs", "network_latency",
               {c.network_latency, entry_.nic_latency_us > 0, false, kNcclRing});
    if (network_.hop.spine_us > 0)
      of_network("spine_latency_us", "Spine latency", network_.hop.spine_us, "µs", "spine_latency",
                 {c.spine_latency, entry_.spine_latency_us > 0});
    of_network("oversubscription", "Oversubscription", network_.oversubscription, "", "oversubscription",
               {c.oversubscription, entry_.oversubscription > 1, false, "default: full bisection"});
    if (network_.oversubscription > 1)
      of_network("pod", "Pod", static_cast<double>(network_.pod), "ranks", "pod_size",
                 {c.pod_size, entry_.pod > 0, false, "default: a scale-up domain"});
    of_network("launch_us", "Launch latency", network_.launch_us, "µs", nullptr,
               {0, entry_.launch_us > 0, false, kNcclRing});
    switches("nvls", "Reduction in NVSwitch (NVLS)", network_.nvls, entry_.nvls);
    switches("sharp", "Reduction in the network (SHARP)", network_.sharp, entry_.sharp);
    add("host_gbps", "Host bandwidth", Machine{}.host_gbps, "GB/s", ValueOrigin::Program,
        "PCI Express 5.0, 16 lanes");
  }

  // Adds whether collectives use reductions in switches. Switches between domains reduce only on request.
  void switches(const char* key, const char* label, bool used, bool offered) {
    const bool requested = design_.cluster.in_network_reduction != InNetworkReduction::Auto;
    const std::string stated = source_of(entry_.sources, key);
    const std::string word = used ? "yes" : offered ? "not used" : "no";
    if (requested)
      add_word(key, label, word, ValueOrigin::Design, set_by("in_network_reduction"));
    else if (!stated.empty())
      add_word(key, label, word, ValueOrigin::Catalogue, stated);
    else
      add_word(key, label, word, ValueOrigin::Program, "default");
  }

  std::string measured_on(const std::string& from, const std::string& source) const {
    if (from == base_.id || from.empty()) return source;
    const Accelerator* measured = find_accelerator(from);
    return (measured ? measured->name : from) + ", scaled by peak and bandwidth: " + source;
  }

  void kernel(std::string key, std::string label, const std::string& from, const std::string& source,
              const HeldOut& held) {
    constexpr const char* kOff = "% median error";
    if (from.empty())
      add_word(std::move(key), std::move(label), "not measured", ValueOrigin::Program,
               source.empty() ? "generic constants, not fitted to this device" : source);
    else if (held.rows > 0)
      add(std::move(key), std::move(label), held.median_percent, kOff, ValueOrigin::Calibration,
          measured_on(from, source));
    else
      add_word(std::move(key), std::move(label), "measured", ValueOrigin::Calibration,
               measured_on(from, source));
  }

  void kernels() {
    const Kernels& kernels = kernels_of(accelerator_);
    section("Measured kernels", "");
    struct Type {
      DType type;
      double peak;
    };
    for (const auto& [type, peak] : {Type{DType::BF16, accelerator_.bf16_tflops},
                                     {DType::FP8, accelerator_.fp8_tflops},
                                     {DType::FP8Block, accelerator_.fp8_tflops},
                                     {DType::NVFP4, accelerator_.fp4_tflops}}) {
      if (peak <= 0) continue;
      const MatmulCalibration& m = *kernels.matmul[static_cast<size_t>(type)];
      const std::string name(dtype_name(type));
      kernel("matmul." + name, "Matrix products, " + name, m.from,
             (m.dtype == type ? "" : "efficiency of " + std::string(dtype_name(m.dtype)) + ": ") + m.source,
             m.held_out);
    }
    constexpr std::pair<AttentionPass, const char*> kPasses[] = {{AttentionPass::Forward, "forward"},
                                                                 {AttentionPass::Backward, "backward"},
                                                                 {AttentionPass::Decode, "decode"}};
    for (const auto& [pass, name] : kPasses) {
      const AttentionCalibration& a = kernels.of(pass, true);
      kernel(std::string("attention.") + name, std::string("Attention, ") + name, a.from, a.source,
             a.held_out);
    }
    if (kernels.data.memory) {
      const MemoryCalibration& m = *kernels.data.memory;
      if (m.from.empty())
        add("memory.share", "Share of the memory bandwidth", m.share, "", ValueOrigin::Program,
            "generic constant, not fitted to this device");
      else
        add("memory.share", "Share of the memory bandwidth", m.share, "", ValueOrigin::Calibration,
            measured_on(m.from, m.source));
    }
    if (kernels.data.host_launch_us > 0)
      add("host.launch_us", "Kernel launch on the host", kernels.data.host_launch_us, "µs",
          ValueOrigin::Calibration, kernels.data.host_source);
    for (const TrainingMatmuls& p : kernels.data.training_products)
      add("training_products." + std::string(dtype_name(p.dtype)),
          "Share of the peak under the power limit, " + std::string(dtype_name(p.dtype)), p.sustained,
          "of the peak", ValueOrigin::Calibration, p.source);
    for (const TrainingFactor& f : kernels.data.training)
      add("training_factor." + std::string(dtype_name(f.dtype)), "Slowdown of kernels in a training step",
          f.factor, "times", ValueOrigin::Calibration, f.source);
    for (const KernelFactor& f : kernels.data.attention_kernels)
      add("attention_kernels." + f.kernel, "Attention by " + f.kernel, f.factor, "times as long",
          ValueOrigin::Calibration, f.source);
    if (network_.measured)
      add("collectives", "Collectives inside a domain",
          static_cast<double>(network_.measured->curves().size()), "curves", ValueOrigin::Calibration,
          network_.measured->source());
    if (network_.measured && !network_.measured->engine_curves().empty())
      add("engine_collectives", "Small all-reduces of inference",
          static_cast<double>(network_.measured->engine_curves().size()), "curves", ValueOrigin::Calibration,
          network_.measured->engine_source());
    if (!network_.measured)
      add_word("collectives", "Collectives inside a domain", "not measured", ValueOrigin::Program,
               "formulas of rings, trees and exchanges over the values above");
  }

  const Design& design_;
  const Accelerator& base_;  // from the catalogue
  std::shared_ptr<const Accelerator> owner_;
  const Accelerator& accelerator_;  // *owner_: with knob values
  Network network_;
  NetworkEntry entry_;
  std::vector<MachineSection> out_;
};

}  // namespace

std::string_view origin_name(ValueOrigin origin) {
  constexpr std::string_view kNames[] = {"catalogue", "design", "calibration", "program"};
  return kNames[static_cast<size_t>(origin)];
}

std::vector<MachineSection> machine_table(const Design& design) {
  if (!find_accelerator(design.cluster.accelerator)) return {};
  return Table(design).take();
}

}  // namespace shardscape
