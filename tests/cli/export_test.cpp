// The commands export and check: the bundle, invalid targets, and Ctrl+C.
#include <QDir>
#include <QJsonArray>
#include <QStorageInfo>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>

#include "cli/cli_run.h"
#include "support/longest_run.h"

using namespace shardscape;
using namespace shardscape::test;

class ExportTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void as_documented();
  void json();
  void name_and_tensors();
  void simulate();
  void what_the_simulator_cannot_express();
  void networks_of_packet_level_backends();
  void check_finds_damage_data();
  void check_finds_damage();
  void targets_data();
  void targets();
  void replace();
  void invalid_design_writes_nothing();
  void archives();
  void compact();
  void parts_and_steps();
  void resume_after_a_kill();
  void wrong_flags_data();
  void wrong_flags();
  void interrupted_data();
  void interrupted();
};

namespace {

const QString kSmall = "export --model llama3-8b --layers 4 --dp 2 --tp 2 --pp 2 --seq 128 --batch 4 -o ";

QStringList everything_in(const QString& folder) {
  return QDir(folder).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
}

void put(const QString& path, const QByteArray& bytes) {
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  QCOMPARE(file.write(bytes), bytes.size());
}

}  // namespace

void ExportTest::as_documented() {
  QTemporaryDir folder;
  const CliRun made = run_line(
      "export --model llama3-8b --dp 2 --tp 2 --pp 2 --seq 4096 --batch 16 --microbatch 1 -o out/llama8",
      folder.path());
  QCOMPARE(made.exit_code, 0);
  QCOMPARE(made.err, QString());  // no terminal, no progress
  QVERIFY(made.out.contains("8 ranks"));
  const QStringList files = everything_in(folder.filePath("out/llama8"));
  QCOMPARE(files.size(), 8 + 7);
  for (int rank = 0; rank < 8; ++rank) QVERIFY(files.contains(QString("trace.%1.et").arg(rank)));
  for (const char* file : {"comm_groups.json", "system.json", "network.yml", "memory.json", "manifest.json",
                           "README.md", "run-astra-sim.sh"}) {
    QVERIFY2(files.contains(file), file);
  }
  QVERIFY(QFileInfo(folder.filePath("out/llama8/run-astra-sim.sh")).isExecutable());
  QCOMPARE(everything_in(folder.filePath("out")), QStringList{"llama8"});
  const CliRun checked = run_line("check out/llama8", folder.path());
  QCOMPARE(checked.exit_code, 0);
  QVERIFY2(checked.out.contains("0 errors, 0 warnings"), qPrintable(checked.out));
}

void ExportTest::json() {
  QTemporaryDir folder;
  const QJsonObject made = run_line(kSmall + "a --json", folder.path()).json();
  QCOMPARE(made["ranks"].toInt(), 8);
  QVERIFY(made["nodes"].toInt() > 0 && made["bytes"].toInt() > 0);
  QVERIFY(QDir(made["target"].toString()).exists("trace.0.et"));
  const CliRun checked = run_line("check a --json", folder.path());
  QCOMPARE(checked.exit_code, 0);
  QVERIFY(!checked.json().isEmpty());
}

void ExportTest::name_and_tensors() {
  QTemporaryDir folder;
  QCOMPARE(run_line(kSmall + "plain --name job", folder.path()).exit_code, 0);
  QCOMPARE(run_line(kSmall + "full --name job --tensors", folder.path()).exit_code, 0);
  const qint64 plain = QFileInfo(folder.filePath("plain/job.7.et")).size();
  const qint64 full = QFileInfo(folder.filePath("full/job.7.et")).size();
  QVERIFY(plain > 0 && full > 2 * plain);
  QCOMPARE(run_line("check full", folder.path()).exit_code, 0);
  const CliRun bad = run_line(kSmall + "other --name a/b", folder.path());
  QCOMPARE(bad.exit_code, 2);
  QVERIFY(bad.err.contains("error: name: "));
  QVERIFY(!QDir(folder.path()).exists("other"));
}

void ExportTest::simulate() {
  QTemporaryDir folder;
  QCOMPARE(run_line(kSmall + "plain", folder.path()).exit_code, 0);
  QCOMPARE(run_line(kSmall + "timed --durations", folder.path()).exit_code, 0);
  const CliRun text = run_line("simulate plain", folder.path());
  QCOMPARE(text.exit_code, 0);
  QVERIFY2(text.out.contains("the step takes") && text.out.contains("8 ranks"), qPrintable(text.out));
  const QJsonObject plain = run_line("simulate plain --json", folder.path()).json(),
                    timed = run_line("simulate timed --json", folder.path()).json();
  // The former name of the command still works.
  QVERIFY(run_line("play plain --json", folder.path()).json() == plain);
  QCOMPARE(plain["rank_cycles"].toArray().size(), 8);
  QVERIFY(plain["cycles"].toDouble() > plain["compute_cycles"].toDouble() &&
          plain["compute_cycles"].toDouble() > 0);
  // Kernels take longer than a roofline says.
  QVERIFY(timed["compute_cycles"].toDouble() > plain["compute_cycles"].toDouble());
  QCOMPARE(run_line("check timed", folder.path()).exit_code, 0);
  QVERIFY(QFile::remove(folder.filePath("plain/trace.3.et")));
  QCOMPARE(run_line("simulate plain", folder.path()).exit_code, 1);
  QCOMPARE(run_line("simulate nowhere", folder.path()).exit_code, 3);
  QCOMPARE(run_line("simulate", folder.path()).exit_code, 2);
}

void ExportTest::what_the_simulator_cannot_express() {
  QTemporaryDir folder;
  const QString ragged = "export --model llama3-8b --layers 2 --dp 12 --seq 128 --batch 12 --json -o ";
  const CliRun made = run_line(ragged + "a", folder.path());
  QCOMPARE(made.exit_code, 0);
  QVERIFY2(made.err.contains("network.yml has 2 of 6"), qPrintable(made.err));
  QCOMPARE(made.json()["nearest"].toArray().size(), made.err.count("note: network.yml"));
  QFile manifest(folder.filePath("a/manifest.json"));
  QVERIFY(manifest.open(QIODevice::ReadOnly));
  const QJsonObject cluster = QJsonDocument::fromJson(manifest.readAll()).object()["cluster"].toObject();
  QCOMPARE(cluster["nearest"].toArray(), made.json()["nearest"].toArray());
  QCOMPARE(cluster["dimensions"].toArray().size(), 2);
  QCOMPARE(run_line(ragged + "b --flat-network", folder.path()).exit_code, 0);
  QFile network(folder.filePath("b/network.yml"));
  QVERIFY(network.open(QIODevice::ReadOnly));
  QVERIFY(network.readAll().contains("npus_count: [ 12 ]"));
}

void ExportTest::networks_of_packet_level_backends() {
  QTemporaryDir folder;
  const QString
      two_nodes = "export --model llama3-8b --layers 2 --dp 2 --tp 8 --seq 128 --batch 2 --networks ";
  const CliRun made = run_line(two_nodes + "htsim,ns3 --json -o a", folder.path());
  QCOMPARE(made.exit_code, 0);
  const QStringList files = everything_in(folder.filePath("a"));
  QCOMPARE(files.size(), 16 + 7 + 5);
  for (const char* file :
       {"ns3-config.txt", "ns3-topology.txt", "ns3-logical-topology.json", "ns3-no-flows.txt", "htsim.topo"})
    QVERIFY2(files.contains(file), file);
  QVERIFY2(made.err.contains("note: htsim.topo: ") && made.err.contains("note: ns3-topology.txt: "),
           qPrintable(made.err));
  QFile manifest(folder.filePath("a/manifest.json")), readme(folder.filePath("a/README.md"));
  QVERIFY(manifest.open(QIODevice::ReadOnly) && readme.open(QIODevice::ReadOnly));
  const QJsonObject networks = QJsonDocument::fromJson(manifest.readAll())
                                   .object()["cluster"]
                                   .toObject()["packet_networks"]
                                   .toObject();
  QCOMPARE(networks["ns3"].toObject()["files"].toArray().size(), 4);
  QCOMPARE(networks["htsim"].toObject()["nearest"].toArray(),
           made.json()["packet_nearest"].toObject()["htsim.topo"].toArray());
  const QByteArray page = readme.readAll();
  for (const char* text : {"| `htsim.topo` |", "--htsim_opts -topo htsim.topo",
                           "--logical-topology-configuration=ns3-logical-topology.json"})
    QVERIFY2(page.contains(text), text);
  QVERIFY(run_line("check a", folder.path()).out.contains("0 errors, 0 warnings"));
  // A compact bundle has them too.
  QCOMPARE(run_line(two_nodes + "ns3,htsim --compact -o compact", folder.path()).exit_code, 0);
  QCOMPARE(run_line("expand compact -o b", folder.path()).exit_code, 0);
  QCOMPARE(everything_in(folder.filePath("b")), files);
  for (const QString& name : files) {
    QFile a(folder.filePath("a/" + name)), b(folder.filePath("b/" + name));
    QVERIFY(a.open(QIODevice::ReadOnly) && b.open(QIODevice::ReadOnly));
    QVERIFY2(a.readAll() == b.readAll(), qPrintable(name));
  }
  // The folder is a bundle, which may be replaced, by one without the other backend.
  QCOMPARE(run_line(two_nodes + "ns3 --replace -o a", folder.path()).exit_code, 0);
  QCOMPARE(everything_in(folder.filePath("a")).size(), 16 + 7 + 4);
  const CliRun large = run_line(
      "export --model llama3-8b --layers 2 --dp 65 --tp 8 --seq 128 --batch 65 --networks htsim -o c",
      folder.path());
  QCOMPARE(large.exit_code, 1);
  QVERIFY2(large.err.contains("64 domains"), qPrintable(large.err));
  QVERIFY(!QFileInfo::exists(folder.filePath("c")));
}

void ExportTest::check_finds_damage_data() {
  QTest::addColumn<QString>("file");
  QTest::addColumn<int>("keep");  // bytes; -1 removes the file
  QTest::newRow("trace cut short") << "trace.3.et" << 1000;
  QTest::newRow("trace missing") << "trace.3.et" << -1;
  QTest::newRow("groups cut short") << "comm_groups.json" << 10;
}

void ExportTest::check_finds_damage() {
  QFETCH(QString, file);
  QFETCH(int, keep);
  QTemporaryDir folder;
  QCOMPARE(run_line(kSmall + "a", folder.path()).exit_code, 0);
  const QString path = folder.filePath("a/" + file);
  QVERIFY(keep < 0 ? QFile::remove(path) : QFile::resize(path, keep));
  const CliRun checked = run_line("check a", folder.path());
  QCOMPARE(checked.exit_code, 1);
  QVERIFY(!checked.out.isEmpty());
  QVERIFY(!run_line("check a --json", folder.path()).json().isEmpty());
}

void ExportTest::targets_data() {
  QTest::addColumn<QString>("target");
  QTest::addColumn<QString>("said");
  QTest::newRow("not empty") << "full"
                             << "not empty";
  QTest::newRow("not empty, and no bundle to replace") << "full --replace"
                                                       << "no bundle";
  QTest::newRow("a file") << "file"
                          << "a file, not a folder";
  QTest::newRow("below a file") << "file/below"
                                << "cannot be written";
  QTest::newRow("where nobody can write") << "/proc/shardscape/a"
                                          << "cannot be written";
}

void ExportTest::targets() {
  QFETCH(QString, target);
  QFETCH(QString, said);
  QTemporaryDir folder;
  QVERIFY(QDir(folder.path()).mkdir("full"));
  put(folder.filePath("full/thesis.tex"), "years of work");
  put(folder.filePath("file"), "text");
  const CliRun run = run_line(kSmall + target, folder.path());
  QCOMPARE(run.exit_code, 3);
  QVERIFY2(run.err.contains(said), qPrintable(run.err));
  QVERIFY2(run.err.contains("accepted: "), qPrintable(run.err));
  QCOMPARE(everything_in(folder.path()), (QStringList{"file", "full"}));
  QCOMPARE(everything_in(folder.filePath("full")), QStringList{"thesis.tex"});
  QCOMPARE(QFileInfo(folder.filePath("file")).size(), 4);
}

void ExportTest::replace() {
  QTemporaryDir folder;
  QCOMPARE(run_line(kSmall + "a --name old", folder.path()).exit_code, 0);
  QCOMPARE(run_line(kSmall + "a --name new", folder.path()).exit_code, 3);
  QVERIFY(QDir(folder.filePath("a")).exists("old.0.et"));
  QCOMPARE(run_line(kSmall + "a --name new --replace", folder.path()).exit_code, 0);
  QVERIFY(!QDir(folder.filePath("a")).exists("old.0.et"));
  QVERIFY(QDir(folder.filePath("a")).exists("new.0.et"));
  QCOMPARE(everything_in(folder.path()), QStringList{"a"});
}

void ExportTest::invalid_design_writes_nothing() {
  QTemporaryDir folder;
  const CliRun run = run_line("export --tp 5 -o deep/er/a", folder.path());
  QCOMPARE(run.exit_code, 1);
  QVERIFY(run.err.contains("error: tp: "));
  QCOMPARE(everything_in(folder.path()), QStringList());
}

// Standard output has the archive and nothing else.
void ExportTest::archives() {
  QTemporaryDir folder;
  QCOMPARE(run_line(kSmall + "job.tar", folder.path()).exit_code, 0);
  QCOMPARE(everything_in(folder.path()), QStringList{"job.tar"});
  QProcess process;
  process.setWorkingDirectory(folder.path());
  QStringList words = (kSmall + "-").split(' ');
  process.start(SHARDSCAPE_CLI, words);
  QVERIFY(process.waitForFinished(kLongestRun));
  QCOMPARE(process.exitCode(), 0);
  const QByteArray out = process.readAllStandardOutput();
  QVERIFY(out.startsWith("bundle/trace.") && out.size() % 512 == 0);
  QVERIFY(process.readAllStandardError().contains("to standard output"));
  words.append("--json");
  process.start(SHARDSCAPE_CLI, words);
  QVERIFY(process.waitForFinished(kLongestRun));
  QVERIFY(process.readAllStandardOutput() == out);
  QVERIFY(process.readAllStandardError().contains("\"ranks\": 8"));
  process.start(SHARDSCAPE_CLI, (kSmall + "/dev/stdout").split(' '));
  QVERIFY(process.waitForFinished(kLongestRun));
  QVERIFY(process.readAllStandardOutput() == out);
  QCOMPARE(run_line(kSmall + "/dev/null", folder.path()).exit_code, 0);
  const CliRun twice = run_line(kSmall + "job.tar", folder.path());
  QCOMPARE(twice.exit_code, 3);
  QVERIFY2(twice.err.contains("--replace"), qPrintable(twice.err));
  QCOMPARE(run_line(kSmall + "job.tar --replace", folder.path()).exit_code, 0);
  QCOMPARE(everything_in(folder.path()), QStringList{"job.tar"});
}

void ExportTest::compact() {
  QTemporaryDir folder;
  const CliRun made = run_line(kSmall + "small --compact", folder.path());
  QCOMPARE(made.exit_code, 0);
  QVERIFY2(made.out.contains("shardscape-cli expand small"), qPrintable(made.out));
  QStringList files = everything_in(folder.filePath("small"));
  files.sort();
  QCOMPARE(files, (QStringList{"README.md", "class-0.et", "class-1.et", "compact.json"}));
  QCOMPARE(run_line("expand small -o whole", folder.path()).exit_code, 0);
  QCOMPARE(run_line("check whole", folder.path()).exit_code, 0);
  QCOMPARE(run_line("expand small -o some --ranks 6-7", folder.path()).exit_code, 0);
  QVERIFY(QFile::exists(folder.filePath("some/trace.7.et")) &&
          !QFile::exists(folder.filePath("some/trace.0.et")));
  const CliRun beyond = run_line("expand small -o more --ranks 8", folder.path());
  QCOMPARE(beyond.exit_code, 2);
  QVERIFY2(beyond.err.contains("0 to 7"), qPrintable(beyond.err));
  QCOMPARE(run_line("expand whole -o more", folder.path()).exit_code, 3);
  QCOMPARE(run_line("expand small", folder.path()).exit_code, 2);
  const CliRun checked = run_line("check small", folder.path());
  QCOMPARE(checked.exit_code, 1);
  QVERIFY2(checked.out.contains("shardscape-cli expand"), qPrintable(checked.out));
}

void ExportTest::parts_and_steps() {
  QTemporaryDir folder;
  QCOMPARE(run_line(kSmall + "part --stage 1 --granularity layer", folder.path()).exit_code, 0);
  const CliRun checked = run_line("check part", folder.path());
  QCOMPARE(checked.exit_code, 0);
  QVERIFY2(checked.out.contains("a part of a job of 8 ranks"), qPrintable(checked.out));
  const CliRun simulated = run_line("simulate part", folder.path());
  QCOMPARE(simulated.exit_code, 1);
  QVERIFY2(simulated.err.contains("4 of 8 ranks"), qPrintable(simulated.err));
  const QJsonObject one = run_line(kSmall + "one --json", folder.path()).json(),
                    three = run_line(kSmall + "three --steps 3 --json", folder.path()).json();
  QCOMPARE(three["nodes"].toInt(), 3 * one["nodes"].toInt());
}

void ExportTest::resume_after_a_kill() {
  QTemporaryDir folder;
  const QString
      more = "export --model llama3.1-405b --tp 8 --pp 16 --dp 2 --batch 256 --granularity pass -o ";
  QProcess process;
  process.setWorkingDirectory(folder.path());
  process.start(SHARDSCAPE_CLI, (more + "job").split(' '));
  QVERIFY(process.waitForStarted(kLongestRun));
  const auto written = [&] {
    const QStringList partial = everything_in(folder.path());
    return !partial.isEmpty() && everything_in(folder.filePath(partial.front())).size() > 10;
  };
  QTRY_VERIFY_WITH_TIMEOUT(written(), kLongestRun);
  process.kill();
  QVERIFY(process.waitForFinished(kLongestRun));
  if (process.exitStatus() == QProcess::NormalExit) QSKIP("the export ended before it was killed");
  const CliRun other = run_line(more + "job --resume --durations", folder.path());
  QCOMPARE(other.exit_code, 3);
  QVERIFY2(other.err.contains("durations was false and is true"), qPrintable(other.err));
  QVERIFY(QDir(folder.path()).mkdir(".job.partial-abcdef"));  // of another export that was killed
  const CliRun resumed = run_line(more + "job --resume", folder.path());
  QCOMPARE(resumed.exit_code, 0);
  QVERIFY2(resumed.out.contains("resumed"), qPrintable(resumed.out));
  QCOMPARE(everything_in(folder.path()), QStringList{"job"});
  QCOMPARE(run_line(more + "direct", folder.path()).exit_code, 0);
  for (const QString& name : everything_in(folder.filePath("direct"))) {
    QFile a(folder.filePath("direct/" + name)), b(folder.filePath("job/" + name));
    QVERIFY(a.open(QIODevice::ReadOnly) && b.open(QIODevice::ReadOnly));
    QVERIFY2(a.readAll() == b.readAll(), qPrintable(name));
  }
}

void ExportTest::wrong_flags_data() {
  QTest::addColumn<QString>("flags");
  QTest::addColumn<QString>("said");
  QTest::newRow("granularity") << "--granularity layers"
                               << "between-communications";
  QTest::newRow("tensors of layers") << "--granularity layer --tensors"
                                     << "one node per layer";
  QTest::newRow("tensors of steps") << "--steps 2 --tensors"
                                    << "2 steps";
  QTest::newRow("unknown backend") << "--networks ns4"
                                   << "ns3, htsim or ns3,htsim";
  QTest::newRow("a backend twice") << "--networks ns3,ns3"
                                   << "given twice";
  QTest::newRow("no step") << "--steps 0"
                           << "1 or more";
  QTest::newRow("ranks beyond") << "--ranks 0-8"
                                << "0 to 7";
  QTest::newRow("a stage beyond") << "--stage 2"
                                  << "0 to 1";
  QTest::newRow("no rank of the stage") << "--ranks 0 --stage 1"
                                        << "no rank";
}

void ExportTest::wrong_flags() {
  QFETCH(QString, flags);
  QFETCH(QString, said);
  QTemporaryDir folder;
  const CliRun run = run_line(kSmall + "a " + flags, folder.path());
  QCOMPARE(run.exit_code, 2);
  QVERIFY2(run.err.contains(said), qPrintable(run.err));
  QCOMPARE(everything_in(folder.path()), QStringList());
}

void ExportTest::interrupted_data() {
  QTest::addColumn<int>("signal");
  QTest::newRow("Ctrl+C") << SIGINT;
  QTest::newRow("asked to end") << SIGTERM;
}

// An export that is stopped between thousands of files leaves nothing, not even the created parent folders.
void ExportTest::interrupted() {
  QFETCH(int, signal);
  QTemporaryDir folder;
  const qint64 free = QStorageInfo(folder.path()).bytesAvailable();
  if (free < qint64{3} << 30) QSKIP("less than 3 GiB free");
  QProcess process;
  process.setWorkingDirectory(folder.path());
  process.start(SHARDSCAPE_CLI, {"export", "--model", "llama3.1-405b", "--tp", "8", "--pp", "16", "--dp",
                                 "64", "--batch", "256", "-o", "deep/er/a"});
  QVERIFY(process.waitForStarted(kLongestRun));
  const auto written = [&] {
    const QStringList partial = everything_in(folder.filePath("deep/er"));
    return !partial.isEmpty() && everything_in(folder.filePath("deep/er/" + partial.front())).size() > 10;
  };
  QTRY_VERIFY_WITH_TIMEOUT(written(), kLongestRun);
  QCOMPARE(::kill(static_cast<pid_t>(process.processId()), signal), 0);
  QVERIFY(process.waitForFinished(kLongestRun));
  QCOMPARE(process.exitStatus(), QProcess::NormalExit);
  QCOMPARE(process.exitCode(), 130);
  QCOMPARE(everything_in(folder.path()), QStringList());
}

QTEST_GUILESS_MAIN(ExportTest)
#include "export_test.moc"
