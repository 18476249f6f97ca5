// Proof by execution of linear attention: every mesh, pipeline and checkpoint policy equals the unsharded
// run, whose gradients equal finite differences.
#include <QtTest>

#include "support/designs.h"
#include "support/equivalence.h"
#include "support/execution_runs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

struct Run {
  int tp;
  bool sp;
  int pp, dp, cp, recompute;
  const char* settings = "";
};
constexpr Run kRuns[] = {{1, false, 2, 1, 1, 0},
                         {1, false, 1, 2, 1, 0},
                         {2, false, 1, 1, 1, 0},
                         {2, true, 1, 1, 1, 0},
                         {4, true, 2, 1, 1, 0},
                         {2, true, 2, 2, 1, 0},
                         {2, true, 1, 1, 1, 1},
                         {2, false, 2, 1, 1, 2},
                         {1, false, 1, 1, 2, 0, "context=all-gather"},
                         {1, false, 2, 1, 4, 0, "context=zigzag"},
                         {2, false, 1, 1, 2, 0, "context=ring"},
                         {2, true, 1, 2, 2, 0, "context=zigzag"},
                         {2, true, 2, 1, 2, 2, "context=ulysses"},
                         {1, false, 1, 1, 4, 1, "context=ulysses-ring ulysses_degree=2"},
                         {2, true, 1, 1, 1, 0, "profile=transformers-eager"},
                         {2, true, 1, 1, 1, 0, "profile=litgpt"}};

}  // namespace

class LinearExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsUnsharded_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QList<int>>("mesh");
    QTest::addColumn<QString>("settings");
    for (const char* architecture : kLinearArchitectures)
      for (const Run& r : kRuns)
        QTest::newRow(qPrintable(QString("%1 tp%2%3 pp%4 dp%5 cp%6 recompute %7 %8")
                                     .arg(architecture)
                                     .arg(r.tp)
                                     .arg(r.sp ? "+sp" : "")
                                     .arg(r.pp)
                                     .arg(r.dp)
                                     .arg(r.cp)
                                     .arg(r.recompute)
                                     .arg(r.settings)))
            << QString(architecture) << QList<int>{r.tp, r.sp, r.pp, r.dp, r.cp, r.recompute}
            << QString(r.settings);
  }
  void equalsUnsharded() {
    QFETCH(QString, architecture);
    QFETCH(QList<int>, mesh);
    QFETCH(QString, settings);
    Design d = tiny_design(qPrintable(architecture));
    set_mesh(d, mesh[0], mesh[1], mesh[2], mesh[3]);
    d.parallel.cp = mesh[4];
    d.workload.recompute = static_cast<Recompute>(mesh[5]);
    d.workload.seq = 8 * mesh[4];
    if (mesh[4] > 1) d.model.kv_heads = d.model.heads = 8;  // Ulysses spreads them
    set_knobs(d, settings.toStdString());
    QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
  }

  void equalsFiniteDifferences_data() {
    QTest::addColumn<QString>("architecture");
    for (const char* architecture : kLinearArchitectures)
      QTest::newRow(architecture) << QString(architecture);
  }
  void equalsFiniteDifferences() {
    QFETCH(QString, architecture);
    const Design d = tiny_design(qPrintable(architecture));
    QCOMPARE(QString::fromStdString(difference_from_slopes(d)), QString());
  }

  // Layers of one model with other heads, sizes and taps.
  void ownSizes_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("variants");
    QTest::newRow("delta")
        << kGatedDelta
        << "own: linear linear_key_heads=2 linear_value_heads=4 linear_key_dim=5 linear_conv=2";
    QTest::newRow("channel") << "kimi_delta_hybrid"
                             << "own: linear linear_key_dim=3 linear_value_dim=5 gate_rank=2 linear_conv=1";
    QTest::newRow("fixed") << "minimax-text"
                           << "own: linear linear_key_heads=2 linear_value_heads=6 linear_chunk=2";
    QTest::newRow("groups") << "ring-linear"
                            << "own: linear linear_norm_groups=2 linear_value_heads=6 linear_key_dim=6";
  }
  void ownSizes() {
    QFETCH(QString, architecture);
    QFETCH(QString, variants);
    Design d = tiny_design(qPrintable(architecture));
    d.model.layers = 3;
    set_value(d, "variants", variants.toStdString());
    d.model.layer_pattern = "linear, own, full";
    for (const auto& [tp, cp] : {std::pair{2, 1}, {1, 2}}) {
      d.parallel.tp = tp;
      d.parallel.cp = cp;
      d.parallel.pp = 3;
      QCOMPARE(QString::fromStdString(difference_from_unsharded(d)), QString());
    }
  }
};

QTEST_APPLESS_MAIN(LinearExecutionTest)
#include "linear_execution_test.moc"
