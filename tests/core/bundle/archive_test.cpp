// Archives of bundles, and what killed exports leave.
#include <unistd.h>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/partial.h"
#include "bundle/archive.h"
#include "bundle/bundle.h"
#include "bundle/bundle_files.h"
#include "bundle/export_settings.h"
#include "support/trace_designs.h"

using namespace shardscape;
using namespace shardscape::test;
namespace fs = std::filesystem;

namespace {

std::string slurp(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    files[entry.path().filename().string()] = slurp(entry.path());
  return files;
}

std::set<std::string> names(const fs::path& folder) {
  std::set<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder)) out.insert(entry.path().filename().string());
  return out;
}

const Problem* problem_of(const Result<ExportSummary>& result) { return std::get_if<Problem>(&result); }

// What a killed export leaves: some files, one of them cut, and its settings.
fs::path killed_export(const Report& report, const ExportOptions& options) {
  const fs::path partial = options.target.parent_path() /
                           ("." + options.target.filename().string() + ".partial-abc123");
  ExportOptions whole = options;
  whole.target = partial;
  if (const auto result = export_bundle(report, whole); problem_of(result))
    throw std::runtime_error(to_string(*problem_of(result)));
  fs::remove(partial / "trace.3.et");
  fs::remove(partial / kManifestName);
  fs::resize_file(partial / "trace.2.et", 100);
  std::string zeros = slurp(partial / "trace.1.et");
  zeros.assign(zeros.size(), '\0');  // as after a power failure
  std::ofstream(partial / "trace.1.et", std::ios::binary) << zeros;
  std::ofstream(partial / kSettingsName) << export_settings(report, options);
  return partial;
}

}  // namespace

class ArchiveTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    root_ = folder_->path().toStdString();
    report_ = trace_report(trace_design("llama3-8b", 2, 2, 2, true, 2, 2));
  }

  void formats_follow_names() {
    QVERIFY(archive_format("-") == ArchiveFormat::Tar);
    QVERIFY(archive_format("a/x.tar") == ArchiveFormat::Tar);
    QVERIFY(archive_format("x.tar.zst") == ArchiveFormat::TarZstd);
    QVERIFY(archive_format("x.tzst") == ArchiveFormat::TarZstd);
    QVERIFY(archive_format("/dev/null") == ArchiveFormat::Tar);
    for (const char* folder : {"x", "a/b", ".tar", "x.tar/y", "x.zst", "/dev", ""})
      QVERIFY2(!archive_format(folder), folder);
  }

  void archives_hold_the_bundle_data() {
    QTest::addColumn<QString>("file");
    QTest::newRow("tar") << "job.tar";
    QTest::newRow("tar.zst") << "job.tar.zst";
  }
  void archives_hold_the_bundle() {
    QFETCH(QString, file);
    const fs::path archive = root_ / file.toStdString();
    // A name of a trace that does not fit into the old header.
    const std::string name(150, 't');
    QVERIFY(!problem_of(export_bundle(*report_, {.target = root_ / "folder", .name = name})));
    const auto made = export_bundle(*report_, {.target = archive, .name = name});
    QVERIFY2(!problem_of(made), problem_of(made) ? to_string(*problem_of(made)).c_str() : "");
    QVERIFY(std::get<ExportSummary>(made).target.filename() == archive.filename());
    QProcess tar;
    tar.setWorkingDirectory(QString::fromStdString(root_.string()));
    tar.start("tar", {"xf", file});
    if (!tar.waitForStarted()) QSKIP("there is no tar");
    QVERIFY(tar.waitForFinished() && tar.exitCode() == 0);
    QVERIFY(contents(root_ / "job") == contents(root_ / "folder"));
    QVERIFY(::access((root_ / "job" / kScriptName).c_str(), X_OK) == 0);
    // Equal bytes, and never over another file.
    const std::string bytes = slurp(archive);
    const auto refused = export_bundle(*report_, {.target = archive, .name = name});
    QVERIFY(problem_of(refused) && problem_of(refused)->code == ProblemCode::FileNotWritable);
    QVERIFY(!problem_of(export_bundle(*report_, {.target = archive, .name = name, .replace = true})));
    QVERIFY(slurp(archive) == bytes);
    std::ofstream(archive) << "years of work";
    QVERIFY(problem_of(export_bundle(*report_, {.target = archive, .replace = true})));
    QCOMPARE(slurp(archive), std::string("years of work"));
    QCOMPARE(names(root_).size(), size_t{3});  // no temporary file
  }

  void devices_stay() {
    QVERIFY(!problem_of(export_bundle(*report_, {.target = "/dev/null"})));
    QVERIFY(fs::is_character_file("/dev/null"));
    const auto full = export_bundle(*report_, {.target = "/dev/full"});
    QVERIFY(problem_of(full) && problem_of(full)->code == ProblemCode::DiskFull);
  }

  void stopped_archives_leave_nothing() {
    std::stop_source stop;
    const auto result = export_bundle(
        *report_, {.target = root_ / "a.tar"}, [&](const ExportProgress&) { stop.request_stop(); },
        stop.get_token());
    QVERIFY(problem_of(result) && problem_of(result)->code == ProblemCode::ExportStopped);
    QVERIFY(names(root_).empty());
  }

  void resume_completes_the_same_bytes() {
    const ExportOptions options{.target = root_ / "job"};
    QVERIFY(!problem_of(export_bundle(*report_, {.target = root_ / "direct"})));
    killed_export(*report_, options);
    ExportOptions again = options;
    again.resume = true;
    const auto result = export_bundle(*report_, again);
    QVERIFY2(!problem_of(result), problem_of(result) ? to_string(*problem_of(result)).c_str() : "");
    QVERIFY(std::get<ExportSummary>(result).resumed);
    QVERIFY(contents(root_ / "job") == contents(root_ / "direct"));
    QCOMPARE(names(root_), (std::set<std::string>{"direct", "job"}));
    // With nothing to go on with, the export is a plain one.
    again.target = root_ / "other";
    const auto plain = export_bundle(*report_, again);
    QVERIFY(!problem_of(plain) && !std::get<ExportSummary>(plain).resumed);
    QVERIFY(contents(root_ / "other") == contents(root_ / "direct"));
  }

  void resume_wants_the_same_settings_data() {
    QTest::addColumn<int>("change");
    QTest::addColumn<QString>("named");
    QTest::newRow("durations") << 0 << "durations was false and is true";
    QTest::newRow("granularity") << 1 << "granularity was \"op\" and is \"pass\"";
    QTest::newRow("design") << 2 << "design.";
    QTest::newRow("ranks") << 3 << "ranks was \"\" and is \"0-3\"";
  }
  void resume_wants_the_same_settings() {
    QFETCH(int, change);
    QFETCH(QString, named);
    const fs::path partial = killed_export(*report_, {.target = root_ / "job"});
    const auto before = contents(partial);
    ExportOptions again{.target = root_ / "job", .resume = true};
    if (change == 0) again.durations = true;
    if (change == 1) again.granularity = Granularity::Pass;
    if (change == 3) again.part.ranks = {{0, 3}};
    const auto report = change == 2 ? trace_report(trace_design("llama3-8b", 2, 2, 2, true, 3, 2)) : report_;
    const auto result = export_bundle(*report, again);
    QVERIFY(problem_of(result) && problem_of(result)->code == ProblemCode::ResumeMismatch);
    QVERIFY2(QString::fromStdString(problem_of(result)->what).contains(named),
             problem_of(result)->what.c_str());
    QVERIFY(contents(partial) == before);
  }

  void later_exports_remove_what_was_left() {
    const fs::path partial = killed_export(*report_, {.target = root_ / "job"});
    const fs::path other = root_ / ".other.partial-abc123";  // of another target
    fs::create_directory(other);
    fs::create_directory(root_ / ".job.partial-UPPER1");  // not a name that an export makes
    const auto result = export_bundle(*report_, {.target = root_ / "job"});
    QVERIFY(!problem_of(result));
    const auto& removed = std::get<ExportSummary>(result).removed;
    QCOMPARE(removed.size(), size_t{1});
    QVERIFY2(removed[0].find(partial.string()) != std::string::npos, removed[0].c_str());
    QCOMPARE(names(root_), (std::set<std::string>{".job.partial-UPPER1", ".other.partial-abc123", "job"}));
  }

  void running_exports_are_left_alone() {
    const fs::path partial = root_ / ".job.partial-abc123";
    fs::create_directory(partial);
    const auto lock = PathLock::take(partial);
    QVERIFY(lock);
    const auto result = export_bundle(*report_, {.target = root_ / "job"});
    QVERIFY(!problem_of(result) && std::get<ExportSummary>(result).removed.empty());
    QVERIFY(fs::exists(partial));
  }

 private:
  std::unique_ptr<QTemporaryDir> folder_;
  fs::path root_;
  std::shared_ptr<const Report> report_;
};

QTEST_GUILESS_MAIN(ArchiveTest)
#include "archive_test.moc"
