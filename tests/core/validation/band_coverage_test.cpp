// Coverage of bands: a row is judged by a band that does not know it.
#include <QtTest>
#include <cmath>

#include "validation/band_coverage.h"
#include "validation/ratio_coverage.h"
#include "validation/validation.h"

using namespace shardscape;

class BandCoverageTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  // Other sets have no errors. Every second row of this set takes e times as long as predicted: neither the
  // other sets nor the other half of the rows foresee that.
  void judgedRowsAreUnknown() {
    const ErrorCase of{"h100-sxm-80gb", PrecisionClass::Bits16, ModelKind::Dense, ScaleClass::Node};
    Validation v{"this", "", {}, {}, {}};
    ValidatedMetric time{"time", {}, {}, {}, true};
    constexpr int kRows = 20;
    for (int i = 0; i < kRows; ++i) {
      ValidatedRow row{std::to_string(i), i % 2 == 0 ? 1 : std::exp(1.0), 1};
      row.error_case = of;
      time.rows.push_back(row);
    }
    v.metrics.push_back(time);
    std::vector<ErrorSample> samples = samples_of(v);
    QCOMPARE(samples.size(), size_t{1});
    QCOMPARE(samples[0].log_ratios.size(), size_t{kRows});
    for (const char* other : {"first", "second"})
      samples.push_back({other, BandMetric::Time, of, std::vector<double>(9, 0.0)});
    const BandCoverage coverage = band_coverage(v, v.metrics[0], samples);
    QCOMPARE(coverage.set_rows, size_t{kRows});
    QCOMPARE(coverage.set_inside, size_t{kRows / 2});
    QCOMPARE(coverage.half_rows, size_t{kRows});
    QCOMPARE(coverage.half_inside, size_t{kRows / 2});
  }

  // Ten workloads with two layouts each, half of them predicted 10 % apart and measured as predicted. Other
  // sets have errors of 5 %, so these pairs are decided and right. In the other half the measured order is
  // reversed, and the errors are 20 %.
  void judgedPairsAreUnknown() {
    const ErrorCase of{"h100-sxm-80gb", PrecisionClass::Bits16, ModelKind::Dense, ScaleClass::Node};
    Validation v{"this", "", {}, {}, {}};
    ValidatedMetric time{"time", {}, {}, {}, true};
    for (int i = 0; i < 10; ++i)
      for (const bool second : {false, true}) {
        const double change = second ? 1.1 : 1;
        ValidatedRow row{"row", i % 2 == 0 ? change : 1 / change, change};
        row.series = std::string(1, static_cast<char>('a' + i));
        row.settings = {{"tp", second ? "2" : "1"}, {"pp", "4"}};
        row.error_case = of;
        time.rows.push_back(row);
      }
    v.metrics.push_back(time);
    std::vector<PairSample> pairs = pair_samples_of(v);
    QCOMPARE(pairs.size(), size_t{1});
    QCOMPARE(pairs[0].settings, std::string("tp"));
    QCOMPARE(pairs[0].workloads.size(), size_t{10});
    QVERIFY(std::abs(pairs[0].workloads[0][0]) < 1e-9);
    QVERIFY(std::abs(pairs[0].workloads[1][0] - 2 * std::log(1.1)) < 1e-9);
    for (const char* other : {"first", "second"})
      pairs.push_back({other,
                       BandMetric::Time,
                       of,
                       "tp",
                       std::vector<std::vector<double>>(9, {0.05}),
                       {0, 1, 2, 3, 4, 5, 6, 7, 8}});
    const SetRatios found = ratio_coverage(v, v.metrics[0], pairs);
    QCOMPARE(found.set.pairs, size_t{10});
    QCOMPARE(found.set.inside, size_t{5});
    QCOMPARE(found.set.decided, size_t{10});
    QCOMPARE(found.set.right, size_t{5});
    const std::string text = ratio_text({v}, pairs);
    QVERIFY2(text.find("ratios of time, this: without half") != std::string::npos, text.c_str());
    QVERIFY2(text.find("5 of 10 pairs (50.0 %) inside 80 % bands, 10 decided, 50.0 % of them right") !=
                 std::string::npos,
             text.c_str());
  }
};

QTEST_APPLESS_MAIN(BandCoverageTest)
#include "band_coverage_test.moc"
