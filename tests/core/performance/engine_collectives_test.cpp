// All-reduces of inference engines: the engine's kernel where it was measured and is faster than NCCL.
#include <QtTest>
#include <cmath>

#include "performance/collective_time.h"
#include "support/machines.h"

using namespace shardscape;
using namespace shardscape::test;

using Kind = CollectiveKind;

class EngineCollectivesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void kernels_of_inference_engines_data();
  void kernels_of_inference_engines();
};

void EngineCollectivesTest::kernels_of_inference_engines_data() {
  QTest::addColumn<QByteArray>("id");
  QTest::addColumn<double>("us");  // measured all-reduce of 64 KB by 8 ranks
  QTest::newRow("H100") << QByteArray("h100-sxm-80gb") << 6.4;
  QTest::newRow("H200") << QByteArray("h200-sxm-141gb") << 6.5;
  QTest::newRow("B200") << QByteArray("b200-hgx-180gb") << 8.6;
  QTest::newRow("B300") << QByteArray("b300-hgx-270gb") << 8.2;
}

// The faster of NCCL and the engine's kernel, only in inference, only where the kernel runs.
void EngineCollectivesTest::kernels_of_inference_engines() {
  QFETCH(QByteArray, id);
  QFETCH(double, us);
  const Machine training = machine_for(id.constData());
  Machine inference = training;
  inference.training = false;
  const auto seconds = [](const Machine& machine, Kind kind, double bytes, GroupSpan span) {
    return collective_seconds(machine, kind, bytes, span);
  };
  QVERIFY(std::abs(seconds(inference, Kind::AllReduce, 65536, {8, 8}) * 1e6 - us) < 0.1);
  QVERIFY(seconds(training, Kind::AllReduce, 65536, {8, 8}) * 1e6 > 2 * us);
  for (const int64_t ranks : {2, 4, 8})
    for (double bytes = 128; bytes < 1e10; bytes *= 3)
      QVERIFY(seconds(inference, Kind::AllReduce, bytes, {ranks, ranks}) <=
              seconds(training, Kind::AllReduce, bytes, {ranks, ranks}));
  // Other collectives, unmeasured groups, groups over several domains and forced algorithms use NCCL.
  for (const Kind kind : {Kind::AllGather, Kind::ReduceScatter, Kind::AllToAll})
    QCOMPARE(seconds(inference, kind, 65536, {8, 8}), seconds(training, kind, 65536, {8, 8}));
  for (const GroupSpan& span : {GroupSpan{6, 6}, GroupSpan{16, 8}, GroupSpan{8, 1}})
    QCOMPARE(seconds(inference, Kind::AllReduce, 65536, span),
             seconds(training, Kind::AllReduce, 65536, span));
  Machine ring = inference;
  ring.network.algorithm = CollectiveAlgorithm::Ring;
  QVERIFY(seconds(ring, Kind::AllReduce, 65536, {8, 8}) > seconds(inference, Kind::AllReduce, 65536, {8, 8}));
  QVERIFY(collective_basis(inference).find("vLLM") != std::string::npos);
  QVERIFY(collective_basis(training).find("vLLM") == std::string::npos);
}

QTEST_APPLESS_MAIN(EngineCollectivesTest)
#include "engine_collectives_test.moc"
