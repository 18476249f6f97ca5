// Muon: momentum of matrices, FLOPs of the Newton-Schulz iterations, gathers of the distributed optimizer;
// and the optimizer whose states are partly in host memory.
#include <QtTest>

#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"
#include "design/validate/validate.h"
#include "support/designs.h"
#include "support/execution_runs.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// Llama 3 8B: q and o, k and v, gate, up and down of a layer. The larger side first.
constexpr int64_t kHidden = 4096, kKv = 1024, kFfn = 14336, kLayers = 32;
struct Shape {
  int64_t large, small, count;
};
std::vector<Shape> matrices(int64_t tp) {
  return {{kHidden, kHidden / tp, 2},
          {kHidden, kKv / tp, 2},
          {std::max(kHidden, kFfn / tp), std::min(kHidden, kFfn / tp), 3}};
}
int64_t elements(int64_t tp) {
  int64_t out = 0;
  for (const Shape& s : matrices(tp)) out += kLayers * s.count * s.large * s.small;
  return out;
}

Design muon_design(int64_t tp, int64_t dp, const char* sync) {
  Design d = preset_design("llama3-8b", tp, 1, dp);
  d.workload.optimizer = OptimizerKind::Muon;
  set_knobs(d, std::string("sync=") + sync);
  return d;
}

int64_t optimizer_bytes(const Design& d) {
  const auto report = make_report(d);
  return static_cast<int64_t>(report->stages[0].memory[static_cast<size_t>(MemoryCategory::Optimizer)].value);
}
int64_t host_bytes(const Design& d) {
  int64_t out = 0;
  const auto report = make_report(d);
  for (const PartValue& p : report->stages[0].host_memory) out += static_cast<int64_t>(p.bytes.value);
  return out;
}
double optimizer_seconds(const Design& d) {
  return simulate(*make_report(d))->stages[0].seconds[static_cast<size_t>(TimeCategory::Optimizer)];
}

}  // namespace

class MuonTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void matricesHaveOneMomentum_data() {
    QTest::addColumn<int>("tp");
    QTest::addColumn<int>("dp");
    QTest::addColumn<QByteArray>("sync");
    for (const int tp : {1, 4})
      for (const char* sync : {"ddp-flat", "distributed-optimizer"})
        QTest::addRow("tp %d, %s", tp, sync) << tp << 2 << QByteArray(sync);
  }
  void matricesHaveOneMomentum() {
    QFETCH(int, tp);
    QFETCH(int, dp);
    QFETCH(QByteArray, sync);
    const Design muon = muon_design(tp, dp, sync.constData());
    Design adam = muon;
    adam.workload.optimizer = OptimizerKind::Adam;
    const int64_t share = sync == "distributed-optimizer" ? dp : 1;
    QCOMPARE(optimizer_bytes(adam) - optimizer_bytes(muon), 4 * elements(tp) / share);
    QVERIFY(optimizer_seconds(muon) > optimizer_seconds(adam));
  }

  // An iteration multiplies X by its transpose, squares the result, and multiplies with X.
  void iterationsHaveFlops() {
    for (const int64_t tp : {1, 4}) {
      Wide wanted = 0;
      for (const Shape& s : matrices(tp))
        wanted += Wide(5) * kLayers * s.count *
                  (Wide(4) * s.small * s.small * s.large + Wide(2) * s.small * s.small * s.small);
      for (const char* sync : {"ddp-flat", "distributed-optimizer"}) {
        const auto report = make_report(muon_design(tp, 2, sync));
        Wide flops = 0;
        for (const FlopsValue& row : report->stages[0].flops)
          if (row.kind == OpKind::Optimizer && row.compute == DType::BF16) flops += row.counted.value;
        QVERIFY(flops == wanted / (sync[1] == 'i' ? 2 : 1));
      }
    }
  }

  // Distributed Muon (arXiv 2502.16982, algorithm 1) gathers the momentum in bfloat16.
  void shardsAreGathered() {
    for (const char* sync : {"ddp-flat", "distributed-optimizer"}) {
      Wide bytes = 0;
      const auto report = make_report(muon_design(2, 4, sync));
      for (const CollectiveValue& row : report->stages[0].collectives)
        if (row.phase == Phase::Step && row.op == CommOp(CollectiveKind::AllGather)) bytes += row.bytes.value;
      QVERIFY(bytes == (sync[1] == 'i' ? Wide(2) * elements(2) : Wide(0)));
    }
  }

  // Experts have matrices of their own: as many FLOPs as experts, not those of one tall matrix.
  void expertsAreMatrices() {
    Design d = preset_design("mixtral-8x7b", 1, 1, 1);
    d.workload.optimizer = OptimizerKind::Muon;
    const Wide n = kFfn, m = kHidden, kv = kKv, layer = Wide(4) * m * m * n + Wide(2) * m * m * m;
    const Wide attention = Wide(2) * 6 * m * m * m +
                           Wide(2) * (Wide(4) * kv * kv * m + Wide(2) * kv * kv * kv);
    Wide flops = 0;
    const auto report = make_report(d);
    for (const FlopsValue& row : report->stages[0].flops)
      if (row.kind == OpKind::Optimizer && row.compute == DType::BF16) flops += row.counted.value;
    QVERIFY(flops == Wide(5) * kLayers * (attention + Wide(8) * 3 * layer));
  }

  // Settings with which a code base runs Muon in a way that is not modelled: a note says so, and Adam
  // updates.
  void notModelled_data() {
    QTest::addColumn<QByteArray>("knobs");
    for (const char* knobs : {"sync=fsdp2", "sync=zero-3", "lora_rank=16"})
      QTest::newRow(knobs) << QByteArray(knobs);
  }
  void notModelled() {
    QFETCH(QByteArray, knobs);
    Design d = muon_design(1, 8, "ddp-flat");
    set_knobs(d, knobs.toStdString());
    Design adam = d;
    adam.workload.optimizer = OptimizerKind::Adam;
    const auto why = without_effect(d, *find_knob("optimizer"));
    QVERIFY(why && why->find(knobs.left(knobs.indexOf('=')).toStdString()) != std::string::npos);
    QCOMPARE(optimizer_bytes(d), optimizer_bytes(adam));
  }

  // Settings with which no code base runs Muon. Every fix that is offered makes the design valid.
  void refused_data() {
    QTest::addColumn<QByteArray>("knobs");
    for (const char* knobs : {"sync=fsdp1", "sync=megatron-fsdp", "offload_optimizer=true",
                              "moment_dtype=int8-blockwise", "moment_dtype=fp8"})
      QTest::newRow(knobs) << QByteArray(knobs);
  }
  void refused() {
    QFETCH(QByteArray, knobs);
    Design d = muon_design(1, 8, "ddp-flat");
    QVERIFY(first_error(d).empty());
    set_knobs(d, knobs.toStdString());
    const std::string knob = knobs.left(knobs.indexOf('=')).toStdString();
    QCOMPARE(first_error(d), knob);
    const std::vector<Problem> problems = validate(d);
    const auto found = std::find_if(problems.begin(), problems.end(),
                                    [](const Problem& p) { return p.code == ProblemCode::MuonUnsupported; });
    QVERIFY(found != problems.end() && found->where == knob && found->fixes.size() == 2);
    d.workload.optimizer = OptimizerKind::Adam;
    QVERIFY(first_error(d).empty());
  }

  // ZeRO-1 and ZeRO-2: a rank stores the momentum of its share, and no collective joins matrices.
  void zeroSharesMatrices_data() {
    QTest::addColumn<QByteArray>("sync");
    for (const char* sync : {"zero-1", "zero-2"}) QTest::newRow(sync) << QByteArray(sync);
  }
  void zeroSharesMatrices() {
    QFETCH(QByteArray, sync);
    const Design muon = muon_design(1, 8, sync.constData());
    QVERIFY(first_error(muon).empty());
    Design adam = muon;
    adam.workload.optimizer = OptimizerKind::Adam;
    QCOMPARE(optimizer_bytes(adam) - optimizer_bytes(muon), 4 * elements(1) / 8);
    const auto report = make_report(muon), alone = make_report(muon_design(1, 1, "ddp-flat"));
    const auto flops = [](const Report& of) {
      Wide sum = 0;
      for (const FlopsValue& row : of.stages[0].flops)
        if (row.kind == OpKind::Optimizer && row.compute == DType::BF16) sum += row.counted.value;
      return sum;
    };
    QVERIFY(flops(*report) == flops(*alone) / 8);
    QCOMPARE(report->stages[0].collectives.size(), make_report(adam)->stages[0].collectives.size());
  }

  // Blocks of 256 elements are in host memory; the device has the others. Full offload stays as it is.
  void offloadOfAFraction_data() {
    QTest::addColumn<QByteArray>("knobs");
    for (const char* knobs : {"sync=ddp-flat", "sync=distributed-optimizer", "sync=fsdp2", "sync=zero-1"})
      for (const char* type : {"fp32", "int8-blockwise"})
        QTest::newRow(qPrintable(QString("%1 %2").arg(knobs, type)))
            << QByteArray(knobs) + " moment_dtype=" + type;
  }
  void offloadOfAFraction() {
    QFETCH(QByteArray, knobs);
    Design d = preset_design("llama3-8b", 2, 1, 4);
    set_knobs(d, knobs.toStdString());
    const int64_t all = optimizer_bytes(d);
    d.workload.offload_optimizer = true;
    QCOMPARE(optimizer_bytes(d), 0);
    QCOMPARE(host_bytes(d), all);
    for (const int64_t share : {100, 333, 999}) {
      d.workload.optimizer_offload_fraction = share;
      const int64_t host = host_bytes(d);
      QCOMPARE(optimizer_bytes(d) + host, all);
      QVERIFY(std::abs(host - all * share / 1000) <= 3 * 256 * 4);
      const auto report = make_report(d);
      QCOMPARE(report->stages[0].host.size(), size_t{2});
    }
    d.workload.optimizer_offload_fraction = 0;
    QCOMPARE(optimizer_bytes(d), all);
    QCOMPARE(host_bytes(d), 0);
  }

  // PCIe is slow: each tenth that stays on the device makes the step shorter.
  void lessOffloadIsFaster() {
    Design d = preset_design("llama3-8b", 2, 1, 4);
    d.workload.offload_optimizer = true;
    double before = 1e9;
    for (const int64_t share : {1000, 700, 400, 100}) {
      d.workload.optimizer_offload_fraction = share;
      const double seconds = simulate(*make_report(d))->step_seconds;
      QVERIFY(seconds < before);
      before = seconds;
    }
  }
};

QTEST_GUILESS_MAIN(MuonTest)
#include "muon_test.moc"
