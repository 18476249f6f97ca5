// Gathers and reduce-scatters in the switches: NVLink SHARP inside a domain, SHARP between domains.
#include <QtTest>

#include "performance/collective_time.h"
#include "support/designs.h"
#include "timing/machine_of.h"

using namespace shardscape;
using namespace shardscape::test;
using Algorithm = CollectiveAlgorithm;
using Kind = CollectiveKind;

namespace {

Machine machine_with(const char* accelerator, InNetworkReduction reduction) {
  Design d = preset_design("llama3-8b", 1, 1, 8);
  d.cluster.accelerator = accelerator;
  d.cluster.in_network_reduction = reduction;
  return machine_of(d);
}

}  // namespace

class InNetworkTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void machines_data() {
    QTest::addColumn<QByteArray>("accelerator");
    for (const char* id : {"h100-sxm-80gb", "b200-hgx-180gb", "rubin-nvl144-288gb"})
      QTest::addRow("%s", id) << QByteArray(id);
  }

  // Across many domains, SHARP saves the hops of a ring. It moves the same bytes.
  void sharpShortensGathers_data() { machines_data(); }
  void sharpShortensGathers() {
    QFETCH(QByteArray, accelerator);
    const Machine plain = machine_with(accelerator.constData(), InNetworkReduction::Auto),
                  sharp = machine_with(accelerator.constData(), InNetworkReduction::Sharp);
    for (const Kind kind : {Kind::AllGather, Kind::ReduceScatter}) {
      const GroupSpan many{2048, 8};
      const CollectiveEstimate ring = collective_estimate(plain, kind, 8e6, many),
                               in_network = collective_estimate(sharp, kind, 8e6, many);
      QCOMPARE(ring.algorithm, Algorithm::Ring);
      QCOMPARE(in_network.algorithm, Algorithm::InNetwork);
      QVERIFY(in_network.seconds < 0.5 * ring.seconds);
      QCOMPARE(in_network.load.nic_bytes / ring.load.nic_bytes, (255.0 / 256) / (2047.0 / 2048));
      for (double bytes = 1e3; bytes < 1e10; bytes *= 7)
        for (const GroupSpan& span : {GroupSpan{16, 8}, GroupSpan{64, 1}, many})
          QVERIFY(collective_seconds(sharp, kind, bytes, span) <=
                  collective_seconds(plain, kind, bytes, span) * (1 + 1e-12));
    }
  }

  // NVLSTree joins domains by trees, which gather nothing. Without SHARP, a forced in-network algorithm
  // gathers in rings.
  void nvlsTreeDoesNotGather() {
    Machine machine = machine_with("h100-sxm-80gb", InNetworkReduction::Nvls);
    machine.network.algorithm = Algorithm::InNetwork;
    QCOMPARE(collective_estimate(machine, Kind::AllGather, 1e8, {64, 8}).algorithm, Algorithm::Ring);
    QCOMPARE(collective_estimate(machine, Kind::AllReduce, 1e8, {64, 8}).algorithm, Algorithm::InNetwork);
    QCOMPARE(collective_estimate(machine, Kind::AllGather, 1e8, {8, 8}).algorithm, Algorithm::InNetwork);
    QVERIFY(collective_estimate(machine, Kind::Broadcast, 1e8, {8, 8}).algorithm != Algorithm::InNetwork);
  }

  // Inside a domain, measured curves include NCCL's choice: the switch between both settings changes nothing.
  void measuredGathersStay() {
    const Machine machine = machine_with("h100-sxm-80gb", InNetworkReduction::Auto);
    for (double bytes = 1e3; bytes < 1e10; bytes *= 7)
      QCOMPARE(collective_estimate(machine, Kind::AllGather, bytes, {8, 8}).algorithm, Algorithm::Ring);
  }
};

QTEST_GUILESS_MAIN(InNetworkTest)
#include "in_network_test.moc"
