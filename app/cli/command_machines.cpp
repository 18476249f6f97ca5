// shardscape-cli machines
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/text.h"
#include "base/json_text.h"
#include "base/suggest.h"
#include "base/units.h"
#include "design/cluster.h"
#include "design/knobs/machine_table.h"
#include "performance/calibration.h"
#include "performance/collective_table.h"
#include "symbolic/json_value.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

std::string or_dash(double value, const std::string& unit) {
  return value > 0 ? significant(value, 4) + " " + unit : "-";
}

std::string list_text() {
  std::vector<std::vector<std::string>> devices{
      {"accelerator", "name", "bfloat16", "memory", "bandwidth", "price", "default network"}},
      links{{"network", "name", "node", "domain", "inside", "NICs"}};
  for (const Accelerator& a : accelerators()) {
    const NetworkEntry* usual = default_network(a.id);
    devices.push_back({a.id, a.name, or_dash(a.bf16_tflops, "TFLOP/s"), or_dash(a.memory_gb, "GiB"),
                       or_dash(a.memory_gbps, "GB/s"), or_dash(a.price_per_hour, "$/h"),
                       usual ? usual->id : "-"});
  }
  for (const NetworkEntry& n : networks()) {
    const Accelerator* a = n.accelerators.empty() ? nullptr : find_accelerator(n.accelerators.front());
    const double inside = n.scaleup_gbps > 0 ? n.scaleup_gbps : a ? a->scaleup_gbps : 0;
    links.push_back({n.id, n.name, grouped(n.gpus_per_node), grouped(std::max(n.domain, n.gpus_per_node)),
                     or_dash(inside, "GB/s"), or_dash(n.nic_gbps, "GB/s")});
  }
  constexpr Align l = Align::Left, r = Align::Right;
  return text_table(devices, {l, l, r, r, r, r, l}) + "\n" + text_table(links, {l, l, r, r, r, r});
}

Json json_of(const std::vector<MachineSection>& sections) {
  Json out = Json::array();
  for (const MachineSection& section : sections) {
    Json values = Json::array();
    for (const MachineValue& v : section.values) {
      Json value = v.number ? Json(*v.number) : Json(v.value);
      values.push_back({{"key", v.key},
                        {"label", v.label},
                        {"value", value},
                        {"unit", v.unit},
                        {"origin", origin_name(v.origin)},
                        {"source", v.source}});
    }
    out.push_back({{"title", section.title}, {"name", section.name}, {"values", values}});
  }
  return out;
}

std::string text_of(const std::vector<MachineSection>& sections) {
  constexpr size_t kIndent = 4;
  std::string out;
  for (const MachineSection& section : sections) {
    out += (out.empty() ? "" : "\n") + section.title + (section.name.empty() ? "" : ": " + section.name) +
           "\n";
    size_t widest = 0;
    for (const MachineValue& v : section.values) widest = std::max(widest, text_width(v.label));
    for (const MachineValue& v : section.values)
      out += "  " + padded(v.label, widest) + "  " + v.value + (v.unit.empty() ? "" : " " + v.unit) + "\n" +
             std::string(kIndent, ' ') +
             wrapped(std::string(origin_name(v.origin)) + ": " + v.source, kIndent) + "\n";
  }
  return out;
}

// The cluster of a name: an accelerator with its default network, or a network with the first accelerator
// that is sold with it.
Result<Design> named(const std::string& name) {
  Design design = default_design();
  const Accelerator* accelerator = find_accelerator(name);
  if (const NetworkEntry* network = find_network(name); network && !accelerator) {
    design.cluster.network = network->id;
    if (!network->accelerators.empty()) accelerator = find_accelerator(network->accelerators.front());
  }
  if (!accelerator) {
    std::vector<std::string> known;
    for (const Accelerator& a : accelerators()) {
      known.push_back(a.id);
      known.insert(known.end(), a.aliases.begin(), a.aliases.end());
    }
    for (const NetworkEntry& n : networks()) known.push_back(n.id);
    const auto near = closest(name, known);
    return Problem{ProblemCode::UnknownAccelerator, "NAME",
                   "no accelerator or network is called \"" + name + "\"",
                   near ? "did you mean " + *near : "an id that shardscape-cli machines lists"};
  }
  design.cluster.accelerator = accelerator->id;
  if (const NetworkEntry* network = catalogue_network(design.cluster))
    design.cluster.gpus_per_node = network->gpus_per_node;
  return design;
}

int print(const Design& design, bool json) {
  const auto sections = machine_table(design);
  if (json)
    std::cout << json_document(
        Json{{"machine", machine_name(design.cluster)}, {"sections", json_of(sections)}});
  else
    std::cout << text_of(sections);
  return kDone;
}

// Problems of the user's own machine files are printed by every use of this command.
int run_machines(const Arguments& arguments) {
  for (const auto* problems :
       {&accelerator_problems(), &network_problems(), &calibration_problems(), &collective_table_problems()})
    print_problems(*problems);
  const bool json = arguments.has("--json");
  const auto flags = design_flags();
  const bool of_design = std::any_of(flags.begin(), flags.end(),
                                     [&](const Flag& flag) { return arguments.has(flag.name); });
  if (!arguments.operands().empty() && of_design) {
    print_problem({ProblemCode::ConflictingFlags, "NAME", "a machine is either named or described by flags",
                   "shardscape-cli machines h100, or shardscape-cli machines --design FILE"});
    return kWrongUsage;
  }
  if (of_design) {
    const auto design = design_of(arguments);
    if (const int* exit_code = std::get_if<int>(&design)) return *exit_code;
    return print(std::get<Design>(design), json);
  }
  if (!arguments.operands().empty()) {
    const auto design = named(arguments.operands().front());
    if (const Problem* problem = std::get_if<Problem>(&design)) {
      print_problem(*problem);
      return kWrongUsage;
    }
    return print(std::get<Design>(design), json);
  }
  if (!json) {
    std::cout << list_text();
    return kDone;
  }
  Json out{{"accelerators", Json::array()}, {"networks", Json::array()}};
  for (const Accelerator& a : accelerators()) {
    const NetworkEntry* usual = default_network(a.id);
    out["accelerators"].push_back({{"id", a.id},
                                   {"aliases", a.aliases},
                                   {"name", a.name},
                                   {"network", usual ? Json(usual->id) : Json()}});
  }
  for (const NetworkEntry& n : networks())
    out["networks"].push_back({{"id", n.id}, {"name", n.name}, {"accelerators", n.accelerators}});
  std::cout << json_document(out);
  return kDone;
}

}  // namespace

Command machines_command() {
  std::vector<Flag> flags{json_flag()};
  for (Flag& flag : design_flags()) flags.push_back(std::move(flag));
  return {"machines",
          "list accelerators and networks, or one machine with the source of each value",
          "[NAME] [FLAGS]",
          std::string("Without a name, lists the accelerators and networks of the catalogue. With the id of "
                      "an accelerator or network, or with flags that describe a design, prints every value "
                      "that estimates use, with its unit and source. The source is the catalogue, a setting "
                      "of the design, a calibration, or a default of the program. Files in resources/ below "
                      "~/.local/share/shardscape add machines. ") +
              kDesignFlagsHelp,
          {"shardscape-cli machines", "shardscape-cli machines h100",
           "shardscape-cli machines grand-teton-roce --json",
           "shardscape-cli machines --accelerator h100 --nic-bandwidth 200 --rails 4"},
          std::move(flags),
          1,
          run_machines};
}

}  // namespace shardscape
