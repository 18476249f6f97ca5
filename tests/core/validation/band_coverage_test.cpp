// Coverage of bands: a row is judged by a band that does not know it.
#include <QtTest>
#include <cmath>

#include "validation/band_coverage.h"
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
};

QTEST_APPLESS_MAIN(BandCoverageTest)
#include "band_coverage_test.moc"
