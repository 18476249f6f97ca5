// Runs with random interruptions: the exact formulas against simulated runs and published figures.
#include <QtTest>
#include <cmath>
#include <random>

#include "campaign/failures.h"

using namespace shardscape;

class FailuresTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void known_cases_data();
  void known_cases();
  void simulated_runs_data();
  void simulated_runs();
  void best_interval_is_the_best_data() { simulated_runs_data(); }
  void best_interval_is_the_best();
  void extremes();
  void poisson_quantiles_data();
  void poisson_quantiles();
  void band_of_interruptions();
};

namespace {

constexpr double kHour = 3600, kMinute = 60;

// Time of `segments` checkpoints, each of which is repeated until no interruption comes before its end. A
// restart may be interrupted, too.
double simulated(const Interruptions& i, double interval, int64_t segments, std::mt19937_64& random) {
  std::exponential_distribution<double> next(1 / i.mtti);
  double time = 0;
  for (int64_t segment = 0; segment < segments; ++segment) {
    double wanted = interval + i.save;
    for (double until = next(random); until < wanted; until = next(random)) {
      time += until;
      wanted = i.restart + interval + i.save;
    }
    time += wanted;
  }
  return time;
}

}  // namespace

// Effective time by an independent calculation of the same cases, and the intervals of Young and Daly in
// minutes. The numbers of interruptions: 419 in 54 days of 16,384 H100 (arXiv 2407.21783), BLOOM's one in a
// week, and others of docs/models/campaign.md.
void FailuresTest::known_cases_data() {
  QTest::addColumn<double>("hours");
  QTest::addColumn<double>("save");
  QTest::addColumn<double>("restart");
  QTest::addColumn<double>("young");
  QTest::addColumn<double>("daly");
  QTest::addColumn<double>("effective");
  QTest::newRow("Llama 3") << 3.093 << 3. << 600. << 4.3 << 4.3 << 0.9257;
  QTest::newRow("Llama 3, saves of 20 s") << 3.093 << 20. << 600. << 11.1 << 10.9 << 0.8919;
  QTest::newRow("Llama 3, saves of 60 s") << 3.093 << 60. << 900. << 19.3 << 18.6 << 0.8299;
  QTest::newRow("BLOOM") << 168. << 40. << 900. << 115.9 << 115.5 << 0.9871;
  QTest::newRow("9,600 GPUs, saves in memory") << 12.34 << 0.04 << 120. << 1.0 << 1.0 << 0.9960;
  QTest::newRow("100,000 GPUs") << 0.507 << 10. << 600. << 3.2 << 3.1 << 0.6470;
  QTest::newRow("100,000 GPUs, fast restarts") << 0.507 << 10. << 180. << 3.2 << 3.1 << 0.8145;
}

void FailuresTest::known_cases() {
  QFETCH(double, hours);
  QFETCH(double, save);
  QFETCH(double, restart);
  QFETCH(double, young);
  QFETCH(double, daly);
  QFETCH(double, effective);
  const Interruptions i{hours * kHour, save, restart};
  QVERIFY(std::abs(young_interval(i) / kMinute - young) <= 0.051);
  QVERIFY(std::abs(daly_interval(i) / kMinute - daly) <= 0.051);
  QVERIFY(std::abs(1 / stretch(i, daly_interval(i)) - effective) < 2e-4);
  // Daly's interval approximates the best one.
  QVERIFY(stretch(i, best_interval(i)) <= stretch(i, daly_interval(i)) * (1 + 1e-9));
  QVERIFY(std::abs(best_interval(i) / daly_interval(i) - 1) < 0.01);
}

void FailuresTest::simulated_runs_data() {
  QTest::addColumn<double>("mtti");
  QTest::addColumn<double>("save");
  QTest::addColumn<double>("restart");
  QTest::newRow("rare") << 600000. << 40. << 900.;
  QTest::newRow("every few hours") << 11000. << 20. << 600.;
  QTest::newRow("restarts as long as the time between interruptions") << 1000. << 10. << 900.;
  QTest::newRow("saves longer than the time between interruptions") << 100. << 250. << 20.;
}

void FailuresTest::simulated_runs() {
  QFETCH(double, mtti);
  QFETCH(double, save);
  QFETCH(double, restart);
  const Interruptions i{mtti, save, restart};
  std::mt19937_64 random(20);
  for (const double factor : {0.3, 1.0, 3.0}) {
    const double interval = factor * best_interval(i);
    constexpr int64_t kSegments = 40000;
    const double measured = simulated(i, interval, kSegments, random) / (kSegments * interval);
    // Compared are the losses: time of the run / time of its steps - 1.
    QVERIFY2(std::abs((measured - 1) / (stretch(i, interval) - 1) - 1) < 0.06,
             qPrintable(QString("%1 against %2").arg(measured).arg(stretch(i, interval))));
  }
}

void FailuresTest::best_interval_is_the_best() {
  QFETCH(double, mtti);
  QFETCH(double, save);
  QFETCH(double, restart);
  const Interruptions i{mtti, save, restart};
  const double best = best_interval(i), least = stretch(i, best);
  QVERIFY(best > 0);
  for (double factor = 0.05; factor < 20; factor *= 1.1)
    QVERIFY(stretch(i, best * factor) >= least * (1 - 1e-12));
  // The condition of the derivative: (1 - x) e^x = e^(-w/M).
  const double x = best / mtti;
  QVERIFY(std::abs((1 - x) * std::exp(x) / std::exp(-save / mtti) - 1) < 1e-6);
}

void FailuresTest::extremes() {
  const double never = std::numeric_limits<double>::infinity();
  QCOMPARE(stretch({never, 10, 600}, 100), 1.1);
  QVERIFY(std::isinf(best_interval({never, 10, 600})));
  QVERIFY(best_interval({kHour, 1e-9, 0}) > 0);
  QVERIFY(std::isinf(stretch({1, 10, 10000}, 100)));
  QVERIFY(std::isinf(run_seconds({1, 10, 10000}, 1e6, 100)));
  QCOMPARE(daly_interval({10, 30, 0}), 10.);
}

void FailuresTest::poisson_quantiles_data() {
  QTest::addColumn<double>("mean");
  QTest::addColumn<double>("probability");
  QTest::addColumn<qint64>("expected");
  QTest::newRow("none") << 0. << 0.95 << qint64{0};
  QTest::newRow("almost none") << 0.02 << 0.95 << qint64{0};
  QTest::newRow("3, high") << 3. << 0.95 << qint64{6};
  QTest::newRow("3, low") << 3. << 0.05 << qint64{1};
  QTest::newRow("10, high") << 10. << 0.95 << qint64{15};
  QTest::newRow("10, low") << 10. << 0.05 << qint64{5};
  QTest::newRow("Llama 3's 419") << 419. << 0.95 << qint64{453};
  QTest::newRow("many") << 1000000. << 0.95 << qint64{1001645};
}

void FailuresTest::poisson_quantiles() {
  QFETCH(double, mean);
  QFETCH(double, probability);
  QFETCH(qint64, expected);
  QCOMPARE(qint64{poisson_quantile(mean, probability)}, expected);
}

// The 5th and the 95th percentile of simulated runs lie near those of run_seconds.
void FailuresTest::band_of_interruptions() {
  const Interruptions i{2 * kHour, 20, 600};
  const double interval = best_interval(i);
  constexpr int64_t kSegments = 400, kRuns = 2000;
  std::mt19937_64 random(3);
  std::vector<double> times(kRuns);
  for (double& time : times) time = simulated(i, interval, kSegments, random);
  std::sort(times.begin(), times.end());
  const double work = interval * kSegments;
  const auto near = [&](double a, double b) { return std::abs(a / b - 1) < 0.01; };
  QVERIFY(near(run_seconds(i, work, interval, 0.05), times[kRuns / 20]));
  QVERIFY(near(run_seconds(i, work, interval, 0.95), times[kRuns - kRuns / 20]));
  QVERIFY(run_seconds(i, work, interval, 0.05) < run_seconds(i, work, interval));
  QVERIFY(run_seconds(i, work, interval) < run_seconds(i, work, interval, 0.95));
}

QTEST_APPLESS_MAIN(FailuresTest)
#include "failures_test.moc"
