// Where a command writes: what cannot be written is refused before the command computes, no output replaces
// an input, and an answer that was computed is printed. Also: a flag without a value, and a pipe as the
// input.
#include <signal.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "cli/cli_run.h"

using namespace shardscape::test;

namespace {

constexpr int kNegative = 1, kWrongUsage = 2, kFileError = 3, kInterrupted = 130;
const QString kSearch = "explore --model llama3-8b --gpus 8 --tp 8 --batch 8 --seq 1024";

QByteArray content(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

// A command of a shell, in the folder. The program is $CLI.
CliRun shell(const QString& command, const QString& folder) {
  return run_program("bash", {"-c", command}, folder, {QString("CLI=") + SHARDSCAPE_CLI});
}

}  // namespace

class OutputPathsTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;
  QString path(const QString& name) const { return folder_.filePath(name); }

 private slots:
  void initTestCase() {
    QVERIFY(QDir(folder_.path()).mkdir("taken"));
    QCOMPARE(run_line(kSearch + " -o result.json", folder_.path()).exit_code, 0);
    QCOMPARE(run_line("report --model llama3-8b --save-design design.json", folder_.path()).exit_code, 0);
    QCOMPARE(run_line("export --model llama3-8b --dp 2 --seq 64 --batch 2 --microbatch 1 -o bundle",
                      folder_.path())
                 .exit_code,
             0);
  }

  void refused_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<int>("exit_code");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* name, const QString& line, int exit_code, const char* said) {
      QTest::newRow(name) << line << exit_code << said;
    };
    row("no folder", kSearch + " -o none/x.json", kFileError, "none/x.json: the file cannot be written");
    row("table in no folder", kSearch + " --csv none/x.csv", kFileError, "none/x.csv");
    row("a folder", kSearch + " -o taken", kFileError, "it is a folder");
    row("a file as the folder", kSearch + " -o design.json/x", kFileError, "Not a directory");
    row("result of a cluster", kSearch + " --slurm jobs -o none/x.json", kFileError, "none/x.json");
    row("bundle of steps", "serve --model llama3-8b --requests 10 --bundle design.json/x", kFileError,
        "the folder cannot be written");
    row("one file of two flags", kSearch + " -o same --csv same", kWrongUsage, "--csv writes the same file");
    row("one file by two names", "report --html same --markdown ./same", kWrongUsage, "--markdown writes");
    row("standard output", kSearch + " -o -", kWrongUsage, "/dev/stdout");
    row("the design", "timeline --design design.json -o design.json", kWrongUsage, "the file of --design");
    row("the operand", "import design.json -o ./design.json", kWrongUsage, "is the input, too");
    row("a trace of the bundle", "simulate bundle --timeline bundle/trace.0.et", kWrongUsage,
        "is a file of the bundle");
    row("another archive", "export --model llama3-8b --dp 2 -o x.zip", kFileError, "NAME.tar.zst");
    row("empty output", "explore --output=", kWrongUsage, "--output: a value is missing");
    row("empty design", "report --design=", kWrongUsage, "--design: a value is missing");
    row("flag of goodput", kSearch + " --evaluate nan", kWrongUsage, "--objective goodput");
    row("depth without a node", "trace bundle --depth nan", kWrongUsage, "--node ID");
  }
  void refused() {
    QFETCH(QString, line);
    QFETCH(int, exit_code);
    QFETCH(QString, said);
    const QByteArray design = content(path("design.json")), trace = content(path("bundle/trace.0.et"));
    const CliRun run = run_line(line, folder_.path());
    QVERIFY2(run.err.contains(said), qPrintable(run.err));
    QCOMPARE(run.exit_code, exit_code);
    QVERIFY2(run.out.isEmpty(), qPrintable(run.out));
    QVERIFY(!design.isEmpty() && !trace.isEmpty());
    QCOMPARE(content(path("design.json")), design);
    QCOMPARE(content(path("bundle/trace.0.et")), trace);
    QVERIFY(!QFile::exists(path("same")) && !QFile::exists(path("-")) && !QFile::exists(path("jobs")));
  }

  void allowed_data() {
    QTest::addColumn<QString>("line");
    QTest::newRow("next version of a design")
        << "report --design design.json --seq 512 --save-design design.json";
    QTest::newRow("resumed search") << kSearch + " --resume result.json -o result.json";
    QTest::newRow("parts and their result") << "merge result.json -o result.json";
    QTest::newRow("file of a bundle's folder") << "simulate bundle --timeline bundle/timeline.json";
    QTest::newRow("file with the name of a preset") << "timeline --model llama3-8b --seq 512 -o llama3-8b";
    QTest::newRow("the same file again") << "timeline --model llama3-8b --seq 512 -o llama3-8b";
    QTest::newRow("device") << kSearch + " -o /dev/null --csv /dev/null";
  }
  void allowed() {
    QFETCH(QString, line);
    const CliRun run = run_line(line, folder_.path());
    QVERIFY2(run.exit_code == 0, qPrintable(run.err));
  }

  // The disk is full when the file is written: the answer of the search is on standard output all the same.
  void answerWithoutFile() {
    for (const QString& flag : {QString("-o"), QString("--csv")}) {
      const CliRun run = run_line(kSearch + " " + flag + " /dev/full", folder_.path());
      QCOMPARE(run.exit_code, kFileError);
      QVERIFY2(run.err.contains("/dev/full"), qPrintable(run.err));
      QVERIFY2(run.out.contains("best by"), qPrintable(run.out));
    }
  }

  // Commands that read an input twice read a pipe once.
  void pipes_data() {
    QTest::addColumn<QString>("command");
    QTest::addColumn<QString>("said");
    QTest::newRow("merge") << "$CLI merge <(cat result.json)"
                           << "best by";
    QTest::newRow("import") << "cat bundle/manifest.json | $CLI import /dev/stdin"
                            << "model_type";
    QTest::newRow("calibrate") << "$CLI calibrate <(echo op,m) --accelerator h100"
                               << "column \"us\" is missing";
  }
  void pipes() {
    QFETCH(QString, command);
    QFETCH(QString, said);
    const CliRun run = shell(command, folder_.path());
    QVERIFY2((run.out + run.err).contains(said), qPrintable(run.out + run.err));
  }

  void exitCodes() {
    QCOMPARE(run_line("serve --model llama3-8b --requests 10 --against none.json", folder_.path()).exit_code,
             kFileError);
    QCOMPARE(
        shell("HOME=/dev/null XDG_DATA_HOME= $CLI architecture save-model mine", folder_.path()).exit_code,
        kFileError);
    QCOMPARE(run_line("explore --slurm taken --gpus 8", path("")).exit_code, 0);
    QCOMPARE(run_line("explore --slurm taken --gpus 8", path("")).exit_code, kFileError);
    const QString
        compact = "export --model llama3-8b --dp 2 --seq 64 --batch 2 --microbatch 1 --compact -o small";
    QCOMPARE(run_line(compact, folder_.path()).exit_code, 0);
    QVERIFY(QFile::resize(path("small/compact.json"), 100));
    QCOMPARE(run_line("expand small -o large", folder_.path()).exit_code, kNegative);
    // No design fits: merge says it as explore does.
    const QString none = "explore --model llama3.1-405b --gpus 8 --tp 8 -o none.json";
    QCOMPARE(run_line(none, folder_.path()).exit_code, kNegative);
    QCOMPARE(run_line("merge none.json", folder_.path()).exit_code, kNegative);
  }

  // One signal ends what computes, with nothing left over.
  void interrupted_data() {
    QTest::addColumn<QStringList>("words");
    QTest::newRow("fleet") << QStringList{"fleet", "--model",     "llama3-70b", "--rate", "2000",
                                          "--slo", "p99 ttft<2s", "--requests", "200000"};
    QTest::newRow("bundle of steps")
        << QString("serve --model llama3-70b --tp 4 --rate 4 --requests 4000 --bundle steps").split(' ');
    QTest::newRow("timeline of requests")
        << QString("serve --model llama3-8b --rate 4 --requests 100000 --perfetto requests.json").split(' ');
  }
  void interrupted() {
    QFETCH(QStringList, words);
    QProcess process;
    process.setWorkingDirectory(folder_.path());
    process.start(SHARDSCAPE_CLI, words);
    QVERIFY(process.waitForStarted());
    QTest::qWait(3000);
    if (process.state() != QProcess::Running) QSKIP("the command has ended before the signal");
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    QVERIFY(process.waitForFinished(kLongestRun));
    QCOMPARE(process.exitCode(), kInterrupted);
    QVERIFY(!QFile::exists(path("steps")) && !QFile::exists(path("requests.json")));
  }
};

QTEST_MAIN(OutputPathsTest)
#include "output_paths_test.moc"
