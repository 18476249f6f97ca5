// Exported bundles pass the checker, have the same bytes every time, and appear whole or not at all.
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/units.h"
#include "bundle/astra_command.h"
#include "bundle/bundle.h"
#include "bundle/bundle_files.h"
#include "bundle/checker.h"
#include "bundle/manifest.h"
#include "bundle/sink.h"
#include "bundle/trace_export.h"
#include "chakra/image.h"
#include "plan/rank_mesh.h"
#include "support/trace_designs.h"
#include "timing/simulation.h"

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

// A disk that fails after some files.
class FailingSink : public ByteSink {
 public:
  std::optional<Problem> write(const std::string&, std::string_view) override {
    if (++files_ <= 3) return std::nullopt;
    return disk_full("/data", 1000, 10);
  }

 private:
  std::atomic<int> files_{0};
};

}  // namespace

class BundleTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<QTemporaryDir>();
    root_ = folder_->path().toStdString();
  }

  void exported_bundles_are_good_data() {
    QTest::addColumn<int>("index");
    QTest::addColumn<bool>("tensors");
    int i = 0;
    for (const NamedDesign& d : trace_designs()) {
      QTest::newRow(d.name) << i << false;
      QTest::addRow("%s, tensors", d.name) << i++ << true;
    }
  }
  void exported_bundles_are_good() {
    QFETCH(int, index);
    QFETCH(bool, tensors);
    const auto report = trace_report(trace_designs()[static_cast<size_t>(index)].design);
    const ExportOptions options{.target = root_ / "bundle", .tensors = tensors};
    const auto result = export_bundle(*report, options);
    QVERIFY2(!problem_of(result), problem_of(result) ? to_string(*problem_of(result)).c_str() : "");
    if (tensors) {
      std::string system = slurp(root_ / "bundle" / "system.json");
      system.replace(system.find("\"track-local-mem\": 0"), 20, "\"track-local-mem\": 1");
      std::ofstream(root_ / "bundle" / "system.json") << system;
    }
    const CheckReport check = check_bundle(root_ / "bundle");
    QVERIFY2(check.ok() && check.findings.empty(), check_text(check).c_str());
    const auto& summary = std::get<ExportSummary>(result);
    QCOMPARE(summary.ranks, report->ranks);
    QCOMPARE(check.ranks, report->ranks);
    QCOMPARE(check.nodes, summary.nodes);
    QCOMPARE(check.bytes, summary.bytes);
    QCOMPARE(names(root_).size(), size_t{1});  // no temporary folder
    const auto estimate = static_cast<double>(estimate_bundle_bytes(*report, options));
    QVERIFY(std::abs(estimate / static_cast<double>(summary.bytes) - 1) < 0.01);
  }

  void bytes_are_the_same_every_time() {
    const auto report = small_report();
    QVERIFY(!problem_of(export_bundle(*report, {.target = root_ / "a"})));
    QVERIFY(!problem_of(export_bundle(*report, {.target = root_ / "b"})));
    const auto a = contents(root_ / "a");
    QVERIFY(a == contents(root_ / "b"));
    QVERIFY(a.contains("manifest.json") && a.contains("comm_groups.json") && a.contains("trace.7.et"));
    // Files do not depend on the thread that wrote them, nor on the image that was patched in place.
    const TraceExport traces(*report, {.target = root_ / "c"});
    const Lowering& lowering = traces.lowering();
    const int roles = static_cast<int>(lowering.roles().size());
    for (int64_t rank = 0; rank < report->ranks; ++rank) {
      const int stage = stage_of_rank(*report, rank);
      RankNumbers numbers;
      for (int role = 0; role < roles; ++role) numbers.values.push_back(traces.groups().id(role, rank));
      numbers.values.push_back(rank);
      numbers.values.push_back(lowering.mesh().with(rank, MeshAxis::Pp, std::max(0, stage - 1)));
      numbers.values.push_back(lowering.mesh().with(
          rank, MeshAxis::Pp, std::min<int>(static_cast<int>(report->stages.size()) - 1, stage + 1)));
      numbers.values.resize(slot_count(roles));  // no ring
      const TraceImage image(lowering.stage(stage, false), slot_texts(numbers, roles));
      QVERIFY(image.bytes() == a.at("trace." + std::to_string(rank) + ".et"));
    }
  }

  // A person who finds the folder knows the design, the files and the commands.
  void the_readme_explains_the_bundle() {
    const auto report = small_report();
    QVERIFY(!problem_of(export_bundle(*report, {.target = root_ / "a", .durations = true})));
    const QString text = QString::fromStdString(slurp(root_ / "a" / kReadmeName));
    for (const std::string& file : names(root_ / "a"))
      QVERIFY2(file.ends_with(".et") || text.contains(QString::fromStdString("| `" + file + "` |")),
               file.c_str());
    const std::string step = format_seconds(simulate(*report)->step_seconds);
    for (const std::string& part :
         {report->design.name, std::string("tp 2 · pp 2 · dp 2"), std::string("`trace.0.et` to `trace.7.et`"),
          std::string("    shardscape-cli check ."), std::string("    shardscape-cli simulate ."),
          "Estimated step: " + step, std::string("replay")})
      QVERIFY2(text.contains(QString::fromStdString(part)), part.c_str());
    QVERIFY(!text.contains("congestion-aware"));
    QVERIFY(!problem_of(export_bundle(*report, {.target = root_ / "b", .flat_network = true})));
    const std::string plain = slurp(root_ / "b" / kReadmeName);
    QVERIFY(plain.find("congestion-aware") != std::string::npos);
    QVERIFY(plain.find("no compute times") != std::string::npos);
  }

  // The script gives ASTRA-sim the words of astra_sim_command().
  void the_script_runs_the_command() {
    const fs::path bundle = root_ / "a bundle", program = root_ / kAstraSimProgram;
    QVERIFY(!problem_of(export_bundle(*small_report(), {.target = bundle, .name = "my trace"})));
    std::ofstream(program) << "#!/bin/sh\nprintf '%s\\n' \"$@\"\n";
    fs::permissions(program, fs::perms::owner_all);
    const auto run = [&](const QString& command, const QStringList& words, const char* astra_sim) {
      QProcess process;
      QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
      environment.insert("PATH", QString::fromStdString(root_.string()) + ":" + environment.value("PATH"));
      environment.remove("ASTRA_SIM");
      if (astra_sim) environment.insert("ASTRA_SIM", astra_sim);
      process.setProcessEnvironment(environment);
      process.start(command, words);
      const bool done = process.waitForFinished(30'000);
      return std::tuple(done ? process.exitCode() : -1, process.readAllStandardOutput(),
                        process.readAllStandardError());
    };
    const QString script = QString::fromStdString((bundle / kScriptName).string());
    const auto expected = run("bash", {"-c", QString::fromStdString(astra_sim_command(bundle, "my trace"))},
                              nullptr);
    QCOMPARE(std::get<0>(expected), 0);
    QVERIFY(std::get<1>(expected).contains("a bundle/my trace\n"));
    QVERIFY(run(script, {}, nullptr) == expected);
    QVERIFY(run(script, {QString::fromStdString(program.string())}, "/nowhere") == expected);
    QVERIFY(run(script, {}, program.c_str()) == expected);
    const auto [code, out, message] = run(script, {"/nowhere/sim"}, nullptr);
    QCOMPARE(code, 127);
    QVERIFY2(message.contains("\"/nowhere/sim\" is not a program") && message.contains("ASTRA_SIM"),
             message.constData());
  }

  void manifest_notices_changes() {
    QVERIFY(!problem_of(export_bundle(*small_report(), {.target = root_ / "a"})));
    fs::copy_file(root_ / "a" / "trace.1.et", root_ / "a" / "trace.0.et",
                  fs::copy_options::overwrite_existing);
    QVERIFY(check_text(check_bundle(root_ / "a")).find("MANIFEST_DIGEST") != std::string::npos);
  }

  void empty_folder_is_taken() {
    fs::create_directory(root_ / "a");
    QVERIFY(!problem_of(export_bundle(*small_report(), {.target = root_ / "a"})));
    QVERIFY(fs::exists(root_ / "a" / "manifest.json"));
  }

  void missing_parents_are_made() {
    QVERIFY(!problem_of(export_bundle(*small_report(), {.target = root_ / "x" / "y" / "bundle/"})));
    QVERIFY(fs::exists(root_ / "x" / "y" / "bundle" / "manifest.json"));
  }

  void full_folder_is_left_alone() {
    fs::create_directory(root_ / "a");
    std::ofstream(root_ / "a" / "thesis.txt") << "years of work";
    for (const bool replace : {false, true}) {
      const auto result = export_bundle(*small_report(), {.target = root_ / "a", .replace = replace});
      QVERIFY(problem_of(result));
      QVERIFY2(problem_of(result)->where == (root_ / "a").string(), problem_of(result)->where.c_str());
      QVERIFY(problem_of(result)->code == ProblemCode::FolderNotEmpty);
      QCOMPARE(slurp(root_ / "a" / "thesis.txt"), std::string("years of work"));
      QCOMPARE(names(root_).size(), size_t{1});
    }
  }

  void replace_spares_what_is_not_ours() {
    QVERIFY(!problem_of(export_bundle(*small_report(), {.target = root_ / "mixed"})));
    std::ofstream(root_ / "mixed" / "notes.txt") << "mine";
    const auto refused = export_bundle(*small_report(), {.target = root_ / "mixed", .replace = true});
    const Problem* problem = problem_of(refused);
    QVERIFY(problem);
    QVERIFY(problem->code == ProblemCode::ForeignFiles);
    QVERIFY(QString::fromStdString(to_string(*problem)).contains("notes.txt"));
    QVERIFY(std::filesystem::exists(root_ / "mixed" / "notes.txt"));
    std::filesystem::remove(root_ / "mixed" / "notes.txt");
    std::filesystem::create_directory(root_ / "mixed" / "results");
    QVERIFY(problem_of(export_bundle(*small_report(), {.target = root_ / "mixed", .replace = true})));
    QVERIFY(std::filesystem::exists(root_ / "mixed" / "results"));
  }

  void replace_swaps_our_bundle() {
    QVERIFY(!problem_of(export_bundle(*small_report(), {.target = root_ / "a", .name = "old"})));
    const auto refused = export_bundle(*small_report(), {.target = root_ / "a", .name = "new"});
    QVERIFY(problem_of(refused));
    QVERIFY(fs::exists(root_ / "a" / "old.0.et"));
    QVERIFY(
        !problem_of(export_bundle(*small_report(), {.target = root_ / "a", .name = "new", .replace = true})));
    QVERIFY(fs::exists(root_ / "a" / "new.0.et") && !fs::exists(root_ / "a" / "old.0.et"));
    QCOMPARE(names(root_).size(), size_t{1});
    QVERIFY(check_bundle(root_ / "a").ok());
  }

  void a_replaced_bundle_keeps_its_permissions() {
    QVERIFY(!problem_of(export_bundle(*small_report(), {.target = root_ / "a"})));
    fs::permissions(root_ / "a", fs::perms(0705));
    QVERIFY(!problem_of(export_bundle(*small_report(), {.target = root_ / "a", .replace = true})));
    QCOMPARE(static_cast<int>(fs::status(root_ / "a").permissions()), 0705);
  }

  // Where folders cannot be exchanged, an export may be killed when the old bundle has no name of its own.
  void a_bundle_whose_replacement_was_killed_comes_back_data() {
    QTest::addColumn<bool>("empty_folder");
    QTest::addColumn<bool>("replace");
    QTest::newRow("no folder, refused") << false << false;
    QTest::newRow("no folder, replaced") << false << true;
    QTest::newRow("empty folder, refused") << true << false;
  }
  void a_bundle_whose_replacement_was_killed_comes_back() {
    QFETCH(bool, empty_folder);
    QFETCH(bool, replace);
    QVERIFY(!problem_of(export_bundle(*small_report(), {.target = root_ / "a", .name = "old"})));
    fs::rename(root_ / "a", root_ / ".a.partial-old-bundle");
    if (empty_folder) fs::create_directory(root_ / "a");
    const auto result = export_bundle(*small_report(),
                                      {.target = root_ / "a", .name = "new", .replace = replace});
    QCOMPARE(problem_of(result) == nullptr, replace);
    QVERIFY(fs::exists(root_ / "a" / (replace ? "new.0.et" : "old.0.et")));
    QCOMPARE(names(root_).size(), size_t{1});
    const std::string told = replace ? std::get<ExportSummary>(result).removed.at(0)
                                     : problem_of(result)->what;
    QVERIFY2(told.find("put back") != std::string::npos, told.c_str());
  }

  void an_old_bundle_that_was_replaced_goes() {
    for (const char* name : {"a", "b"})
      QVERIFY(!problem_of(export_bundle(*small_report(), {.target = root_ / name})));
    fs::rename(root_ / "b", root_ / ".a.partial-old-bundle");
    const auto result = export_bundle(*small_report(), {.target = root_ / "a", .replace = true});
    QVERIFY(!problem_of(result));
    QCOMPARE(names(root_).size(), size_t{1});
    QVERIFY(std::get<ExportSummary>(result).removed.at(0).find("removed") == 0);
  }

  void files_of_others_in_an_old_bundle_stay() {
    for (const char* name : {"a", "b"})
      QVERIFY(!problem_of(export_bundle(*small_report(), {.target = root_ / name})));
    const fs::path waiting = root_ / ".a.partial-old-bundle";
    fs::rename(root_ / "b", waiting);
    std::ofstream(waiting / "log.txt") << "mine";
    const auto refused = export_bundle(*small_report(), {.target = root_ / "a"});
    QVERIFY(problem_of(refused) && problem_of(refused)->what.find("log.txt") != std::string::npos);
    QCOMPARE(slurp(waiting / "log.txt"), std::string("mine"));
  }

  // What took the place meanwhile is no bundle, so the old one stays where it is.
  void an_old_bundle_is_not_lost_to_another_file() {
    QVERIFY(!problem_of(export_bundle(*small_report(), {.target = root_ / "a", .name = "old"})));
    fs::rename(root_ / "a", root_ / ".a.partial-old-bundle");
    std::ofstream(root_ / "a") << "mine";
    const auto result = export_bundle(*small_report(), {.target = root_ / "a", .replace = true});
    QVERIFY(problem_of(result) && problem_of(result)->what.find("cannot put back") != std::string::npos);
    QVERIFY(fs::exists(root_ / ".a.partial-old-bundle" / "old.0.et"));
    QCOMPARE(slurp(root_ / "a"), std::string("mine"));
  }

  void stopped_export_leaves_nothing() {
    const auto report = small_report();
    QVERIFY(!problem_of(export_bundle(*report, {.target = root_ / "a"})));
    const auto before = contents(root_ / "a");
    std::stop_source stop;
    const auto result = export_bundle(
        *report, {.target = root_ / "a", .name = "new", .replace = true},
        [&](const ExportProgress&) { stop.request_stop(); }, stop.get_token());
    QVERIFY(problem_of(result) && problem_of(result)->code == ProblemCode::ExportStopped);
    QVERIFY(contents(root_ / "a") == before);
    QCOMPARE(names(root_).size(), size_t{1});
    const auto fresh = export_bundle(
        *report, {.target = root_ / "x" / "y" / "b"}, [&](const ExportProgress&) {}, stop.get_token());
    QVERIFY(problem_of(fresh));
    QCOMPARE(names(root_).size(), size_t{1});  // folders made on the way are gone too
  }

  void failing_disk_is_reported() {
    const auto report = small_report();
    FailingSink sink;
    const auto result = TraceExport(*report, {}).write(sink, {}, {});
    const auto* problem = std::get_if<Problem>(&result);
    QVERIFY(problem);
    QVERIFY(problem->code == ProblemCode::DiskFull);
    QVERIFY2(to_string(*problem).find("1,000 bytes") != std::string::npos, to_string(*problem).c_str());
  }

  void sink_reports_the_system_error() {
    FolderSink sink(root_ / "nowhere", 5);
    const auto problem = sink.write("x", "y");
    QVERIFY(problem && problem->code == ProblemCode::FileNotWritable);
    QVERIFY(to_string(*problem).find("No such file") != std::string::npos);
    FolderSink there(root_, 5);
    QVERIFY(!there.write("x", "abc"));
    QCOMPARE(slurp(root_ / "x"), std::string("abc"));
    QVERIFY(there.write("x", "abc"));  // never over an existing file
  }

  void bad_targets_are_refused_data() {
    QTest::addColumn<QString>("target");
    QTest::addColumn<QString>("name");
    QTest::addColumn<ProblemCode>("code");
    QTest::newRow("below a file") << "file/bundle"
                                  << "trace" << ProblemCode::FolderNotWritable;
    QTest::newRow("a file") << "file"
                            << "trace" << ProblemCode::NotAFolder;
    QTest::newRow("no path") << ""
                             << "trace" << ProblemCode::NotAFolder;
    QTest::newRow("name that hides groups") << "not_empty"
                                            << "trace" << ProblemCode::FolderNameUnsupported;
    QTest::newRow("name with a slash") << "bundle"
                                       << "a/b" << ProblemCode::TraceNameInvalid;
    QTest::newRow("no name") << "bundle"
                             << "" << ProblemCode::TraceNameInvalid;
  }
  void bad_targets_are_refused() {
    QFETCH(QString, target);
    QFETCH(QString, name);
    QFETCH(ProblemCode, code);
    std::ofstream(root_ / "file") << "x";
    const auto result = export_bundle(
        *small_report(),
        {.target = target.isEmpty() ? fs::path() : root_ / target.toStdString(), .name = name.toStdString()});
    const Problem* problem = problem_of(result);
    QVERIFY(problem && !problem->accepted.empty());
    QVERIFY2(problem->code == code, to_string(*problem).c_str());
    QCOMPARE(names(root_), std::set<std::string>{"file"});
  }

  void invalid_design_is_refused() {
    Design design = trace_design("llama3-8b", 3, 1, 1, false, 1, 2);
    const auto report = make_report(design);
    QVERIFY(report && !report->valid());
    QVERIFY(problem_of(export_bundle(*report, {.target = root_ / "a"})));
    QVERIFY(names(root_).empty());
    QCOMPARE(estimate_bundle_bytes(*report, {}), 0);
  }

  void one_rank_is_exported_with_a_note() {
    const auto report = trace_report(trace_design("llama3-8b", 1, 1, 1, false, 2, 2));
    QVERIFY(!problem_of(export_bundle(*report, {.target = root_ / "a"})));
    QVERIFY(slurp(root_ / "a" / "manifest.json").find("at least 2 ranks") != std::string::npos);
    const CheckReport check = check_bundle(root_ / "a");
    QVERIFY(check.finished && !check.ok());
    QVERIFY(check_text(check).find("at least 2 ranks") != std::string::npos);
  }

  void progress_ends_with_everything() {
    ExportProgress last;
    const auto result = export_bundle(*small_report(), {.target = root_ / "a"},
                                      [&](const ExportProgress& p) { last = p; });
    QCOMPARE(last.ranks_done, 8);
    QCOMPARE(last.ranks, 8);
    QCOMPARE(last.bytes, std::get<ExportSummary>(result).bytes);
  }

  void manifest_reads_back() {
    QVERIFY(!problem_of(export_bundle(*small_report(), {.target = root_ / "a"})));
    const auto manifest = read_manifest(root_ / "a", 8);
    QVERIFY(manifest);
    QCOMPARE(manifest->ranks, 8);
    QCOMPARE(manifest->classes.size(), size_t{2});
    QCOMPARE(manifest->classes[1].ranks, (std::vector<int64_t>{4, 5, 6, 7}));
    std::ofstream(root_ / "a" / "manifest.json") << "{}";
    QVERIFY(!read_manifest(root_ / "a", 8));
  }

 private:
  static std::shared_ptr<const Report> small_report() {
    static const auto report = trace_report(trace_design("llama3-8b", 2, 2, 2, true, 2, 2));
    return report;
  }
  std::unique_ptr<QTemporaryDir> folder_;
  fs::path root_;
};

QTEST_GUILESS_MAIN(BundleTest)
#include "bundle_test.moc"
