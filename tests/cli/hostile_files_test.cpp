// Files that are made to do harm, and things that are no files: every command that reads a file names it, and
// ends with the exit code of wrong content or of an unreadable file.
#include <sys/stat.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "cli/cli_run.h"

using namespace shardscape::test;

namespace {

constexpr int kWrongContent = 1, kUnreadable = 3;

void write(const QString& path, const QByteArray& text) {
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(text);
}

struct Reader {
  const char* name;
  const char* line;  // F: the file
  const char* extension;
};

constexpr Reader kReaders[] = {
    {"import", "import F", "json"},
    {"import of a launch", "import F --as megatron", "yaml"},
    {"hf-config", "report --hf-config F", "json"},
    {"design", "report --design F", "json"},
    {"compare", "compare F F", "json"},
    {"space", "explore --space F --count", "json"},
    {"resume", "explore --tp 1,2 --sample 2 --resume F", "json"},
    {"merge", "merge F F", "json"},
    {"audit", "audit F", "json"},
    {"validate", "validate F", "json"},
    {"requests", "serve --trace F", "json"},
    {"lengths", "serve --lengths F", "json"},
    {"profile", "profile F", "json"},
    {"trace", "trace F", "json"},
    {"calibrate", "calibrate F --accelerator h100", "csv"},
};

QByteArray deep(const Reader& reader) {
  const QByteArray lists(100000, '[');
  if (QByteArray(reader.name) == "lengths") return lists;
  return "{\"a\": " + lists + QByteArray(100000, ']') + "}";
}

CliRun run(const Reader& reader, const QString& file, const QString& folder) {
  QStringList words = QString(reader.line).split(' ');
  for (QString& word : words)
    if (word == "F") word = file;
  return run_cli(words, folder);
}

}  // namespace

class HostileFilesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void readers_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < std::size(kReaders); ++i) QTest::newRow(kReaders[i].name) << int(i);
  }
  void readers() {
    QFETCH(int, index);
    const Reader& reader = kReaders[index];
    QTemporaryDir folder;
    const QString deep_file = QString("deep.%1").arg(reader.extension),
                  pipe = QString("p.%1").arg(reader.extension);
    write(folder.filePath(deep_file), deep(reader));
    QCOMPARE(mkfifo(folder.filePath(pipe).toLocal8Bit(), 0600), 0);
    QVERIFY(QDir(folder.path()).mkdir("folder"));
    const CliRun content = run(reader, deep_file, folder.path());
    QVERIFY2(content.exit_code == kWrongContent,
             qPrintable(QString("%1 %2").arg(content.exit_code).arg(content.err)));
    QVERIFY2(content.err.contains(deep_file), qPrintable(content.err));
    QVERIFY2(content.err.size() < 3000 && !content.err.contains("exception"), qPrintable(content.err));
    for (const QString& name : {pipe, QString("/dev/zero"), QString("/nonexistent/f")}) {
      const CliRun refused = run(reader, name, folder.path());
      QVERIFY2(refused.exit_code == kUnreadable,
               qPrintable(QString("%1: %2 %3").arg(name).arg(refused.exit_code).arg(refused.err)));
      QVERIFY2(refused.err.contains(name), qPrintable(refused.err));
    }
  }

  // One broken file of each kind: the program works with the others.
  void own_files() {
    QTemporaryDir folder;
    const QString root = folder.filePath("shardscape/");
    const QByteArray deep_text = "{\"a\": " + QByteArray(100000, '[');
    QStringList files;
    for (const char* name :
         {"models/blocks", "models/towers", "models/architectures", "models/profiles", "models/presets",
          "resources/calibration", "resources/calibration/collectives"}) {
      QVERIFY(QDir().mkpath(root + name));
      files << root + name + "/deep.json";
    }
    QVERIFY(QDir().mkpath(root + "resources/catalogue"));
    files << root + "resources/catalogue/accelerators.json" << root + "resources/catalogue/clusters.json";
    for (const QString& file : files) write(file, deep_text + "\"collectives\"");
    write(root + "models/blocks/label.json",
          R"json({"block": "mine", "inputs": {"x": ["hidden"]}, "parameters": {}, "ops": ["y = add(x, x)"],
                  "output": "y", "labels": {"x": 5}})json");
    files << root + "models/blocks/label.json";
    const CliRun run = run_cli({"report"}, {}, {"XDG_DATA_HOME=" + folder.path()});
    QVERIFY2(run.exit_code == 0, qPrintable(run.err));
    for (const QString& file : files)
      QVERIFY2(run.err.contains(file + ":"), qPrintable(file + " is not in\n" + run.err));
    QVERIFY2(!run.err.contains("exception"), qPrintable(run.err));
  }

  void control_characters() {
    QTemporaryDir folder;
    write(folder.filePath("c.json"), "{\"model_type\": \"\\u001b[2J\\u001b]0;x\\u0007\\n\\u0000\"}");
    for (const QStringList& words : {QStringList{"import", "c.json"},
                                     {"report", "--model", "\x1b[2J\n\x07"},
                                     {"\x1b[31mreport"},
                                     {"report", "--\x1b[31m"},
                                     {"compare", "\x1b[2J", "b"}}) {
      const CliRun run = run_cli(words, folder.path());
      QVERIFY(run.exit_code > 0);
      for (const QChar c : run.out + run.err)
        QVERIFY2(c == '\n' || c == '\t' || c >= ' ', qPrintable(run.err));
    }
    // In results too.
    write(folder.filePath("d.json"), "{\"shardscape\": 1, \"name\": \"\\u001b[2J\"}");
    const CliRun run = run_cli({"compare", "d.json", "d.json"}, folder.path());
    QVERIFY(!run.out.contains(QChar(0x1b)) && !run.err.contains(QChar(0x1b)));
  }

  void long_values() {
    QTemporaryDir folder;
    write(folder.filePath("c.json"), "{\"model_type\": \"" + QByteArray(200000, 'A') + "\"}");
    for (const QStringList& words : {QStringList{"import", "c.json"},
                                     {"report", "--model", QString(50000, 'b')},
                                     {"report", "--tp", QString(50000, '7')}}) {
      const CliRun run = run_cli(words, folder.path());
      QVERIFY(run.exit_code > 0);
      QVERIFY2(run.err.size() < 12000, qPrintable(QString::number(run.err.size())));
    }
  }

  // A shell has opened this pipe.
  void pipes_of_shells() {
    QProcess process;
    process.start(SHARDSCAPE_CLI, {"import", "/dev/stdin"});
    QVERIFY(process.waitForStarted());
    process.write("{\"model_type\": 3}");
    process.closeWriteChannel();
    QVERIFY(process.waitForFinished(60000));
    QCOMPARE(process.exitCode(), kWrongContent);
    QVERIFY(process.readAllStandardError().contains("/dev/stdin"));
  }

  void boolean_flags() {
    const CliRun run = run_line("report --sequence-parallel maybe");
    QCOMPARE(run.exit_code, 2);
    QVERIFY2(run.err.startsWith("error: --sequence-parallel: \"maybe\" is neither true nor false"),
             qPrintable(run.err));
  }
};

QTEST_GUILESS_MAIN(HostileFilesTest)
#include "hostile_files_test.moc"
