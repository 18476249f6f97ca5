// shardscape-cli explore --slurm and --checkpoint: the scripts search and merge to the bytes of one run.
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>
#include <csignal>

#include "cli/cli_run.h"
#include "support/longest_run.h"
#include "support/test_share.h"

using namespace shardscape;
using namespace shardscape::test;

class SlurmTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void scripts_give_the_bytes_of_one_run_data();
  void scripts_give_the_bytes_of_one_run();
  void killed_search_continues_from_its_checkpoint();
  void bad_input_data();
  void bad_input();
};

namespace {

const QStringList kSmall{"--model",    "gpt2", "--layers", "4",    "--hidden", "256",  "--heads", "4",
                         "--kv-heads", "4",    "--ffn",    "1024", "--vocab",  "1000", "--seq",   "128",
                         "--batch",    "16",   "--gpus",   "8",    "--tp",     "1,2"};
const QStringList kService{
    "--model",    "llama3-8b", "--gpus",      "2",       "--mode",     "decode", "--batch",
    "8",          "--tp",      "all",         "--pp",    "all",        "--slo",  "p99 tpot<15ms",
    "--requests", "60",        "--objective", "goodput", "--evaluate", "2"};

QByteArray content(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

int run_script(const QString& path, const QStringList& variables = {}) {
  QProcess process;
  process.setEnvironment(QProcess::systemEnvironment() + variables);
  process.setStandardOutputFile(QProcess::nullDevice());
  process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
  process.start("bash", {path});
  return process.waitForFinished(kLongestRun) ? process.exitCode() : -1;
}

}  // namespace

void SlurmTest::scripts_give_the_bytes_of_one_run_data() {
  QTest::addColumn<QStringList>("search");
  QTest::newRow("search") << kSmall + QStringList{"--pp",      "all",          "--recompute",
                                                  "none,full", "--microbatch", "1..2*2"};
  QTest::newRow("conditions") << kSmall + QStringList{"--pp",         "all",
                                                      "--where",      "tp<=2 and pp>1; microbatch != 4",
                                                      "--microbatch", "1..4",
                                                      "--sample",     "5",
                                                      "--top",        "3"};
  QTest::newRow("several kinds of flags")
      << kSmall + QStringList{"--usual", "--sequence-parallel", "--objective=memory", "--threads", "2"};
  QTest::newRow("goodput") << kService;
}

void SlurmTest::scripts_give_the_bytes_of_one_run() {
  QFETCH(QStringList, search);
  const QTemporaryDir folder;
  const QString job = folder.filePath("the job's folder"), all = folder.filePath("all.json");
  QCOMPARE(run_cli(QStringList{"explore"} + search + QStringList{"-o", all}).exit_code, 0);
  const CliRun written = run_cli(QStringList{"explore"} + search +
                                     QStringList{"--slurm", "the job's folder", "--slurm-shards", "3",
                                                 "--csv", "table.csv", "--slurm-memory", "2G"},
                                 folder.path());
  QVERIFY2(written.exit_code == 0, qPrintable(written.err));
  QVERIFY(written.out.contains("sbatch --parsable") && written.out.contains("afterok:ID"));
  for (const char* task : {"2", "0", "1"})
    QCOMPARE(run_script(job + "/shard.sh", {QString("SLURM_ARRAY_TASK_ID=%1").arg(task)}), 0);
  QCOMPARE(QDir(job).entryList({"checkpoint*"}), QStringList());
  QCOMPARE(run_script(job + "/merge.sh"), 0);
  QVERIFY(!content(all).isEmpty());
  QCOMPARE(content(job + "/result.json"), content(all));
  // Relative names start where the scripts were written.
  QVERIFY(content(folder.filePath("table.csv")).startsWith("index,"));
}

// Kill -9 leaves the last checkpoint, and the next attempt ends with the bytes of one run.
void SlurmTest::killed_search_continues_from_its_checkpoint() {
  const QTemporaryDir folder;
  const QString part = folder.filePath("part.json"), again = folder.filePath("again.json"),
                all = folder.filePath("all.json");
  const QStringList search = QStringList{"explore", "--threads", "1"} + kSmall +
                             QStringList{
                                 "--pp",        "all", "--vocab-multiple", QString("1..%1").arg(cases(2000)),
                                 "--recompute", "all", "--nic-bandwidth",  "100..140"};
  QProcess process;
  process.start(SHARDSCAPE_CLI, search + QStringList{"--checkpoint", "1", "-o", part});
  QVERIFY(process.waitForStarted(kLongestRun));
  QVERIFY(QTest::qWaitFor([&] { return QFile::exists(part) || process.state() == QProcess::NotRunning; },
                          60'000));
  ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
  process.waitForFinished(kLongestRun);
  QCOMPARE(process.exitStatus(), QProcess::CrashExit);
  const QJsonObject before = QJsonDocument::fromJson(content(part)).object();
  QVERIFY(before["enumerated"].toDouble() > 0 && !before["complete"].toBool());
  QCOMPARE(run_cli(search + QStringList{"--resume", part, "-o", again}).exit_code, 0);
  QCOMPARE(run_cli(search + QStringList{"-o", all}).exit_code, 0);
  QVERIFY(content(again) == content(all));
}

void SlurmTest::bad_input_data() {
  QTest::addColumn<QStringList>("flags");
  QTest::addColumn<QString>("words");
  QTest::newRow("without the folder") << QStringList{"--slurm-shards", "4"} << "--slurm DIR";
  QTest::newRow("shard") << QStringList{"--slurm", "new", "--shard", "1/2"} << "either --slurm or --shard";
  QTest::newRow("guided") << QStringList{"--slurm", "new", "--guided"} << "either --slurm or --guided";
  QTest::newRow("resume") << QStringList{"--slurm", "new", "--resume", "a.json"} << "--resume";
  QTest::newRow("count") << QStringList{"--slurm", "new", "--count"} << "--count";
  QTest::newRow("one shard") << QStringList{"--slurm", "new", "--slurm-shards", "1"} << "from 2 to 100,000";
  QTest::newRow("time") << QStringList{"--slurm", "new", "--slurm-time", "soon"} << "--slurm-time: \"soon\"";
  QTest::newRow("search") << kSmall + QStringList{"--slurm", "new", "--top", "none"} << "--top";
  QTest::newRow("goodput without a level")
      << QStringList{"--slurm", "new", "--slo", "fast", "--mode", "decode", "--objective", "goodput"}
      << "slo";
  QTest::newRow("checkpoint without a file") << QStringList{"--checkpoint", "5"} << "checkpoints need a file";
  QTest::newRow("checkpoint of a guided search")
      << QStringList{"--checkpoint", "5", "-o", "a.json", "--guided"} << "cannot be resumed";
  QTest::newRow("checkpoint") << QStringList{"--checkpoint", "0", "-o", "a.json"} << "from 1 to 1,000,000";
}

void SlurmTest::bad_input() {
  QFETCH(QStringList, flags);
  QFETCH(QString, words);
  const QTemporaryDir folder;
  const CliRun run = run_cli(QStringList{"explore"} + kSmall + flags, folder.path());
  QVERIFY2(run.exit_code == 2, qPrintable(run.err));
  QVERIFY2(run.err.contains(words), qPrintable(run.err));
  QCOMPARE(run.out, QString());
  QVERIFY(QDir(folder.path()).isEmpty());
}

QTEST_APPLESS_MAIN(SlurmTest)
#include "slurm_test.moc"
