// Networks of designs: changes of catalogue networks by knobs, knobs without effect, and the way that
// traffic goes over rails and leaves.
#include <QtTest>
#include <map>

#include "design/cluster.h"
#include "design/knobs/knob_state.h"
#include "design/validate/validate.h"
#include "performance/collective_time.h"
#include "support/machines.h"

using namespace shardscape;
using namespace shardscape::test;
using Kind = CollectiveKind;
using Algorithm = CollectiveAlgorithm;

class NetworkTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void rails_and_leaves();
  void knobs_reach_the_network_data();
  void knobs_reach_the_network();
  void knobs_without_effect();
  void bad_clusters_data();
  void bad_clusters();
};

// With links that do not reach all NICs of a node the spine joins the rails; fewer rails are fewer nodes
// under a leaf switch.
void NetworkTest::rails_and_leaves() {
  const auto us = [](const char* accelerator,
                     const std::vector<std::pair<const char*, const char*>>& settings, Kind kind,
                     const std::vector<int64_t>& ranks) {
    const Network net = machine_for(accelerator, settings).network;
    return collective_formula(net, kind, 1, span_of(ranks, net)).seconds * 1e6;
  };
  const auto h100 = [&](const std::vector<std::pair<const char*, const char*>>& settings,
                        const std::vector<int64_t>& ranks) {
    return us("h100-sxm-80gb", settings, Kind::SendRecv, ranks);
  };
  const double launch = Network{}.launch_us;
  const auto near = [](double a, double b) { return std::abs(a - b) < 1e-3; };
  QVERIFY(near(h100({}, {0, 8}), launch + 2.7));
  QVERIFY(near(h100({}, {0, 9}), launch + 2.7 + 0.6));  // by NVLink to the rank on the rail
  QVERIFY(near(h100({{"scaleup_domain", "1"}}, {0, 9}), launch + 2.7 + 0.9));  // over the spine
  QVERIFY(near(h100({{"scaleup_domain", "1"}, {"rails", "1"}}, {0, 9}), launch + 2.7));
  QVERIFY(near(h100({}, {0, 256}), launch + 2.7 + 0.9));  // a unit of 32 nodes away
  QVERIFY(near(h100({}, {0, 248}), launch + 2.7));
  QVERIFY(near(h100({{"rails", "4"}}, {0, 248}), launch + 2.7 + 0.9));  // with half the rails half the nodes
  QVERIFY(near(h100({{"rails", "4"}}, {0, 120}), launch + 2.7));
  QVERIFY(near(h100({{"spine_latency", "5000"}}, {0, 256}), launch + 2.7 + 5));
  QVERIFY(near(us("h100-sxm-80gb", {{"network", "grand-teton-roce"}}, Kind::SendRecv, {0, 16}),
               launch + 3.5 + 2));  // a rack away
  QVERIFY(near(us("h100-sxm-80gb", {{"network", "grand-teton-roce"}}, Kind::SendRecv, {0, 9}), launch + 3.5));
  // Fewer rails are slower where messages are small and groups wide.
  std::vector<int64_t> wide;
  for (int64_t i = 0; i < 32; ++i) wide.push_back(8 * i);
  QVERIFY(us("h100-sxm-80gb", {{"rails", "1"}}, Kind::AllGather, wide) >
          us("h100-sxm-80gb", {}, Kind::AllGather, wide) + 1);
}

void NetworkTest::knobs_reach_the_network_data() {
  QTest::addColumn<QByteArray>("id");
  QTest::addColumn<QByteArray>("value");
  QTest::addColumn<double>("expected");
  const auto row = [](const char* id, const char* value, double expected) {
    QTest::addRow("%s %s", id, value) << QByteArray(id) << QByteArray(value) << expected;
  };
  row("scaleup_domain", "16", 16);
  row("scaleup_bandwidth", "200", 200);
  row("nic_bandwidth", "100", 12.5);
  row("scaleup_latency", "1500", 1.5);
  row("network_latency", "8000", 8);
  row("spine_latency", "3000", 3);
  row("oversubscription", "2.5", 2.5);
  row("pod_size", "64", 64);
  row("in_network_reduction", "none", 0);
  row("collective_algorithm", "tree", static_cast<double>(Algorithm::Tree));
}

void NetworkTest::knobs_reach_the_network() {
  QFETCH(QByteArray, id);
  QFETCH(QByteArray, value);
  QFETCH(double, expected);
  const std::vector<std::pair<const char*, const char*>> base{{"network", "grand-teton-roce"}};
  auto changed = base;
  changed.emplace_back(id.constData(), value.constData());
  const auto numbers = [](const Network& n) {
    return std::map<QByteArray, double>{{"scaleup_domain", n.domain},
                                        {"scaleup_bandwidth", n.scaleup_gbps},
                                        {"nic_bandwidth", n.nic_gbps},
                                        {"scaleup_latency", n.hop.scaleup_us},
                                        {"network_latency", n.hop.nic_us},
                                        {"spine_latency", n.hop.spine_us},
                                        {"rails", n.rails},
                                        {"leaf", n.leaf},
                                        {"oversubscription", n.oversubscription},
                                        {"pod_size", n.pod},
                                        {"in_network_reduction", n.nvls},
                                        {"collective_algorithm", static_cast<double>(n.algorithm)}};
  };
  auto before = numbers(machine_for("h100-sxm-80gb", base).network),
       after = numbers(machine_for("h100-sxm-80gb", changed).network);
  QVERIFY(before[id] != expected);
  QCOMPARE(after[id], expected);
  after[id] = before[id];
  QVERIFY(after == before);
}

void NetworkTest::knobs_without_effect() {
  Design design = default_design();
  design.parallel = {};
  design.parallel.dp = 2;
  const auto idle = [&](const char* id) { return without_effect(design, *find_knob(id)).has_value(); };
  QVERIFY(idle("nic_bandwidth") && idle("rails") && idle("pod_size") && !idle("scaleup_bandwidth") &&
          !idle("collective_algorithm"));
  design.parallel.dp = 64;
  QVERIFY(!idle("nic_bandwidth") && !idle("oversubscription") && idle("pod_size"));
  design.cluster.oversubscription = 2000;
  QVERIFY(!idle("pod_size"));
  design.cluster.gpus_per_node = 1;
  QVERIFY(idle("scaleup_bandwidth"));
  // A rack is one domain; jobs of several racks get segments.
  design.cluster = {};
  design.cluster.accelerator = "gb200-nvl72-186gb";
  QCOMPARE(scaleup_domain(design), int64_t{72});
  QVERIFY(idle("nic_bandwidth"));
  design.parallel.dp = 128;
  QCOMPARE(scaleup_domain(design), int64_t{64});
}

void NetworkTest::bad_clusters_data() {
  QTest::addColumn<QByteArray>("id");
  QTest::addColumn<QByteArray>("value");
  QTest::addColumn<ProblemCode>("code");
  QTest::addColumn<bool>("error");
  const auto row = [](const char* id, const char* value, ProblemCode code, bool error) {
    QTest::addRow("%s %s", id, value) << QByteArray(id) << QByteArray(value) << code << error;
  };
  row("scaleup_domain", "12", ProblemCode::DomainCutsNodes, true);
  row("oversubscription", "0.5", ProblemCode::OversubscriptionBelowOne, true);
  row("pue", "0.9", ProblemCode::PueBelowOne, true);
  row("network", "dgx-a100", ProblemCode::NetworkOfOtherAccelerator, false);
  row("network", "mi300x-roce", ProblemCode::NetworkOfOtherAccelerator, false);
  row("in_network_reduction", "sharp", ProblemCode::NetworkWithoutReduction, false);
}

void NetworkTest::bad_clusters() {
  QFETCH(QByteArray, id);
  QFETCH(QByteArray, value);
  QFETCH(ProblemCode, code);
  QFETCH(bool, error);
  Design design = default_design();
  design.cluster.network = "grand-teton-roce";
  QVERIFY(!set_knob(design, *find_knob(id.toStdString()), value.toStdString()));
  int found = 0;
  for (const Problem& problem : validate(design)) {
    if (problem.where != id.toStdString()) continue;
    ++found;
    QVERIFY2(problem.code == code, problem.what.c_str());
    QCOMPARE(problem.severity == Severity::Error, error);
    QVERIFY(!problem.fixes.empty() && !problem.accepted.empty());
    for (const Fix& fix : problem.fixes) {
      Design mended = design;
      for (const auto& [knob, text] : fix.settings) QVERIFY(!set_knob(mended, *find_knob(knob), text));
      for (const Problem& left : validate(mended)) QVERIFY2(left.where != problem.where, left.what.c_str());
    }
  }
  QCOMPARE(found, 1);
}

QTEST_APPLESS_MAIN(NetworkTest)
#include "network_test.moc"
