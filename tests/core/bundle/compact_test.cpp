// Compact bundles expand to the bytes of a direct export; damaged ones are refused.
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <map>

#include "bundle/bundle.h"
#include "bundle/bundle_files.h"
#include "bundle/checker.h"
#include "bundle/compact_bundle.h"
#include "bundle/number_sequence.h"
#include "support/trace_designs.h"

using namespace shardscape;
using namespace shardscape::test;
namespace fs = std::filesystem;

namespace {

std::string slurp(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void put(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    files[entry.path().filename().string()] = slurp(entry.path());
  return files;
}

int64_t size_of(const fs::path& folder) {
  int64_t bytes = 0;
  for (const auto& [name, text] : contents(folder)) bytes += static_cast<int64_t>(text.size());
  return bytes;
}

ExportSummary done(const Result<ExportSummary>& result) {
  if (const auto* problem = std::get_if<Problem>(&result)) throw std::runtime_error(to_string(*problem));
  return std::get<ExportSummary>(result);
}

// The first file in which two bundles differ; "" if they are equal.
std::string difference(const fs::path& a, const fs::path& b) {
  const auto x = contents(a), y = contents(b);
  for (const auto& [name, text] : x)
    if (!y.contains(name) || y.at(name) != text) return name;
  for (const auto& [name, text] : y)
    if (!x.contains(name)) return name;
  return "";
}

}  // namespace

class CompactTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    root_ = folder_->path().toStdString();
  }

  void sequences_hold_their_numbers_data() {
    QTest::addColumn<QList<qint64>>("numbers");
    QTest::addColumn<int>("pieces");  // at most
    QTest::newRow("none") << QList<qint64>{} << 0;
    QTest::newRow("one") << QList<qint64>{7} << 1;
    QTest::newRow("equal") << QList<qint64>{3, 3, 3, 3} << 1;
    QTest::newRow("falling") << QList<qint64>{9, 6, 3, 0} << 1;
    QTest::newRow("blocks") << QList<qint64>{0, 1, 2, 3, 16, 17, 18, 19, 32, 33, 34, 35} << 1;
    QTest::newRow("repeated") << QList<qint64>{5, 9, 5, 9, 5, 9} << 1;
    QTest::newRow("three loops") << QList<qint64>{0, 0, 1, 1, 10, 10, 11, 11, 50, 50, 51, 51, 60, 60, 61, 61}
                                 << 1;
    QTest::newRow("an odd one at the end") << QList<qint64>{0, 1, 2, 3, 7} << 2;
    QList<qint64> wild;
    QRandomGenerator random(1);
    for (int k = 0; k < 500; ++k) wild.push_back(random.bounded(1 << 30));
    QTest::newRow("without order") << wild << 500;
  }
  void sequences_hold_their_numbers() {
    QFETCH(QList<qint64>, numbers);
    QFETCH(int, pieces);
    const std::vector<int64_t> values(numbers.begin(), numbers.end());
    const NumberSequence made = NumberSequence::of(values);
    QVERIFY(static_cast<int>(made.pieces().size()) <= pieces);
    const auto read = NumberSequence::from(made.pieces());
    QVERIFY(read && *read == made);
    QCOMPARE(read->size(), static_cast<int64_t>(values.size()));
    for (size_t k = 0; k < values.size(); ++k) QCOMPARE(read->at(static_cast<int64_t>(k)), values[k]);
  }

  void damaged_sequences_are_refused() {
    const std::vector<std::vector<std::vector<int64_t>>> bad{
        {{}},
        {{1, 2}},
        {{-1}},
        {{0, 1, 0}},
        {{0, 1, -5}},
        {{0, -1, 3}},
        {{INT64_MAX}},
        {{0, INT64_MAX, 3}},
        {{0, 0, INT64_MAX}},
        {{0, 0, 1 << 20, 0, 1 << 20}},
        {{0, 0, 1 << 30}, {0, 0, 1 << 30}, {0, 0, 1 << 30}},
        {{0, 1 << 30, 4}}};
    for (const auto& pieces : bad) QVERIFY(!NumberSequence::from(pieces));
    const auto long_one = NumberSequence::from({{0, 1, 1 << 30}});
    QVERIFY(long_one && long_one->at((1 << 30) - 1) == (1 << 30) - 1);
  }

  // Whole, and for some ranks.
  void expands_to_the_bytes_of_an_export_data() { add_trace_rows(); }
  void expands_to_the_bytes_of_an_export() {
    QFETCH(int, index);
    const auto report = trace_report(fetched_trace_design());
    ExportOptions options{
        .target = root_ / "direct",
        .tensors = index % 3 == 0,
        .durations = index % 2 == 0,
        .granularity = index % 3 == 0 ? Granularity::Op : static_cast<Granularity>(index % 5),
        .steps = index % 3 == 1 ? 2 : 1};
    const ExportSummary direct = done(export_bundle(*report, options));
    options.target = root_ / "compact";
    options.compact = true;
    const ExportSummary compact = done(export_bundle(*report, options));
    QVERIFY(compact.bytes == direct.bytes && compact.nodes == direct.nodes && compact.ranks == direct.ranks);
    done(expand_bundle(root_ / "compact", {.target = root_ / "expanded"}));
    QCOMPARE(difference(root_ / "direct", root_ / "expanded"), std::string());

    options.compact = false;
    options.target = root_ / "some";
    options.part.ranks = {{report->ranks / 2, report->ranks - 1}};
    done(export_bundle(*report, options));
    done(expand_bundle(root_ / "compact",
                       {.target = root_ / "some expanded", .ranks = to_string(options.part.ranks)}));
    QCOMPARE(difference(root_ / "some", root_ / "some expanded"), std::string());
  }

  void every_granularity_expands() {
    const auto report = trace_report(trace_design("llama3-8b", 2, 2, 2, true, 2, 2));
    for (int g = 0; g < 5; ++g) {
      const std::string name = std::to_string(g);
      ExportOptions options{.target = root_ / ("d" + name), .granularity = static_cast<Granularity>(g)};
      done(export_bundle(*report, options));
      options.target = root_ / ("c" + name);
      options.compact = true;
      done(export_bundle(*report, options));
      done(expand_bundle(root_ / ("c" + name), {.target = root_ / ("e" + name)}));
      QCOMPARE(difference(root_ / ("d" + name), root_ / ("e" + name)), std::string());
    }
  }

  void replicas_do_not_grow_it() {
    int64_t before = 0;
    for (const int64_t dp : {4, 64, 512}) {
      const fs::path to = root_ / std::to_string(dp);
      const auto report = trace_report(trace_design("llama3-8b", 2, 2, dp, true, 2, 2));
      const ExportSummary summary = done(export_bundle(*report, {.target = to, .compact = true}));
      QCOMPARE(size_of(to), summary.stored_bytes);
      // Longer numbers, and a few more loops of group ids: their blocks of 500 fill up.
      if (before > 0) QVERIFY2(size_of(to) < before + 2000, std::to_string(size_of(to)).c_str());
      before = size_of(to);
    }
  }

  void check_names_the_command() {
    const auto report = trace_report(trace_design("llama3-8b", 2, 1, 1, false, 1, 1));
    done(export_bundle(*report, {.target = root_ / "a", .compact = true}));
    QVERIFY(check_text(check_bundle(root_ / "a")).find("shardscape-cli expand") != std::string::npos);
    done(export_bundle(*report, {.target = root_ / "a", .replace = true}));  // by a whole bundle
    QVERIFY(check_bundle(root_ / "a").ok());
  }

  // Whatever is damaged, the expansion fails with a problem, or the damage changes nothing. It leaves
  // nothing.
  void damage_is_refused() {
    const auto report = trace_report(trace_design("llama3-8b", 2, 2, 2, true, 1, 2));
    done(export_bundle(*report, {.target = root_ / "good"}));
    const fs::path compact = root_ / "compact";
    done(export_bundle(*report, {.target = compact, .compact = true}));
    QRandomGenerator random(7);
    int refused = 0;
    for (int round = 0; round < 300; ++round) {
      const fs::path file = compact / (round % 2 == 0 ? "class-0.et" : kCompactName);
      const std::string bytes = slurp(file);
      std::string changed = bytes;
      const auto at = static_cast<size_t>(random.bounded(static_cast<quint32>(bytes.size())));
      if (round % 3 == 0)
        changed.resize(at);
      else
        changed[at] = static_cast<char>(round % 3 == 1 ? random.bounded(256) : '0' + random.bounded(10));
      put(file, changed);
      const auto result = expand_bundle(compact, {.target = root_ / "out"});
      put(file, bytes);
      if (const auto* problem = std::get_if<Problem>(&result)) {
        ++refused;
        QVERIFY(!problem->what.empty() && !problem->accepted.empty());
        QVERIFY(!fs::exists(root_ / "out"));
      } else {
        QCOMPARE(difference(root_ / "good", root_ / "out"), std::string());
      }
      fs::remove_all(root_ / "out");
    }
    QVERIFY2(refused > 100, std::to_string(refused).c_str());
    QCOMPARE(static_cast<int>(std::distance(fs::directory_iterator(root_), {})), 2);  // no temporary folder
  }

 private:
  std::unique_ptr<QTemporaryDir> folder_;
  fs::path root_;
};

QTEST_GUILESS_MAIN(CompactTest)
#include "compact_test.moc"
