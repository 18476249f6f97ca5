#include "design/knobs/zero_value.h"

#include <algorithm>
#include <iterator>

#include "base/units.h"
#include "design/knobs/machine_table.h"
#include "hardware/network_catalogue.h"

namespace shardscape {
namespace {

// A knob of the cluster and its value in the machine table.
struct MachineRow {
  std::string_view knob, key;
  double per_unit = 1;  // units of the knob in a unit of the table
};
constexpr MachineRow kMachineRows[] = {
    {"peak_tflops", "bf16_tflops"},
    {"memory_capacity", "memory_gb"},
    {"memory_bandwidth", "memory_gbps"},
    {"scaleup_domain", "domain"},
    {"scaleup_bandwidth", "scaleup_gbps"},
    {"nic_bandwidth", "nic_gbps"},
    {"scaleup_latency", "scaleup_latency_us", 1000},
    {"network_latency", "nic_latency_us", 1000},
    {"spine_latency", "spine_latency_us", 1000},
    {"rails", "rails"},
    {"oversubscription", "oversubscription"},
    {"pod_size", "pod"},
    {"price_per_hour", "price_per_hour"},
    {"board_power", "board_watts"},
    {"host_power", "host_watts"},
    {"pue", "pue"},
    {"failure_rate", "failure_rate"},
    {"restart_time", "restart_seconds"},
    {"checkpoint_bandwidth", "checkpoint_gbps"},
};

// A knob whose zero follows from other knobs, or means that there is no limit.
struct DesignRow {
  std::string_view knob;
  ZeroValue (*value)(const Design&);
};
constexpr DesignRow kDesignRows[] = {
    {"etp",
     [](const Design& d) {
       return ZeroValue{"tp = " + grouped(d.parallel.tp), "", "as in other layers"};
     }},
    {"dp_shard",
     [](const Design&) {
       return ZeroValue{"all replicas", "", "one group of all replicas"};
     }},
    {"ulysses_degree",
     [](const Design&) {
       return ZeroValue{"KV heads", "", "as many ranks as the KV heads allow"};
     }},
    {"microbatch_group",
     [](const Design& d) {
       return ZeroValue{"pp = " + grouped(d.parallel.pp), "", "as in interleaved 1F1B"};
     }},
    {"most_in_flight",
     [](const Design& d) {
       return ZeroValue{"2 pp = " + grouped(2 * d.parallel.pp), "", "as in ZB-2p"};
     }},
    {"ddp_bucket_size",
     [](const Design&) {
       return ZeroValue{"default", "", "Megatron's default for this dp"};
     }},
    {"cublas_workspace",
     [](const Design&) {
       return ZeroValue{"default", "", "PyTorch's default for the accelerator"};
     }},
    {"capacity_factor",
     [](const Design&) {
       return ZeroValue{"no limit", "", "no token is dropped"};
     }},
    {"window",
     [](const Design&) {
       return ZeroValue{"no window", "", "attention reads the whole sequence"};
     }},
    {"images",
     [](const Design&) {
       return ZeroValue{"none", "", "text-only sequences"};
     }},
    {"packed_length",
     [](const Design&) {
       return ZeroValue{"not packed", "", "a sequence is one document"};
     }},
    {"tokens",
     [](const Design&) {
       return ZeroValue{"not set", "", "no training run is estimated"};
     }},
    {"checkpoint_interval",
     [](const Design&) {
       return ZeroValue{"best", "", "the interval with the shortest run"};
     }},
    {"batch_ramp_start",
     [](const Design&) {
       return ZeroValue{"none", "", "all steps have the global batch"};
     }},
};

const MachineValue* find_value(const std::vector<MachineSection>& table, std::string_view key) {
  for (const MachineSection& section : table)
    for (const MachineValue& value : section.values)
      if (value.key == key) return &value;
  return nullptr;
}

// 1,350; 0.125; 3.5: as people type the value, without trailing zeros.
std::string short_number(double value) {
  if (value >= 1000) return grouped(static_cast<int64_t>(value + 0.5));
  std::string text = significant(value, 4);
  if (text.find('.') != std::string::npos) text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

const Knob* machine_knob(std::string_view key) {
  const auto row = std::find_if(std::begin(kMachineRows), std::end(kMachineRows),
                                [&](const MachineRow& of) { return of.key == key; });
  return row == std::end(kMachineRows) ? nullptr : find_knob(row->knob);
}

std::string auto_value(std::string_view knob, const Design& design) {
  if (knob != "network") return {};
  const NetworkEntry* network = default_network(design.cluster.accelerator);
  return network ? network->name : std::string();
}

bool zero_means_unset(std::string_view knob) {
  const auto is_it = [&](const auto& row) { return row.knob == knob; };
  return std::any_of(std::begin(kMachineRows), std::end(kMachineRows), is_it) ||
         std::any_of(std::begin(kDesignRows), std::end(kDesignRows), is_it);
}

std::map<std::string, ZeroValue, std::less<>> zero_values(const Design& design) {
  std::map<std::string, ZeroValue, std::less<>> out;
  Design unset = design;
  for (const MachineRow& row : kMachineRows) (void)set_knob(unset, *find_knob(row.knob), "0");
  const std::vector<MachineSection> table = machine_table(unset);
  for (const MachineRow& row : kMachineRows) {
    const Knob& knob = *find_knob(row.knob);
    const MachineValue* found = find_value(table, row.key);
    out.emplace(row.knob, found && found->number ? ZeroValue{short_number(*found->number * row.per_unit),
                                                             knob.unit, found->source}
                                                 : ZeroValue{"none", "", "the catalogue has no value"});
  }
  for (const DesignRow& row : kDesignRows) out.emplace(row.knob, row.value(design));
  return out;
}

}  // namespace shardscape
