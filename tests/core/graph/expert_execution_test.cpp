// Mixture of experts, proved by execution: every dispatcher and every expert mesh computes what one rank
// computes.
#include <QtTest>

#include <algorithm>
#include <cmath>

#include "design/knobs/knobs.h"
#include "graph/build.h"
#include "support/equivalence.h"
#include "support/expert_designs.h"
#include "support/kernels.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

struct Run {
  const char* name;
  int tp;
  bool sp;
  int cp, dp, pp, ep, etp;
  const char* dispatcher;
  int recompute;
};
constexpr Run kRuns[] = {
    {"one rank of experts", 1, false, 1, 2, 1, 1, 0, "alltoall", 0},
    {"ep 2", 1, false, 1, 2, 1, 2, 0, "alltoall", 0},
    {"ep 2 of dp 4", 1, false, 1, 4, 1, 2, 0, "alltoall", 0},
    {"ep 4 of dp 4", 1, false, 1, 4, 2, 4, 0, "alltoall", 0},
    {"ep 4 over dp and cp", 1, false, 2, 2, 1, 4, 0, "alltoall", 0},
    {"ep 2 inside cp", 1, false, 2, 2, 1, 2, 0, "alltoall", 0},
    {"tp 2", 2, false, 1, 1, 1, 1, 0, "alltoall", 0},
    {"tp 2 sp", 2, true, 1, 1, 2, 1, 0, "alltoall", 0},
    {"tp 2 ep 2", 2, false, 1, 2, 1, 2, 0, "alltoall", 0},
    {"tp 2 sp ep 2", 2, true, 1, 2, 1, 2, 0, "alltoall", 0},
    {"tp 4 sp ep 2 kv heads fewer", 4, true, 1, 2, 1, 2, 0, "alltoall", 0},
    {"tp 2 sp ep 2 cp 2", 2, true, 2, 1, 1, 2, 0, "alltoall", 0},
    {"tp 2 by hidden", 2, false, 1, 1, 1, 1, 0, "alltoall_seq", 0},
    {"tp 2 sp by hidden", 2, true, 1, 1, 2, 1, 0, "alltoall_seq", 0},
    {"tp 2 sp ep 2 by hidden", 2, true, 1, 2, 1, 2, 0, "alltoall_seq", 0},
    {"tp 4 sp ep 2 by hidden, kv heads fewer", 4, true, 1, 4, 1, 2, 0, "alltoall_seq", 0},
    {"tp 2 sp ep 4 cp 2 by hidden", 2, true, 2, 2, 1, 4, 0, "alltoall_seq", 0},
    {"gathered ep 2", 1, false, 1, 2, 1, 2, 0, "allgather", 0},
    {"gathered ep 2 of dp 4", 1, false, 1, 4, 2, 2, 0, "allgather", 0},
    {"gathered tp 2", 2, false, 1, 1, 1, 1, 0, "allgather", 0},
    {"gathered tp 2 sp", 2, true, 1, 1, 1, 1, 0, "allgather", 0},
    {"gathered tp 2 ep 2", 2, false, 1, 2, 1, 2, 0, "allgather", 0},
    {"gathered tp 2 sp ep 2", 2, true, 1, 2, 1, 2, 0, "allgather", 0},
    {"gathered tp 2 sp ep 2 cp 2", 2, true, 2, 2, 1, 2, 0, "allgather", 0},
    {"folded: ep 4, experts whole", 2, true, 1, 2, 1, 4, 1, "alltoall", 0},
    {"folded: ep 2, experts whole", 2, true, 1, 2, 2, 2, 1, "alltoall", 0},
    {"folded: ep 2, experts over 2 of 4", 4, true, 1, 1, 1, 2, 2, "alltoall", 0},
    {"folded: experts over 4 of tp 2", 2, true, 1, 4, 1, 2, 4, "alltoall", 0},
    {"folded: gathered, ep 4", 2, true, 1, 2, 1, 4, 1, "allgather", 0},
    {"folded: ep 2 cp 2, experts whole", 2, true, 2, 1, 1, 4, 1, "alltoall", 0},
    {"folded without tp", 1, false, 1, 4, 1, 2, 2, "alltoall", 0},
    {"selective", 2, true, 1, 2, 1, 2, 0, "alltoall", 1},
    {"full recompute", 2, true, 1, 2, 2, 2, 0, "alltoall", 2},
    {"full recompute by hidden", 2, true, 1, 2, 1, 2, 0, "alltoall_seq", 2},
    {"full recompute, gathered", 2, true, 1, 2, 1, 2, 0, "allgather", 2},
};

}  // namespace

class ExpertExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsUnsharded_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<int>("run");
    QTest::addColumn<QString>("profile");
    for (const char* architecture : {"mixtral", "qwen3-moe", "deepseek-moe", "deepseek3", "deepseek3-softmax",
                                     "qwen2-moe", "jamba", "gpt-oss"})
      for (int i = 0; i < static_cast<int>(std::size(kRuns)); ++i) {
        if (architecture[0] == 'q' && i % 3 != 0) continue;
        if (QString(architecture) == "deepseek3" && i % 3 != 1) continue;
        if (QString(architecture) == "deepseek3-softmax" && i % 9 != 4) continue;
        if (QString(architecture) == "jamba" && (i % 5 != 4 || kRuns[i].cp > 1))
          continue;  // mixers scan whole sequences
        QTest::newRow(qPrintable(QString("%1: %2").arg(architecture, kRuns[i].name)))
            << QString(architecture) << i << "flash";
        if (i % 4 == 1)
          QTest::newRow(qPrintable(QString("%1: %2 litgpt").arg(architecture, kRuns[i].name)))
              << QString(architecture) << i << "litgpt";
        if (i % 3 == 2)
          QTest::newRow(qPrintable(QString("%1: %2 weighed inside").arg(architecture, kRuns[i].name)))
              << QString(architecture) << i << "megatron-core-te";
      }
  }
  void equalsUnsharded() {
    QFETCH(QString, architecture);
    QFETCH(int, run);
    QFETCH(QString, profile);
    const Run& r = kRuns[run];
    Design d = experts_design(qPrintable(architecture));
    d.parallel.tp = r.tp;
    d.parallel.sequence_parallel = r.sp;
    d.parallel.cp = r.cp;
    d.parallel.dp = r.dp;
    d.parallel.pp = r.pp;
    d.parallel.ep = r.ep;
    d.parallel.etp = r.etp;
    d.parallel.dispatcher = QString(r.dispatcher) == "alltoall"    ? Dispatcher::AllToAll
                            : QString(r.dispatcher) == "allgather" ? Dispatcher::AllGather
                                                                   : Dispatcher::AllToAllSeq;
    d.workload.recompute = static_cast<Recompute>(r.recompute);
    d.workload.profile = profile.toStdString();
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  // Ulysses spreads heads, and the ranks that a sink is read on, over cp.
  void sinksEqualUnshardedUnderUlysses_data() {
    QTest::addColumn<int>("tp");
    QTest::addColumn<int>("cp");
    QTest::addColumn<int>("kv_heads");
    QTest::addColumn<int>("recompute");
    QTest::newRow("cp 2") << 1 << 2 << 2 << 0;
    QTest::newRow("cp 4") << 1 << 4 << 4 << 0;
    QTest::newRow("tp 2 sp cp 2") << 2 << 2 << 4 << 0;
    QTest::newRow("tp 2 sp cp 2, selective") << 2 << 2 << 4 << 1;
    QTest::newRow("cp 2, full recompute") << 1 << 2 << 2 << 2;
  }
  void sinksEqualUnshardedUnderUlysses() {
    QFETCH(int, tp);
    QFETCH(int, cp);
    QFETCH(int, kv_heads);
    QFETCH(int, recompute);
    Design d = experts_design("gpt-oss");
    d.model.kv_heads = kv_heads;
    d.parallel.tp = tp;
    d.parallel.sequence_parallel = tp > 1;
    d.parallel.cp = cp;
    d.parallel.dp = d.parallel.ep = 2;
    d.parallel.context = ContextMode::Ulysses;
    d.workload.recompute = static_cast<Recompute>(recompute);
    QCOMPARE(difference_from_unsharded(d), std::string());
  }

  void paddedEqualsUnsharded_data() {
    QTest::addColumn<int>("factor");
    QTest::addColumn<int>("ep");
    QTest::newRow("capacity 1.5") << 1500 << 2;
    QTest::newRow("capacity 2") << 2000 << 4;
  }
  void paddedEqualsUnsharded() {
    QFETCH(int, factor);
    QFETCH(int, ep);
    Design d = experts_design("mixtral");
    d.parallel.dp = 4;
    d.parallel.tp = 2;
    d.parallel.sequence_parallel = true;
    d.parallel.ep = ep;
    d.workload.capacity_factor = factor;
    d.workload.pad_to_capacity = true;
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  // In fewer bits the graph is another one; numbers are as if quantizing changed nothing.
  void quantizedEqualsUnsharded_data() {
    QTest::addColumn<QString>("compute");
    QTest::addColumn<bool>("fp8_dispatch");
    QTest::addColumn<QString>("dispatcher");
    for (const char* compute : {"storage", "mxfp8"})
      for (bool fp8 : {false, true})
        for (const char* dispatcher : {"alltoall", "alltoall_seq", "allgather"})
          QTest::newRow(
              qPrintable(QString("%1, %2 dispatch, %3").arg(compute, fp8 ? "fp8" : "same", dispatcher)))
              << QString(compute) << fp8 << QString(dispatcher);
  }
  void quantizedEqualsUnsharded() {
    QFETCH(QString, compute);
    QFETCH(bool, fp8_dispatch);
    QFETCH(QString, dispatcher);
    Design d = experts_design("deepseek-moe");
    d.model.hidden = dispatcher == "alltoall_seq" ? 256 : 128;  // blocks of 128 on every rank
    d.model.ffn = d.model.expert_ffn = 64;
    d.model.head_dim = 16;
    d.model.layers = 2;
    d.workload.seq = 64;  // blocks of 32 tokens on every rank
    d.workload.vocab_multiple = 1;
    d.workload.batch = 2;
    d.parallel.tp = 2;
    d.parallel.sequence_parallel = true;
    d.parallel.dp = 2;
    d.parallel.ep = 2;
    for (const auto& [id, text] : {std::pair{"compute", compute},
                                   {"dispatcher", dispatcher},
                                   {"dispatch_dtype", QString(fp8_dispatch ? "fp8" : "same")}})
      QVERIFY(!set_knob(d, *find_knob(id), text.toStdString()));
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  // gpt-oss's SwiGLU, by hand, and its slopes; on both sides of where gate and other operand are cut off. The
  // kernels of tests cut off at 0.6 instead of 7, so that their small numbers feel it.
  void clampedSwiGlu() {
    Design d = experts_design("gpt-oss");
    auto graph = build_graph(structure_of(d), ModelLibrary::instance());
    QVERIFY(std::holds_alternative<std::shared_ptr<const Graph>>(graph));
    const Segment& s = std::get<0>(graph)->segments[1];
    const auto run = [&](bool backward, std::vector<RealTensor> in) {
      const auto op = std::find_if(s.ops.begin(), s.ops.end(), [&](const Op& o) {
        return o.kind == OpKind::SwiGlu && (o.grad != GradRole::None) == backward;
      });
      KernelCall call{*op, {}, {}, {}, {}, {}, {}};
      for (const RealTensor& t : in) call.inputs.push_back(&t);
      call.output_shapes.assign(backward ? 2 : 1, {1});
      call.output_names.assign(2, "a");
      return run_kernel(call);
    };
    const auto number = [](double x) {
      RealTensor out({1});
      out.data[0] = x;
      return out;
    };
    const auto value = [&](double gate, double up) {
      return run(false, {number(gate), number(up)})[0].data[0];
    };
    constexpr double kLimit = 0.6;
    for (const double gate : {-9.0, -0.5, 0.3, 0.59, 0.61, 12.0})
      for (const double up : {-12.0, -0.61, -0.59, 0.3, 0.59, 0.61, 12.0}) {
        const double x = std::min(gate, kLimit), h = 1e-5;
        QVERIFY(std::abs(value(gate, up) - x / (1 + std::exp(-1.702 * x)) *
                                               (std::max(-kLimit, std::min(up, kLimit)) + 1)) < 1e-12);
        const auto slopes = run(true, {number(1), number(gate), number(up)});
        QVERIFY(std::abs(slopes[0].data[0] - (value(gate + h, up) - value(gate - h, up)) / (2 * h)) < 1e-7);
        QVERIFY(std::abs(slopes[1].data[0] - (value(gate, up + h) - value(gate, up - h)) / (2 * h)) < 1e-7);
      }
  }

  void equalsFiniteDifferences_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("profile");
    for (const char* architecture : {"mixtral", "deepseek-moe", "deepseek3", "qwen2-moe", "gpt-oss"})
      for (const char* profile : {"flash", "litgpt", "megatron-core-te"})
        QTest::newRow(qPrintable(QString("%1 %2").arg(architecture, profile)))
            << QString(architecture) << QString(profile);
  }
  void equalsFiniteDifferences() {
    QFETCH(QString, architecture);
    QFETCH(QString, profile);
    Design d = experts_design(qPrintable(architecture));
    d.model.layers = 2;
    d.workload.batch = 1;
    d.workload.profile = profile.toStdString();
    QCOMPARE(QString::fromStdString(difference_from_slopes(d)), QString());
  }
};

QTEST_APPLESS_MAIN(ExpertExecutionTest)
#include "expert_execution_test.moc"
