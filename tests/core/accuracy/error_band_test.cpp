// Bands from errors of measured runs: coverage on synthetic errors, the order of widenings, weights of sets,
// ties, and the data file.
#include <QtTest>
#include <cmath>
#include <random>

#include "accuracy/error_band.h"
#include "support/test_share.h"

using namespace shardscape;

namespace {

const ErrorCase kCase{"b200-hgx-180gb", PrecisionClass::Bits8, ModelKind::Experts, ScaleClass::UpTo64};

ErrorSample sample(const std::string& set, const ErrorCase& of, std::vector<double> ratios) {
  return {set, BandMetric::Time, of, std::move(ratios)};
}

std::vector<double> equal(size_t rows, double ratio) { return std::vector<double>(rows, ratio); }

}  // namespace

class ErrorBandTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void cases_of_designs();
  void synthetic_errors_are_covered_data();
  void synthetic_errors_are_covered();
  void nine_rows_give_their_range();
  void widenings_in_order_data();
  void widenings_in_order();
  void one_set_is_not_enough();
  void sweeps_do_not_drown_other_sets();
  void overlapping_bands_are_ties();
  void memory_over_the_capacity();
  void data_files_are_read_and_written();
  void mistakes_have_a_place();
  void mistakes_of_pairs_have_a_place();
  void bands_of_the_program();
};

void ErrorBandTest::cases_of_designs() {
  Design design = default_design();
  QCOMPARE(error_case(design),
           (ErrorCase{"h100-sxm-80gb", PrecisionClass::Bits16, ModelKind::Dense, ScaleClass::Node}));
  design.cluster.accelerator = "b200-hgx-180gb";
  design.workload.compute = ComputePrecision::FP8Block;
  design.parallel.dp = 1024;
  QCOMPARE(error_case(design).accelerator, std::string("b200-hgx-180gb"));
  QCOMPARE(error_case(design).precision, PrecisionClass::Bits8);
  QCOMPARE(error_case(design).scale, design.world() > 1024 ? ScaleClass::More : ScaleClass::UpTo1024);
  QVERIFY(apply_preset(design, "mixtral-8x7b"));
  QCOMPARE(error_case(design).kind, ModelKind::Experts);
}

void ErrorBandTest::synthetic_errors_are_covered_data() {
  QTest::addColumn<int>("rows");
  QTest::addColumn<bool>("lopsided");
  for (const int rows : {9, 20, 57, 400}) {
    QTest::addRow("normal, %d rows", rows) << rows << false;
    QTest::addRow("exponential, %d rows", rows) << rows << true;
  }
}

// A new run lies inside with 80 %, or more where few rows round the ranks up: at most 2/(n+1) more.
void ErrorBandTest::synthetic_errors_are_covered() {
  QFETCH(int, rows);
  QFETCH(bool, lopsided);
  std::mt19937 random(static_cast<unsigned>(rows) * 2 + lopsided);
  std::normal_distribution<double> normal(0.05, 0.1);
  std::exponential_distribution<double> exponential(8);
  const auto draw = [&] { return lopsided ? exponential(random) : normal(random); };
  const int draws = test::cases(4000);
  int inside = 0;
  for (int i = 0; i < draws; ++i) {
    std::vector<double> ratios;
    for (int row = 0; row < rows; ++row) ratios.push_back(draw());
    const auto band = error_band({sample("one", kCase, ratios)}, BandMetric::Time, kCase);
    QVERIFY(band);
    const double ratio = std::exp(draw());
    inside += ratio >= band->low && ratio <= band->high;
  }
  const double share = static_cast<double>(inside) / draws, noise = 4 * std::sqrt(0.16 / draws);
  QVERIFY2(share > kBandCoverage - noise, qPrintable(QString::number(share)));
  QVERIFY2(share < kBandCoverage + 2.0 / (rows + 1) + noise, qPrintable(QString::number(share)));
}

void ErrorBandTest::nine_rows_give_their_range() {
  const std::vector<double> nine{0.5, -0.3, 0.1, 0, 0.2, 0.05, -0.1, 0.15, 0.3};
  const auto band = error_band({sample("one", kCase, nine)}, BandMetric::Time, kCase);
  QVERIFY(band);
  QCOMPARE(band->low, std::exp(-0.3));
  QCOMPARE(band->high, std::exp(0.5));
  const std::vector<double> eight(nine.begin(), nine.end() - 1);
  QVERIFY(!error_band({sample("one", kCase, eight)}, BandMetric::Time, kCase));
  QVERIFY(!error_band({sample("one", kCase, nine)}, BandMetric::Memory, kCase));
}

void ErrorBandTest::widenings_in_order_data() {
  QTest::addColumn<int>("widening");
  QTest::addColumn<QString>("basis");
  const QStringList texts{QStringLiteral("9 rows of 2 sets: NVIDIA B200 HGX 180 GB, 8 bits, mixtures of "
                                         "experts, several nodes, up to 64 GPUs"),
                          "8 bits, mixtures of experts",
                          "8 bits",
                          "NVIDIA B200 HGX 180 GB",
                          "accelerators of the family blackwell",
                          "all accelerators"};
  for (int i = 0; i < 6; ++i) QTest::addRow("step %d", i) << i << texts[i];
}

// Each case differs in one more respect; its rows are too few without those of the next step.
void ErrorBandTest::widenings_in_order() {
  QFETCH(int, widening);
  QFETCH(QString, basis);
  std::vector<ErrorCase> cases(6, kCase);
  for (size_t i = 1; i < 6; ++i) cases[i].scale = ScaleClass::More;
  for (size_t i = 2; i < 6; ++i) cases[i].kind = ModelKind::Dense;
  for (size_t i = 3; i < 6; ++i) cases[i].precision = PrecisionClass::Bits16;
  for (size_t i = 4; i < 6; ++i) cases[i].accelerator = "gb200-nvl72-186gb";
  cases[5].accelerator = "h100-sxm-80gb";
  std::vector<ErrorSample> samples;
  for (int i = 0; i < 6; ++i) {
    samples.push_back(sample("one", cases[static_cast<size_t>(i)], equal(i == widening ? 8 : 1, 0.1 * i)));
    if (i == widening) samples.push_back(sample("two", cases[static_cast<size_t>(i)], {0.1 * i}));
  }
  const auto band = error_band(samples, BandMetric::Time, kCase);
  QVERIFY(band);
  QCOMPARE(static_cast<int>(band->widening), widening);
  QCOMPARE(band->rows, static_cast<size_t>(9 + widening));
  QVERIFY2(QString::fromStdString(band->basis).endsWith(basis), band->basis.c_str());
  // Without the larger set, too few rows are left.
  QVERIFY(
      !error_band(samples, BandMetric::Time, kCase, [](const ErrorSample& of) { return of.set != "one"; }));
}

void ErrorBandTest::one_set_is_not_enough() {
  ErrorCase other = kCase;
  other.scale = ScaleClass::Node;
  std::vector<ErrorSample> samples{sample("one", kCase, equal(40, 0))};
  QCOMPARE(error_band(samples, BandMetric::Time, kCase)->widening, Widening::Family);
  samples.push_back(sample("two", other, equal(9, 0.2)));
  const auto wide = error_band(samples, BandMetric::Time, kCase);
  QCOMPARE(wide->widening, Widening::Scale);
  QCOMPARE(wide->high, std::exp(0.2));
}

void ErrorBandTest::sweeps_do_not_drown_other_sets() {
  std::vector<ErrorSample> samples{sample("sweep", kCase, equal(1600, 0))};
  for (int set = 0; set < 4; ++set)
    samples.push_back(sample("small " + std::to_string(set), kCase, equal(25, 0.5)));
  // Of 100 rows, 1,600 would leave out the small sets. With the weights 40 and 4 x 5, a third of the weight
  // is theirs.
  const auto band = error_band(samples, BandMetric::Time, kCase);
  QVERIFY(band);
  QCOMPARE(band->low, 1.0);
  QCOMPARE(band->high, std::exp(0.5));
  QCOMPARE(band->sets, size_t{5});
}

void ErrorBandTest::overlapping_bands_are_ties() {
  ErrorBand band;
  band.low = 0.9;
  band.high = 1.2;
  QVERIFY(bands_overlap(1.0, band, 1.3, band));  // 0.9 to 1.2 and 1.17 to 1.56
  QVERIFY(bands_overlap(1.3, band, 1.0, band));
  QVERIFY(!bands_overlap(1.0, band, 1.4, band));
  QVERIFY(!bands_overlap(1.4, band, 1.0, band));
  QVERIFY(!bands_overlap(1.0, band, 1.0, std::nullopt));
}

void ErrorBandTest::memory_over_the_capacity() {
  ErrorBand band;
  band.high = 1.1;
  QCOMPARE(bytes_over(1000, 1050, band), int64_t{50});
  QCOMPARE(bytes_over(1000, 1200, band), int64_t{0});
  QCOMPARE(bytes_over(1000, 0, band), int64_t{0});
  QCOMPARE(bytes_over(1000, 900, std::nullopt), int64_t{0});
}

void ErrorBandTest::data_files_are_read_and_written() {
  const MeasuredErrors errors{{sample("one", kCase, {0.12345, -0.2}), sample("two", kCase, {0})},
                              {{"one", BandMetric::Memory, kCase, "pp tp", {{0.12345, 0.2}, {0.3}}, {4, 7}}}};
  const std::string text = measured_errors_json(errors);
  const auto read = read_measured_errors(text, "bands.json");
  QVERIFY(std::holds_alternative<MeasuredErrors>(read));
  const auto& again = std::get<MeasuredErrors>(read);
  QCOMPARE(again.samples.size(), size_t{2});
  QCOMPARE(again.samples[0].of, kCase);
  QCOMPARE(again.samples[0].log_ratios, (std::vector<double>{0.1235, -0.2}));
  QCOMPARE(again.pairs.size(), size_t{1});
  QCOMPARE(again.pairs[0].metric, BandMetric::Memory);
  QCOMPARE(again.pairs[0].settings, std::string("pp tp"));
  QCOMPARE(again.pairs[0].workloads, (std::vector<std::vector<double>>{{0.1235, 0.2}, {0.3}}));
  QCOMPARE(again.pairs[0].ids, (std::vector<int64_t>{4, 7}));
  QCOMPARE(measured_errors_json(again), text);
}

void ErrorBandTest::mistakes_have_a_place() {
  const std::string entry =
      R"({"set": "a", "metric": "speed", "accelerator": "h100-sxm-80gb", "precision": "16", "kind": "dense",
          "scale": "node", "log_ratios": []})";
  const auto read = read_measured_errors("{\"samples\": [\n" + entry + "]}", "mine.json");
  const auto* problem = std::get_if<Problem>(&read);
  QVERIFY(problem);
  QCOMPARE(problem->code, ProblemCode::DataValue);
  QVERIFY2(problem->where.starts_with("mine.json:2"), problem->where.c_str());
  QCOMPARE(problem->accepted, std::string("time, memory, tpot, ttft"));
}

void ErrorBandTest::mistakes_of_pairs_have_a_place() {
  const std::string head =
      R"({"samples": [], "pairs": [
{"set": "a", "metric": "time", "accelerator": "h100-sxm-80gb", "precision": "16", "kind": "dense",
 "scale": "node", "settings": "tp", "workloads": )";
  for (const char* workloads :
       {"[[]], \"ids\": [0]", "[0.1], \"ids\": [0]", "[[\"x\"]], \"ids\": [0]", "[[0.1]], \"ids\": [0, 1]"}) {
    const auto read = read_measured_errors(head + workloads + "}]}", "mine.json");
    const auto* problem = std::get_if<Problem>(&read);
    QVERIFY(problem && problem->code == ProblemCode::DataValue);
    QVERIFY2(problem->where.starts_with("mine.json:"), problem->where.c_str());
  }
}

void ErrorBandTest::bands_of_the_program() {
  for (const Problem& problem : error_samples_problems()) qWarning("%s", to_string(problem).c_str());
  QVERIFY(error_samples_problems().empty());
  const DesignBands bands = design_bands(default_design());
  for (const auto& band : {bands.time, bands.memory}) {
    QVERIFY(band);
    QVERIFY(band->low > 0.3 && band->low < 1.1);
    QVERIFY(band->high > 0.9 && band->high < 3);
    QVERIFY(band->rows >= kLeastBandRows);
  }
  const ServiceBands service = service_bands(default_design());
  for (const auto& band : {service.ttft, service.tpot}) {
    QVERIFY(band);
    QVERIFY(band->low < 1 && band->high > 1);
  }
}

QTEST_APPLESS_MAIN(ErrorBandTest)
#include "error_band_test.moc"
