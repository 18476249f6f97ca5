// Saved tensors in narrower types (DeepSeek-V3, arXiv 2412.19437, section 3.3.3): which tensors the backward
// reads, their bytes, and that the step computes the same numbers.
#include <QtTest>
#include <algorithm>

#include "plan/report.h"
#include "support/designs.h"
#include "support/equivalence.h"
#include "support/expert_designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

QString saved(const Segment& s, const char* name) {
  for (const SavedStorage& of : s.saved)
    if (const Storage& storage = s.storages[static_cast<size_t>(of.storage)]; storage.name == name)
      return QString::fromStdString(storage.bytes.text());
  return "";
}

Design dense_layer(ComputePrecision compute) {
  Design d = preset_design("llama3-8b", 1, 1, 1, false);
  d.model.layers = 2;
  d.workload.microbatch = d.workload.batch = 1;
  d.workload.profile = "megatron-core-te";
  d.workload.compute = compute;
  d.workload.recompute = Recompute::Selective;
  d.workload.recompute_modules = {};
  d.workload.recompute_modules.add(RecomputeModule::MlpAct);
  d.workload.activation_cache = ActivationCache::FP8;
  return d;
}

}  // namespace

class CacheActivationsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // 49/32 bytes per element of the attention's output, 33/32 per element of gate and up.
  void copiesReplaceTensors_data() {
    QTest::addColumn<int>("compute");
    QTest::newRow("bfloat16") << static_cast<int>(ComputePrecision::Storage);
    QTest::newRow("fp8") << static_cast<int>(ComputePrecision::FP8Block);
  }
  void copiesReplaceTensors() {
    QFETCH(int, compute);
    Design d = dense_layer(static_cast<ComputePrecision>(compute));
    const auto cached = make_report(d);
    d.workload.activation_cache = ActivationCache::Same;
    const auto plain = make_report(d);
    QVERIFY(cached->valid() && plain->valid());
    const Segment &with = cached->graph().segments[1], &without = plain->graph().segments[1];
    QCOMPARE(saved(without, "attention.o"), QString("2·b·S·H·E"));
    QCOMPARE(saved(with, "attention.o"), QString());
    QCOMPARE(saved(with, "attention.o.e5m6"), QString("49·b·S·H·E/32"));
    QCOMPARE(saved(with, "attention.o.quantized"), QString());  // made again from the copy
    QCOMPARE(saved(without, "attention.o.quantized").isEmpty(), compute == 0);
    QCOMPARE(saved(without, "mlp.g"), QString("4·b·S·F"));  // gate and up are packed
    QCOMPARE(saved(with, "mlp.g"), QString());
    QCOMPARE(saved(with, "mlp.g.float8_block"), QString("33·b·S·F/32"));
    QCOMPARE(saved(with, "mlp.u.float8_block"), QString("33·b·S·F/32"));
    constexpr auto activations = static_cast<size_t>(MemoryCategory::Activations);
    QVERIFY(cached->stages[0].memory[activations].value < plain->stages[0].memory[activations].value);
  }

  // Full recompute saves inputs of layers only, so nothing is cast.
  void fullRecomputeSavesInputs() {
    Design d = dense_layer(ComputePrecision::Storage);
    d.workload.recompute = Recompute::Full;
    const auto report = make_report(d);
    QVERIFY(report->valid());
    for (const Op& op : report->graph().segments[1].ops) QVERIFY(op.kind != OpKind::Cast);
  }

  void stepsEqualUnsharded_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<int>("schedule");
    QTest::addColumn<bool>("recompute");
    const auto row = [](const char* name, const char* architecture, ScheduleKind schedule, bool recompute) {
      QTest::newRow(name) << QString(architecture) << static_cast<int>(schedule) << recompute;
    };
    // Every schedule with and without recomputation, every architecture.
    row("mixtral", "mixtral", ScheduleKind::OneFOneB, false);
    row("mixtral, zero bubble, recompute", "mixtral", ScheduleKind::ZbH1, true);
    row("deepseek3, recompute", "deepseek3", ScheduleKind::OneFOneB, true);
    row("gpt-oss, zero bubble", "gpt-oss", ScheduleKind::ZbH1, false);
  }
  void stepsEqualUnsharded() {
    QFETCH(QString, architecture);
    QFETCH(int, schedule);
    QFETCH(bool, recompute);
    Design d = experts_design(qPrintable(architecture));
    d.model.layers = 2;
    d.model.hidden = 128;
    d.model.ffn = d.model.expert_ffn = 256;
    d.model.head_dim = d.model.value_head_dim = 128;
    d.parallel.tp = d.parallel.pp = d.parallel.dp = 2;
    d.parallel.ep = 2;
    d.parallel.sequence_parallel = true;
    d.parallel.schedule = static_cast<ScheduleKind>(schedule);
    d.workload.recompute = recompute ? Recompute::Selective : Recompute::None;
    if (recompute) {
      d.workload.recompute_modules.add(RecomputeModule::MlpAct);
      d.workload.recompute_modules.add(RecomputeModule::MoeAct);
    }
    d.workload.activation_cache = ActivationCache::FP8;
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }
};

QTEST_APPLESS_MAIN(CacheActivationsTest)
#include "cache_activations_test.moc"
