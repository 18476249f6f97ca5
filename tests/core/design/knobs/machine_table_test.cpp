// Every value of the machine table has a source, and estimates use the same value.
#include <QtTest>
#include <cmath>
#include <map>

#include "design/cluster.h"
#include "design/knobs/knobs.h"
#include "design/knobs/machine_table.h"
#include "hardware/network_catalogue.h"
#include "support/machines.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

Design on(const std::string& accelerator, const std::string& network,
          const std::vector<std::pair<const char*, const char*>>& settings = {}) {
  Design design = default_design();
  design.cluster.accelerator = accelerator;
  design.cluster.network = network;
  if (const NetworkEntry* entry = catalogue_network(design.cluster))
    design.cluster.gpus_per_node = entry->gpus_per_node;
  for (const auto& [id, value] : settings)
    if (const auto problem = set_knob(design, *find_knob(id), value))
      qFatal("%s", to_string(*problem).c_str());
  return design;
}

std::map<std::string, MachineValue> by_key(const Design& design) {
  std::map<std::string, MachineValue> out;
  for (const MachineSection& section : machine_table(design))
    for (const MachineValue& value : section.values) out[value.key] = value;
  return out;
}

}  // namespace

class MachineTableTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void every_value_has_a_source_data();
  void every_value_has_a_source();
  void sources_of_catalogues_cover_their_values();
  void values_are_those_of_estimates();
  void knobs_override();
  void latencies_differ_between_networks();
  void unknown_accelerators_have_no_table();
};

void MachineTableTest::every_value_has_a_source_data() { machine_rows(); }

void MachineTableTest::every_value_has_a_source() {
  QFETCH(QByteArray, accelerator);
  QFETCH(QByteArray, network);
  const auto sections = machine_table(on(accelerator.toStdString(), network.toStdString()));
  QCOMPARE(sections.size(), size_t{4});
  for (const MachineSection& section : sections) {
    QVERIFY2(section.values.size() >= 3, section.title.c_str());
    for (const MachineValue& v : section.values) {
      QVERIFY2(v.source.size() > 5 && !v.label.empty() && !v.value.empty(), v.key.c_str());
      // Nothing that the catalogue sells is taken for granted where only a person could have set it.
      QVERIFY2(v.origin != ValueOrigin::Design, v.key.c_str());
      QVERIFY2(v.number || v.unit.empty(), v.key.c_str());
    }
  }
}

// Every key of `sources` except "*" names a value, as the reader enforces.
void MachineTableTest::sources_of_catalogues_cover_their_values() {
  for (const Accelerator& a : accelerators()) {
    QVERIFY2(!source_of(a.sources, "bf16_tflops").empty() && !source_of(a.sources, "memory_gbps").empty(),
             a.id.c_str());
    if (a.price_per_hour > 0) QVERIFY2(a.sources.count("price_per_hour"), a.id.c_str());
  }
  for (const NetworkEntry& n : networks()) {
    QVERIFY2(!source_of(n.sources, "gpus_per_node").empty(), n.id.c_str());
    // Latencies and shares of rates are facts of their own, not of a data sheet.
    if (n.scaleup_latency_us > 0) QVERIFY2(n.sources.count("scaleup_latency_us"), n.id.c_str());
    if (n.nic_latency_us > 0) QVERIFY2(n.sources.count("nic_latency_us"), n.id.c_str());
    if (n.spine_latency_us > 0)
      QVERIFY2(n.sources.count("spine_latency_us") && n.sources.count("leaf") && n.leaf > 0, n.id.c_str());
    if (n.nic_efficiency > 0) QVERIFY2(n.sources.count("nic_efficiency"), n.id.c_str());
  }
}

void MachineTableTest::values_are_those_of_estimates() {
  const Design design = on("h100-sxm-80gb", "grand-teton-roce");
  const Network net = network_of(design);
  const std::shared_ptr<const Accelerator> owner = accelerator_of(design.cluster);
  const Accelerator& accelerator = *owner;
  const auto table = by_key(design);
  const auto is = [&](const char* key, double value) {
    return table.count(key) && table.at(key).number && std::abs(*table.at(key).number - value) < 1e-9;
  };
  QVERIFY(is("bf16_tflops", accelerator.bf16_tflops) && is("memory_gbps", accelerator.memory_gbps));
  QVERIFY(is("domain", net.domain) && is("scaleup_gbps", net.scaleup_gbps) &&
          is("nic_gbps", net.nic_gbps * 8) && is("rails", net.rails) && is("leaf", net.leaf));
  QVERIFY(is("scaleup_latency_us", net.hop.scaleup_us) && is("nic_latency_us", net.hop.nic_us) &&
          is("spine_latency_us", net.hop.spine_us) && is("launch_us", net.launch_us));
  QVERIFY(is("oversubscription", 7) && is("pod", 3072) && is("nic_efficiency", net.nic_efficiency));
  QCOMPARE(table.at("collectives").origin, ValueOrigin::Calibration);
  // Where links lead to single devices, one of them.
  QVERIFY(!table.count("scaleup_link_gbps"));
  for (const auto& [id, gbps] :
       {std::pair{"mi300x-192gb", 64.0}, std::pair{"gaudi3-128gb", 75.0}, std::pair{"tpu-v4", 50.0}}) {
    const MachineValue link = by_key(on(id, "auto")).at("scaleup_link_gbps");
    QVERIFY2(*link.number == gbps && link.origin == ValueOrigin::Catalogue, id);
  }
  QCOMPARE(by_key(on("mi300x-192gb", "auto", {{"scaleup_bandwidth", "896"}})).at("scaleup_link_gbps").origin,
           ValueOrigin::Design);
  QCOMPARE(by_key(on("mi300x-192gb", "auto")).at("collectives").origin, ValueOrigin::Program);
}

void MachineTableTest::knobs_override() {
  const std::vector<std::tuple<const char*, const char*, const char*, double>> rows{
      {"peak_tflops", "2000", "bf16_tflops", 2000},
      {"memory_capacity", "96", "memory_gb", 96},
      {"memory_bandwidth", "5000", "memory_gbps", 5000},
      {"scaleup_domain", "16", "domain", 16},
      {"scaleup_bandwidth", "200", "scaleup_gbps", 200},
      {"nic_bandwidth", "100", "nic_gbps", 100},
      {"scaleup_latency", "1500", "scaleup_latency_us", 1.5},
      {"network_latency", "8000", "nic_latency_us", 8},
      {"spine_latency", "3000", "spine_latency_us", 3},
      {"rails", "4", "rails", 4},
      {"oversubscription", "2.5", "oversubscription", 2.5},
      {"gpus_per_node", "4", "gpus_per_node", 4},
      {"price_per_hour", "2.1", "price_per_hour", 2.1},
      {"board_power", "650", "board_watts", 650},
      {"host_power", "300", "host_watts", 300},
      {"pue", "1.25", "pue", 1.25},
      {"failure_rate", "6.5", "failure_rate", 6.5},
      {"restart_time", "300", "restart_seconds", 300},
      {"checkpoint_bandwidth", "2", "checkpoint_gbps", 2}};
  for (const auto& [knob, text, key, value] : rows) {
    const auto before = by_key(on("h100-sxm-80gb", "auto")),
               after = by_key(on("h100-sxm-80gb", "auto", {{knob, text}}));
    QVERIFY2(before.at(key).origin != ValueOrigin::Design && *before.at(key).number != value, knob);
    QVERIFY2(after.at(key).origin == ValueOrigin::Design && std::abs(*after.at(key).number - value) < 1e-9,
             knob);
    QVERIFY2(after.at(key).source.find(find_knob(knob)->flag()) != std::string::npos,
             after.at(key).source.c_str());
  }
}

// A hop over Ethernet is longer than one over InfiniBand, one between neighbours of a torus is no hop over
// NVLink.
void MachineTableTest::latencies_differ_between_networks() {
  const auto hop = [](const char* accelerator, const char* network) {
    return network_of(on(accelerator, network)).hop;
  };
  const HopLatency ib = hop("h100-sxm-80gb", "dgx-h100"), roce = hop("h100-sxm-80gb", "grand-teton-roce"),
                   torus = hop("tpu-v4", "auto"), amd = hop("mi300x-192gb", "auto");
  QCOMPARE(ib.nic_us, HopLatency{}.nic_us);  // what NCCL's constants were measured on
  QVERIFY(roce.nic_us > ib.nic_us && roce.spine_us > ib.spine_us && ib.spine_us > 0);
  QVERIFY(torus.scaleup_us > ib.scaleup_us && amd.scaleup_us > ib.scaleup_us);
}

void MachineTableTest::unknown_accelerators_have_no_table() {
  QVERIFY(machine_table(on("abacus", "auto")).empty());
}

QTEST_APPLESS_MAIN(MachineTableTest)
#include "machine_table_test.moc"
