// The distribution of step times, where ranks are unequally fast.
#include <QtTest>

#include <cmath>

#include "plan/report.h"
#include "report/time_report.h"
#include "support/designs.h"
#include "timing/step_distribution.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

std::shared_ptr<const Simulation> step_of(const Design& design) { return simulate(*make_report(design)); }

Design layout(int tp, int pp, int dp) {
  Design d = preset_design("llama3-8b", tp, pp, dp);
  d.workload.batch = 8 * dp;
  return d;
}

}  // namespace

class StepDistributionTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void equalRanksHaveNone() {
    const auto step = step_of(layout(2, 2, 2));
    QVERIFY(!step_distribution(*step));
    QVERIFY(step_distribution_text(*step).empty());
  }

  // A step with a percentile of the slowest rank as its straggler is that percentile of the step.
  void percentilesAreStepsWithThatSlowestRank_data() {
    QTest::addColumn<int>("tp");
    QTest::addColumn<int>("pp");
    QTest::addColumn<int>("dp");
    QTest::newRow("tp") << 8 << 1 << 1;
    QTest::newRow("pp") << 1 << 4 << 2;
    QTest::newRow("all") << 2 << 2 << 4;
    QTest::newRow("dp") << 1 << 1 << 64;
  }
  void percentilesAreStepsWithThatSlowestRank() {
    QFETCH(int, tp);
    QFETCH(int, pp);
    QFETCH(int, dp);
    Design d = layout(tp, pp, dp);
    const double equal = step_of(d)->step_seconds;
    d.cluster.compute_jitter = 2000;
    const auto step = step_of(d);
    const auto spread = step_distribution(*step);
    QVERIFY(spread && step->step_seconds > equal);
    QVERIFY(spread->percentile_5 < spread->median && spread->median < spread->percentile_95);
    for (const auto& [probability, seconds] :
         {std::pair{0.05, spread->percentile_5}, {0.5, spread->median}, {0.95, spread->percentile_95}}) {
      Design fixed = d;
      fixed.cluster.compute_jitter = 0;
      const double slowest = slowest_rank_percentile(step->machine.spread, probability);
      fixed.cluster.straggler_slowdown = std::llround((slowest - 1) * 1e5);
      const double wanted = step_of(fixed)->step_seconds;
      QVERIFY2(std::abs(seconds / wanted - 1) < 1e-3,
               qPrintable(QString("%1 instead of %2").arg(seconds).arg(wanted)));
    }
  }

  // The same design on more replicas: the expected slowest rank is slower.
  void stepsGrowWithTheNumberOfRanks() {
    double ratio = 1;
    for (const int dp : {2, 16, 128}) {
      Design d = layout(2, 2, dp);
      const double equal = step_of(d)->step_seconds;
      d.cluster.compute_jitter = 1000;
      const double grown = step_of(d)->step_seconds / equal;
      QVERIFY(grown > ratio);
      ratio = grown;
    }
    QVERIFY(ratio < slowest_rank_mean({0.01, 0, 512}) + 1e-9);
  }

  void reportsNameTheDistribution() {
    Design d = layout(1, 1, 64);
    d.cluster.compute_jitter = 2000;
    const auto report = make_report(d);
    const auto step = simulate(*report);
    const QJsonObject time = QJsonDocument::fromJson(
                                 QByteArray::fromStdString(with_time("{}", *report, *step)))
                                 .object()["time"]
                                 .toObject();
    const QJsonObject spread = time["step_distribution"].toObject();
    QCOMPARE(spread["ranks"].toInt(), 64);
    QCOMPARE(spread["median"].toDouble(), step_distribution(*step)->median);
    QVERIFY(spread["percentile_5"].toDouble() < spread["percentile_95"].toDouble());
    QVERIFY(time_text(*step).find("the slowest of 64 ranks computes 4.") != std::string::npos);
  }
};

QTEST_GUILESS_MAIN(StepDistributionTest)
#include "step_distribution_test.moc"
