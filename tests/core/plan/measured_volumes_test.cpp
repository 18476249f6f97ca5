// Communication volumes measured on real clusters: STAGE, arXiv 2511.10480 v3, table VII, Megatron-LM with
// tensor and sequence parallelism. There all-gathers are counted by the shard that a rank puts in. Sequence
// lengths are not printed; 1,024 follows from the reduce-scatter volume of both rows.
#include <QtTest>
#include <map>

#include "plan/report.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// Decimal megabytes of one rank of stage 0, by op, without the reduction of gradients over replicas.
std::map<std::string, double> volumes(const Report& report) {
  std::map<std::string, double> out;
  for (const CollectiveValue& c : report.stages[0].collectives) {
    if (c.group == "dp") continue;
    const double share = c.op == CollectiveKind::AllGather ? static_cast<double>(c.group_size) : 1;
    out[std::string(c.op.name())] += to_double(c.bytes.value) / share / 1e6;
  }
  return out;
}

}  // namespace

class MeasuredVolumesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void withinTwoPercent_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<int>("layers");
    QTest::addColumn<int>("tp");
    QTest::addColumn<int>("pp");
    QTest::addColumn<int>("dp");
    QTest::addColumn<double>("all_gather");
    QTest::addColumn<double>("reduce_scatter");
    QTest::addColumn<double>("all_reduce");  // 0: the row's figure mixes in what it does not name
    QTest::newRow("GPT-3 5B, TP 8 with SP, 8 GPUs")
        << "gpt3-6.7b" << 24 << 8 << 1 << 1 << 19730.0 << 104153.0 << 1075.1;
    QTest::newRow("GPT-3 175B, TP 4, DP 2, PP 8 with SP, 64 GPUs")
        << "gpt3-175b" << 96 << 4 << 8 << 2 << 29393.7 << 77309.4 << 0.0;
  }

  void withinTwoPercent() {
    QFETCH(QString, preset);
    QFETCH(int, layers);
    QFETCH(int, tp);
    QFETCH(int, pp);
    QFETCH(int, dp);
    QFETCH(double, all_gather);
    QFETCH(double, reduce_scatter);
    QFETCH(double, all_reduce);
    Design d = preset_design(qPrintable(preset), tp, pp, dp, true);
    d.model.layers = layers;
    d.model.heads = d.model.kv_heads = d.model.hidden / d.model.head_dim;
    d.workload.seq = 1024;
    d.workload.batch = 128;
    d.workload.microbatch = 1;
    const auto report = make_report(d);
    QVERIFY(report->valid());
    const auto got = volumes(*report);
    const auto within = [&](const char* op, double measured) {
      const double error = std::abs(got.at(op) / measured - 1);
      qInfo("%s: measured %.1f MB, here %.1f MB, %.3f %% off", op, measured, got.at(op), 100 * error);
      return error < 0.02;
    };
    QVERIFY(within("all_gather", all_gather));
    QVERIFY(within("reduce_scatter", reduce_scatter));
    if (all_reduce > 0) QVERIFY(within("all_reduce", all_reduce));
  }
};

QTEST_APPLESS_MAIN(MeasuredVolumesTest)
#include "measured_volumes_test.moc"
