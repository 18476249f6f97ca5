// Proof by execution: for every strategy, loss, outputs and gradients equal the unsharded run, and that run equals
// finite differences.
#include <QtTest>
#include <cmath>

#include "support/designs.h"
#include "support/interpreter.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

double difference(const RealTensor& a, const RealTensor& b) {
  if (a.shape != b.shape) return INFINITY;
  double worst = 0;
  for (size_t i = 0; i < a.data.size(); ++i) worst = std::max(worst, std::abs(a.data[i] - b.data[i]));
  return worst;
}

// The same step on one rank: all replicas' samples of a microbatch at once.
Design unsharded(const Design& d) {
  Design out = d;
  out.parallel = {};
  out.workload.recompute = Recompute::None;
  out.workload.microbatch = d.workload.microbatch * d.parallel.dp;
  return out;
}

}  // namespace

class ExecutionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsUnsharded_data() {
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<int>("tp");
    QTest::addColumn<bool>("sp");
    QTest::addColumn<int>("pp");
    QTest::addColumn<int>("dp");
    QTest::addColumn<QString>("layers");
    QTest::addColumn<QString>("schedule");
    QTest::addColumn<int>("kv_heads");
    QTest::addColumn<int>("recompute");
    for (int recompute : {1, 2})
      for (const char* architecture : {"llama", "gpt"})
        for (bool sp : {false, true})
          QTest::newRow(qPrintable(QString("%1 recompute %2 sp %3").arg(architecture).arg(recompute).arg(sp)))
              << QString(architecture) << 2 << sp << 2 << 2 << "1,2" << "1f1b" << 2 << recompute;
    for (const char* architecture : {"llama", "gpt"})
      for (int tp : {1, 2, 4})
        for (bool sp : {false, true})
          for (int pp : {1, 2, 4})
            for (int dp : {1, 2})
              for (const char* schedule : {"1f1b", "gpipe"}) {
                if ((sp && tp == 1) || (pp == 1 && schedule[0] == 'g')) continue;
                const QString layers = pp == 4 ? "0,1,2,0" : pp == 2 ? "1,2" : "3";
                const QString name = QString("%1 tp%2%3 pp%4 dp%5 %6").arg(architecture).arg(tp).arg(sp ? "+sp" : "").arg(pp).arg(dp).arg(schedule);
                QTest::newRow(qPrintable(name)) << QString(architecture) << tp << sp << pp << dp << layers << QString(schedule) << 2 << 0;
                if (architecture[0] == 'l' && tp == 4)
                  QTest::newRow(qPrintable(name + " one kv head")) << QString(architecture) << tp << sp << pp << dp << layers << QString(schedule) << 1 << 0;
              }
  }

  void equalsUnsharded() {
    QFETCH(QString, architecture);
    QFETCH(int, tp);
    QFETCH(bool, sp);
    QFETCH(int, pp);
    QFETCH(int, dp);
    QFETCH(QString, layers);
    QFETCH(QString, schedule);
    QFETCH(int, kv_heads);
    QFETCH(int, recompute);
    Design d = tiny_design(qPrintable(architecture));
    d.model.layers = 3;
    d.model.kv_heads = kv_heads;
    d.workload.batch = 12;
    d.workload.recompute = static_cast<Recompute>(recompute);
    d.parallel.tp = tp;
    d.parallel.pp = pp;
    d.parallel.dp = dp;
    d.parallel.sequence_parallel = sp;
    d.parallel.schedule = schedule == "gpipe" ? ScheduleKind::GPipe : ScheduleKind::OneFOneB;
    for (const QString& n : layers.split(',')) d.parallel.stage_layers.push_back(n.toInt());
    const Parameters parameters = random_parameters(d, 7);
    RunResult expected, got;
    try {
      expected = run_step(unsharded(d), parameters, 11);
      got = run_step(d, parameters, 11);
    } catch (const std::runtime_error& error) {
      QFAIL(error.what());
    }
    QVERIFY(std::abs(got.loss - expected.loss) < 1e-12);
    QVERIFY(difference(got.token_losses, expected.token_losses) < 1e-11);
    QVERIFY(difference(got.last_hidden, expected.last_hidden) < 1e-11);
    QCOMPARE(got.gradients.size(), parameters.size());
    for (const auto& [name, gradient] : expected.gradients)
      QVERIFY2(difference(gradient, got.gradients.at(name)) < 1e-11, name.c_str());
  }

  void equalsFiniteDifferences_data() {
    QTest::addColumn<QString>("architecture");
    QTest::newRow("llama") << "llama";
    QTest::newRow("gpt") << "gpt";
  }

  void equalsFiniteDifferences() {
    QFETCH(QString, architecture);
    const Design d = tiny_design(qPrintable(architecture));
    Parameters parameters = random_parameters(d, 3);
    const RunResult exact = run_step(d, parameters, 5);
    QCOMPARE(exact.gradients.size(), parameters.size());
    constexpr double h = 1e-5;
    for (auto& [name, value] : parameters) {
      for (size_t i = 0; i < value.data.size(); i += 1 + value.data.size() / 5) {
        const double old = value.data[i];
        value.data[i] = old + h;
        const double up = run_step(d, parameters, 5, false).loss;
        value.data[i] = old - h;
        const double down = run_step(d, parameters, 5, false).loss;
        value.data[i] = old;
        const double slope = (up - down) / (2 * h);
        QVERIFY2(std::abs(slope - exact.gradients.at(name).data[i]) < 1e-7 + 1e-5 * std::abs(slope), name.c_str());
      }
    }
  }
};

QTEST_APPLESS_MAIN(ExecutionTest)
#include "execution_test.moc"
