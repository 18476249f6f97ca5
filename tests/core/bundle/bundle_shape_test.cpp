// Bundles with coarser nodes, several steps, or a part of the ranks.
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "bundle/bundle.h"
#include "bundle/bundle_files.h"
#include "bundle/bundle_simulation.h"
#include "bundle/checker.h"
#include "support/trace_designs.h"

using namespace shardscape;
using namespace shardscape::test;
namespace fs = std::filesystem;

namespace {

std::string slurp(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

ExportSummary exported(const Report& report, const ExportOptions& options) {
  const auto result = export_bundle(report, options);
  if (const auto* problem = std::get_if<Problem>(&result)) throw std::runtime_error(to_string(*problem));
  return std::get<ExportSummary>(result);
}

SimulationReport simulated(const fs::path& bundle) {
  const auto result = simulate_bundle(bundle);
  if (const auto* problem = std::get_if<Problem>(&result)) throw std::runtime_error(to_string(*problem));
  return std::get<SimulationReport>(result);
}

ProblemCode code_of(const Result<ExportSummary>& result) {
  const auto* problem = std::get_if<Problem>(&result);
  return problem ? problem->code : ProblemCode::InternalError;
}

}  // namespace

class BundleShapeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    root_ = folder_->path().toStdString();
  }

  // Every rank finishes, and computes as long as with one node per op.
  void coarser_bundles_are_good_data() { add_trace_rows(); }
  void coarser_bundles_are_good() {
    QFETCH(int, index);
    const auto report = trace_report(fetched_trace_design());
    const auto granularity = static_cast<Granularity>(1 + index % 4);
    const ExportSummary fine = exported(*report, {.target = root_ / "fine", .durations = true});
    const ExportSummary coarse = exported(
        *report, {.target = root_ / "coarse", .durations = true, .granularity = granularity});
    QVERIFY(coarse.nodes <= fine.nodes && coarse.ranks == fine.ranks);
    const CheckReport check = check_bundle(root_ / "coarse");
    QVERIFY2(check.ok() && check.findings.empty(), check_text(check).c_str());
    const CheckReport of_fine = check_bundle(root_ / "fine");
    QCOMPARE(check.collectives, of_fine.collectives);
    QCOMPARE(check.sends, of_fine.sends);
    const std::string name(granularity_name(granularity));
    QVERIFY(slurp(root_ / "coarse" / kManifestName).find("\"granularity\": \"" + name + "\"") !=
            std::string::npos);
    QVERIFY(slurp(root_ / "coarse" / kReadmeName).find("granularity " + name) != std::string::npos);
  }

  void steps_repeat_data() { add_trace_rows(); }
  void steps_repeat() {
    const auto report = trace_report(fetched_trace_design());
    const ExportSummary one = exported(*report, {.target = root_ / "one", .durations = true});
    const ExportSummary three = exported(*report, {.target = root_ / "three", .durations = true, .steps = 3});
    QCOMPARE(three.nodes, 3 * one.nodes);
    const CheckReport check = check_bundle(root_ / "three");
    QVERIFY2(check.ok() && check.findings.empty(), check_text(check).c_str());
    QVERIFY(slurp(root_ / "three" / kManifestName).find("\"steps_per_trace\": 3") != std::string::npos);
    QVERIFY(slurp(root_ / "three" / kReadmeName).find("Steps in each trace: 3") != std::string::npos);
  }

  // Simulated steps take what their number says: ranks compute three times as long, and the end is between
  // that of two and three steps, because the stages of a pipeline overlap.
  void steps_take_their_time() {
    const auto report = small_report();
    exported(*report, {.target = root_ / "one", .durations = true});
    exported(*report, {.target = root_ / "three", .durations = true, .steps = 3});
    const SimulationReport one = simulated(root_ / "one"), three = simulated(root_ / "three");
    QVERIFY(one.finished && three.finished);
    for (size_t rank = 0; rank < one.ranks.size(); ++rank)
      QCOMPARE(three.ranks[rank].compute, 3 * one.ranks[rank].compute);
    QVERIFY(three.cycles() > 2 * one.cycles() && three.cycles() <= 3 * one.cycles());
  }

  void parts_make_the_whole() {
    const auto report = small_report();
    exported(*report, {.target = root_ / "whole"});
    const RankPart parts[] = {{.ranks = {{0, 2}, {5, 5}}}, {.ranks = {{3, 4}}}, {.ranks = {{6, 7}}}};
    fs::create_directory(root_ / "joined");
    for (size_t k = 0; k < std::size(parts); ++k) {
      const fs::path folder = root_ / std::to_string(k);
      const ExportSummary part = exported(*report, {.target = folder, .part = parts[k]});
      const CheckReport check = check_bundle(folder);
      QVERIFY2(check.ok() && check.findings.empty(), check_text(check).c_str());
      QCOMPARE(check.ranks, part.ranks);
      QCOMPARE(check.absent, report->ranks - part.ranks);
      QVERIFY(!check.finished && check_text(check).find("a part of a job of 8 ranks") != std::string::npos);
      const auto simulation = simulate_bundle(folder);
      const auto* problem = std::get_if<Problem>(&simulation);
      QVERIFY(problem && problem->code == ProblemCode::NotSimulated);
      QVERIFY(slurp(folder / kReadmeName).find("A part of the job") != std::string::npos);
      for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (name != kReadmeName && name != kManifestName)
          QCOMPARE(slurp(entry.path()), slurp(root_ / "whole" / name));
      }
      fs::copy(folder, root_ / "joined", fs::copy_options::overwrite_existing | fs::copy_options::recursive);
    }
    const CheckReport joined = check_bundle(root_ / "joined");
    QVERIFY2(joined.ok() && joined.finished && joined.absent == 0, check_text(joined).c_str());
    // A part without one of its own traces is damaged.
    fs::remove(root_ / "0" / "trace.5.et");
    const CheckReport damaged = check_bundle(root_ / "0");
    QVERIFY2(!damaged.ok() && check_text(damaged).find("trace.5.et is missing") != std::string::npos,
             check_text(damaged).c_str());
  }

  void a_stage_is_a_part() {
    const auto report = small_report();
    const ExportSummary part = exported(*report, {.target = root_ / "a", .part = {.stages = {{1, 1}}}});
    QCOMPARE(part.ranks, report->ranks / 2);
    QVERIFY(fs::exists(root_ / "a" / "trace.7.et") && !fs::exists(root_ / "a" / "trace.0.et"));
    const int64_t estimate = estimate_bundle_bytes(*report, {.part = {.stages = {{1, 1}}}});
    QVERIFY(std::abs(static_cast<double>(estimate) / static_cast<double>(part.bytes) - 1) < 0.01);
  }

  void impossible_options_are_refused() {
    const auto report = small_report();
    const fs::path to = root_ / "a";
    QCOMPARE(code_of(export_bundle(*report, {.target = to, .steps = 0})), ProblemCode::ValueTooSmall);
    QCOMPARE(code_of(export_bundle(*report, {.target = to, .steps = INT64_MAX})), ProblemCode::TraceOverflow);
    QCOMPARE(code_of(export_bundle(*report, {.target = to, .tensors = true, .steps = 2})),
             ProblemCode::ConflictingFlags);
    QCOMPARE(
        code_of(export_bundle(*report, {.target = to, .tensors = true, .granularity = Granularity::Layer})),
        ProblemCode::ConflictingFlags);
    QCOMPARE(code_of(export_bundle(*report, {.target = to, .part = {.ranks = {{0, 8}}}})),
             ProblemCode::ValueTooLarge);
    QCOMPARE(code_of(export_bundle(*report, {.target = to, .part = {.ranks = {{0, 0}}, .stages = {{1, 1}}}})),
             ProblemCode::FlagValueInvalid);
    QVERIFY(fs::is_empty(root_));
  }

  void ranges_are_read_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("expected");  // empty: refused
    QTest::newRow("one") << "3"
                         << "3";
    QTest::newRow("all") << "0-9"
                         << "0-9";
    QTest::newRow("touching") << "4-5,0-3"
                              << "0-5";
    QTest::newRow("overlapping") << "0-5,2-3,8"
                                 << "0-5,8";
    for (const char* bad :
         {"", ",", "1,", "a", "-1", "1-", "3-2", "10", "0-10", "1-2-3", " 1", "1.5", "99999999999999999999"})
      QTest::newRow(bad) << bad << "";
  }
  void ranges_are_read() {
    QFETCH(QString, text);
    QFETCH(QString, expected);
    const auto read = parse_index_ranges(text.toStdString(), "--ranks", "ranks", 10);
    if (expected.isEmpty()) {
      const auto* problem = std::get_if<Problem>(&read);
      QVERIFY(problem && problem->where == "--ranks" &&
              problem->accepted.find("0 to 9") != std::string::npos);
      return;
    }
    const auto& ranges = std::get<IndexRanges>(read);
    QCOMPARE(QString::fromStdString(to_string(ranges)), expected);
    for (int64_t n = 0; n < 10; ++n) {
      const bool inside = std::any_of(ranges.begin(), ranges.end(),
                                      [&](const IndexRange& r) { return r.first <= n && n <= r.last; });
      QCOMPARE(includes(ranges, n), inside);
    }
  }

 private:
  static std::shared_ptr<const Report> small_report() {
    return trace_report(trace_design("llama3-8b", 2, 2, 2, true, 2, 2));
  }
  std::unique_ptr<QTemporaryDir> folder_;
  fs::path root_;
};

QTEST_GUILESS_MAIN(BundleShapeTest)
#include "bundle_shape_test.moc"
