// Files that are made to do harm, and things that are no files: every command that reads a file names it, and
// ends with the exit code of wrong content or of an unreadable file.
#include <sys/stat.h>

#include <QDir>
#include <QFile>
#include <QStringDecoder>
#include <QTemporaryDir>
#include <QTest>
#include <cstdio>

#include "cli/cli_run.h"
#include "support/longest_run.h"
#include "support/profile_trace.h"

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

  // A file of many mistakes has the first ones; a file that is too long is left out.
  void many_mistakes() {
    QTemporaryDir folder;
    const QString blocks = folder.filePath("shardscape/models/blocks/");
    QVERIFY(QDir().mkpath(blocks));
    QByteArray ones = "1";
    for (int i = 0; i < 5000; ++i) ones += ",1";
    const auto block = [&](const QByteArray& name, const QByteArray& ops) {
      write(blocks + name + ".json",
            "{\"block\": \"" + name +
                "\", \"inputs\": {\"x\": [\"hidden\"]}, \"parameters\": {}, \"ops\": [" + ops +
                "], \"output\": \"y\"}");
    };
    block("many", ones);
    block("long", ones + "," + QByteArray(70000, ' ') + "1");
    const CliRun run = run_cli({"presets"}, {}, {"XDG_DATA_HOME=" + folder.path()});
    QCOMPARE(run.exit_code, 0);
    QCOMPARE(run.err.count("1 is not a line"), 20);
    QVERIFY2(run.err.contains("long.json: the file has 80"), qPrintable(run.err));
    QVERIFY(run.err.contains("at most 65536 bytes"));
  }

  void many_settings() {
    QTemporaryDir folder;
    QByteArray text = "{\"model_type\": \"llama\"";
    for (int i = 0; i < 6000; ++i) text += ", \"k" + QByteArray::number(i) + "\": 1";
    write(folder.filePath("c.json"), text + "}");
    const CliRun run = run_cli({"import", "c.json"}, folder.path());
    QCOMPARE(run.exit_code, kWrongContent);
    QVERIFY2(run.err.contains("c.json:1") && run.err.contains("has 6001 settings"), qPrintable(run.err));
  }

  // Bytes that are not UTF-8, in names of files and in files, become U+FFFD in JSON.
  void not_utf8_data() {
    QTest::addColumn<QByteArray>("line");
    for (const char* line :
         {"import c\xff.json --json", "import l.sh --gpus 8 --json", "architecture check c\xff.json --json",
          "audit p\xff.json --model llama3-8b --json", "validate v\xff.json --json",
          "serve --trace r\xff.csv --json", "calibrate m\xff.csv --accelerator h100 -o cal.json",
          "export --layers 1 --dp 2 -o e\xff --json", "export --layers 1 --dp 2 -o e\xff.tar --json",
          "export --layers 1 --dp 2 --compact -o f\xff --json"})
      QTest::newRow(line) << QByteArray(line);
  }
  void not_utf8() {
    QFETCH(QByteArray, line);
    QTemporaryDir folder;
    const auto file = [&](const QByteArray& name, const QByteArray& text) {
      FILE* out = std::fopen((folder.path().toUtf8() + '/' + name).constData(), "w");
      QVERIFY(out);
      std::fwrite(text.constData(), 1, static_cast<size_t>(text.size()), out);
      std::fclose(out);
    };
    file("c\xff.json",
         R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
             "num_key_value_heads": 4, "intermediate_size": 128, "vocab_size": 256})");
    ProfileTrace().launch(1, 0).kernel("gemm", 5, 10, 1).write(folder.path().toStdString() + "/p\xff.json");
    QFile set(SHARDSCAPE_TEST_DATA "/measured/megatron_b200_8gpu.json");
    QVERIFY(set.open(QIODevice::ReadOnly));
    file("v\xff.json", set.readAll());
    file("r\xff.csv", "arrival_s,input_tokens,output_tokens\n0,10,10\n");
    file("m\xff.csv", "op,m,n,k,dtype,us\nmatmul,4096,4096,4096,bfloat16,200\n");
    file("l.sh",
         "torchrun pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 --foo\xff 1\n");
    // QProcess would encode the words.
    QProcess shell;
    shell.setWorkingDirectory(folder.path());
    shell.start("sh", {"-s"});
    QVERIFY(shell.waitForStarted(kLongestRun));
    shell.write("exec '" SHARDSCAPE_CLI "' " + line + "\n");
    shell.closeWriteChannel();
    QVERIFY(shell.waitForFinished(kLongestRun));
    const QByteArray out = shell.readAllStandardOutput(), err = shell.readAllStandardError();
    QVERIFY2(!err.contains("json.exception") && shell.exitCode() != kUnreadable, err.constData());
    const auto valid = [](const QByteArray& text) {
      QStringDecoder utf8(QStringDecoder::Utf8);
      const QString decoded = utf8(text);
      return !utf8.hasError() && decoded.isEmpty() == text.isEmpty();
    };
    QVERIFY2(valid(out) && valid(err), (out + err).constData());
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
    QVERIFY(process.waitForStarted(kLongestRun));
    process.write("{\"model_type\": 3}");
    process.closeWriteChannel();
    QVERIFY(process.waitForFinished(kLongestRun));
    QCOMPARE(process.exitCode(), kWrongContent);
    QVERIFY(process.readAllStandardError().contains("/dev/stdin"));
  }

  // Services that run at once read the whole pipe, not a part each.
  void pipesOfSeveralThreads() {
    QByteArray lengths = "input_length,output_length\n";
    for (int i = 0; i < 40000; ++i) lengths += QByteArray::number(100 + i % 7) + ",2\n";
    QProcess process;
    process.start(SHARDSCAPE_CLI, {"serve", "--model", "llama3-8b", "--lengths", "/dev/stdin", "--requests",
                                   "20", "--rates", "1,2,4,8", "--json"});
    QVERIFY(process.waitForStarted(kLongestRun));
    process.write(lengths);
    process.closeWriteChannel();
    QVERIFY(process.waitForFinished(kLongestRun));
    QVERIFY2(process.exitCode() == 0, process.readAllStandardError());
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
