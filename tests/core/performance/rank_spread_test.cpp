// The slowest of ranks that are unequally fast.
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "performance/op_time.h"
#include "performance/rank_spread.h"
#include "support/designs.h"
#include "timing/machine_of.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

bool near(double value, double wanted, double error) { return std::abs(value - wanted) <= error; }

}  // namespace

class RankSpreadTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  // Tables of the expected largest of N normal numbers: Harter, Biometrika 48 (1961), table 1.
  void meansOfTheLargestNormalNumber_data() {
    QTest::addColumn<int>("ranks");
    QTest::addColumn<double>("mean");
    QTest::newRow("1") << 1 << 0.0;
    QTest::newRow("2") << 2 << 0.56419;
    QTest::newRow("8") << 8 << 1.42360;
    QTest::newRow("100") << 100 << 2.50759;
    QTest::newRow("400") << 400 << 2.96818;
  }
  void meansOfTheLargestNormalNumber() {
    QFETCH(int, ranks);
    QFETCH(double, mean);
    for (const double sigma : {0.001, 0.02, 0.2}) {
      const double got = (slowest_rank_mean({sigma, 0, ranks}) - 1) / sigma;
      QVERIFY2(near(got, mean, 1e-5), qPrintable(QString::number(got)));
    }
  }

  // The median of the largest of N is the 2^(-1/N) quantile of one number.
  void percentiles() {
    QVERIFY(near(slowest_rank_percentile({0.01, 0, 1}, 0.95), 1 + 0.01 * 1.644854, 1e-8));
    QVERIFY(near(slowest_rank_percentile({0.01, 0, 1}, 0.05), 1 - 0.01 * 1.644854, 1e-8));
    QVERIFY(near(slowest_rank_percentile({0.01, 0, 2}, 0.25), 1, 1e-8));
  }

  // Against drawn numbers, with a straggler.
  void drawnRanks_data() {
    QTest::addColumn<double>("sigma");
    QTest::addColumn<double>("straggler");
    QTest::addColumn<int>("ranks");
    QTest::newRow("no straggler") << 0.02 << 0.0 << 64;
    QTest::newRow("as slow as the slowest") << 0.02 << 0.05 << 64;
    QTest::newRow("far behind") << 0.01 << 0.3 << 16;
    QTest::newRow("alone") << 0.05 << 0.1 << 1;
  }
  void drawnRanks() {
    QFETCH(double, sigma);
    QFETCH(double, straggler);
    QFETCH(int, ranks);
    const RankSpread spread{sigma, straggler, ranks};
    std::mt19937_64 random(7);
    std::normal_distribution<double> rank(1, sigma);
    std::vector<double> slowest(20000);
    double sum = 0;
    for (double& one : slowest) {
      one = rank(random) + straggler;
      for (int i = 1; i < ranks; ++i) one = std::max(one, rank(random));
      sum += one;
    }
    std::sort(slowest.begin(), slowest.end());
    const double error = 0.03 * sigma;
    QVERIFY(near(slowest_rank_mean(spread), sum / static_cast<double>(slowest.size()), error));
    for (const double p : {0.05, 0.5, 0.95})
      QVERIFY(near(slowest_rank_percentile(spread, p),
                   slowest[static_cast<size_t>(p * static_cast<double>(slowest.size()))], 2 * error));
  }

  void equalRanks() {
    QCOMPARE(slowest_rank_mean({0, 0, 4096}), 1.0);
    QCOMPARE(slowest_rank_mean({0, 0.25, 4096}), 1.25);
    QCOMPARE(slowest_rank_percentile({0, 0.25, 4096}, 0.05), 1.25);
  }

  // All kernels of training take the factor, and no kernel of inference.
  void kernelsTakeTheFactor() {
    Design d = preset_design("llama3-8b", 8, 1, 4);
    const Machine equal = machine_of(d);
    d.cluster.compute_jitter = 1500;
    d.cluster.straggler_slowdown = 2000;
    const Machine spread = machine_of(d);
    const double factor = slowest_rank_mean({0.015, 0.02, 32});
    QCOMPARE(spread.slowest_rank, factor);
    const MatmulShape gemm{1, 4096, 4096, 4096};
    QCOMPARE(matmul_seconds(spread, gemm), factor * matmul_seconds(equal, gemm));
    QCOMPARE(memory_bound_seconds(spread, 1e8), factor * memory_bound_seconds(equal, 1e8));
    QCOMPARE(routing_seconds(spread, 1e8), factor * routing_seconds(equal, 1e8));
    AttentionShape attention;
    attention.queries = attention.keys = 4096;
    QCOMPARE(attention_seconds(spread, attention), factor * attention_seconds(equal, attention));
    CacheKey one, two;
    add_to(one, equal);
    add_to(two, spread);
    QVERIFY(!std::ranges::equal(one.words(), two.words()));
    d.workload.mode = Mode::Prefill;
    QCOMPARE(machine_of(effective_design(d)).slowest_rank, 1.0);
    QCOMPARE(effective_design(d).cluster.compute_jitter, 0);
  }
};

QTEST_GUILESS_MAIN(RankSpreadTest)
#include "rank_spread_test.moc"
