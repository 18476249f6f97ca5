// Errors of ratios of two designs of one workload.
#include <QtTest>
#include <cmath>
#include <limits>

#include "accuracy/ratio_errors.h"
#include "design/design.h"

using namespace shardscape;

namespace {

const ErrorCase kCase{"h100-sxm-80gb", PrecisionClass::Bits16, ModelKind::Dense, ScaleClass::Node};

// One pair per workload.
PairSample pairs(const char* set, const char* settings, const std::vector<double>& errors,
                 const ErrorCase& of = kCase) {
  PairSample out{set, BandMetric::Time, of, settings, {}, {}};
  for (const double error : errors) {
    out.ids.push_back(static_cast<int64_t>(out.workloads.size()));
    out.workloads.push_back({error});
  }
  return out;
}

std::vector<double> tenths(int count) {
  std::vector<double> out;
  for (int i = 1; i <= count; ++i) out.push_back(0.1 * i);
  return out;
}

}  // namespace

class RatioErrorsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  // Nineteen equal weights and the new pair: 80 % of 20 are 16, so the factor is e^1.6. Signs do not count.
  void factorAndConfidence() {
    std::vector<double> errors = tenths(19);
    for (size_t i = 0; i < errors.size(); i += 2) errors[i] = -errors[i];
    const auto made = ratio_errors({pairs("one", "tp", errors)}, BandMetric::Time, kCase, "pp");
    QVERIFY(made && !made->same_settings);
    QVERIFY(std::abs(std::log(made->factor()) - 1.6) < 1e-9);
    // Errors of 1.65 and more are 1.7, 1.8 and 1.9, and the new pair may have one: half of 4 / 20.
    QVERIFY(std::abs(made->confidence(std::exp(1.65)) - 0.9) < 1e-9);
    QVERIFY(std::abs(made->confidence(std::exp(-1.65)) - 0.9) < 1e-9);
    QVERIFY(std::abs(made->confidence(1) - 0.5) < 1e-9);
    QVERIFY(made->tie(std::exp(-1.59)) && made->tie(std::exp(1.59)));
    QVERIFY(!made->tie(std::exp(-1.61)) && !made->tie(std::exp(1.61)));
  }

  // The pairs that differ in the same settings count first, on similar hardware before all pairs.
  void similarPairsCountFirst() {
    ErrorCase other = kCase;
    other.scale = ScaleClass::UpTo64;
    const std::vector<PairSample> all{pairs("one", "tp", std::vector<double>(9, 0.5)),
                                      pairs("two", "tp", std::vector<double>(9, 0.5)),
                                      pairs("one", "pp", std::vector<double>(5, 0.1), other),
                                      pairs("two", "pp", std::vector<double>(5, 0.1), other)};
    const auto of = [&](const char* settings) {
      return ratio_errors(all, BandMetric::Time, kCase, settings);
    };
    QVERIFY(of("tp")->same_settings && of("tp")->widening == Widening::None);
    QVERIFY(std::abs(of("tp")->factor() - std::exp(0.5)) < 1e-9);
    QVERIFY(of("pp")->same_settings && of("pp")->widening == Widening::Scale);
    QVERIFY(std::abs(of("pp")->factor() - std::exp(0.1)) < 1e-9);
    QVERIFY(!of("microbatch")->same_settings && of("microbatch")->widening == Widening::None);
    QVERIFY(!ratio_errors(all, BandMetric::Memory, kCase, "tp"));
    const auto without = ratio_errors(all, BandMetric::Time, kCase, "pp",
                                      [](const PairSample& sample) { return sample.set != "two"; });
    QVERIFY(without && !without->same_settings && without->sets == 1);
  }

  // Four runs have six pairs, of which three are independent: two such workloads are too few.
  void dependentPairsAreNoEvidence() {
    PairSample runs = pairs("one", "tp", {});
    runs.workloads = {std::vector<double>(6, 0.1), std::vector<double>(6, 0.1)};
    runs.ids = {0, 1};
    QVERIFY(!ratio_errors({runs}, BandMetric::Time, kCase, "tp"));
    runs.workloads.push_back(std::vector<double>(6, 0.1));
    runs.ids.push_back(2);
    QVERIFY(ratio_errors({runs}, BandMetric::Time, kCase, "tp"));
  }

  // Five runs of which each two differ in other settings have four independent pairs, not ten.
  void pairsOfAllSettingsAreOfTheSameRuns() {
    std::vector<PairSample> all;
    for (const char* settings : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"})
      all.push_back(pairs("one", settings, {0.1}));
    QVERIFY(!ratio_errors(all, BandMetric::Time, kCase, "tp"));
    for (size_t i = 0; i < all.size(); ++i) all[i].ids = {static_cast<int64_t>(i)};
    QVERIFY(ratio_errors(all, BandMetric::Time, kCase, "tp"));
  }

  // The designs of a comparison: of one workload, or not.
  void designsOfOneWorkload() {
    Design a = default_design(), b = a;
    a.parallel.dp = 8;
    a.parallel.tp = a.parallel.pp = a.parallel.cp = 1;
    b = a;
    b.parallel.dp = 4;
    b.parallel.tp = 2;
    const DesignRatios same = design_ratios(a, b);
    QVERIFY(same.time && same.memory);
    QVERIFY(same.time->factor() > 1);
    b.workload.batch *= 2;
    QVERIFY(!design_ratios(a, b).time);
    b = a;
    b.workload.mode = Mode::Decode;
    QVERIFY(!design_ratios(a, b).time);
  }

  void texts() {
    const auto errors = ratio_errors({pairs("one", "tp", std::vector<double>(39, std::log(1.1)))},
                                     BandMetric::Time, kCase, "tp");
    QVERIFY(errors);
    QCOMPARE(ratio_text(1.05, *errors), std::string("5.00 % more (4.55 % less to 15.5 % more), tie"));
    QCOMPARE(ratio_text(0.5, *errors), std::string("50.0 % less (45.0 % to 54.5 %), 99 % sure"));
    QCOMPARE(ratio_text(2, *errors), std::string("100 % more (81.8 % to 120 %), 99 % sure"));
  }
};

QTEST_GUILESS_MAIN(RatioErrorsTest)
#include "ratio_errors_test.moc"
