// Bad input: the message names the knob or the place and the accepted values. The exit code gives the kind of
// error.
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include "cli/cli_run.h"
#include "design/document.h"

using namespace shardscape;
using namespace shardscape::test;

class BadInputTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void flags_data();
  void flags();
  void fixes_work();
  void json_holds_the_problems();
  void documents_data();
  void documents();
  void missing_file();
  void missing_data_data();
  void missing_data();
};

void BadInputTest::flags_data() {
  QTest::addColumn<QString>("line");
  QTest::addColumn<int>("exit_code");
  QTest::addColumn<QStringList>("said");
  using L = QStringList;
  QTest::newRow("heads over tp") << "report --tp 5" << 1
                                 << L{"error: tp: 32 heads", "a divisor of 32", "fix: --tp 4"};
  QTest::newRow("more stages than layers")
      << "report --pp 64" << 1 << L{"error: pp: 64", "at most 32", "fix: --pp 32"};
  QTest::newRow("batch does not split")
      << "report --dp 2 --batch 7" << 1 << L{"error: batch: ", "a multiple of 2", "fix: --batch 8"};
  QTest::newRow("sum of stage layers")
      << "report --pp 2 --stage-layers 10,10" << 1 << L{"error: stage_layers: "};
  QTest::newRow("sequence over tp") << "report --tp 8 --seq 4095 --sequence-parallel" << 1
                                    << L{"error: seq: "};
  QTest::newRow("positions") << "report --model gpt3-175b --seq 4096" << 1
                             << L{"error: seq: ", "at most 2,048"};
  QTest::newRow("zero") << "report --tp 0" << 2 << L{"error: tp: 0 is too small", "a whole number from 1 to"};
  QTest::newRow("negative") << "report --batch -2" << 2 << L{"error: batch: -2 is too small"};
  QTest::newRow("negative with =") << "report --batch=-2" << 2 << L{"error: batch: -2 is too small"};
  QTest::newRow("absurd") << "report --hidden 999999999999999999999999" << 2
                          << L{"error: hidden: ", "from 1 to 1,048,576"};
  QTest::newRow("absurd within 64 bits")
      << "report --seq 9223372036854775807" << 2 << L{"error: seq: ", "too large"};
  QTest::newRow("fraction") << "report --layers 1.5" << 2
                            << L{"error: layers: \"1.5\" is not a whole number"};
  QTest::newRow("word") << "report --layers many" << 2 << L{"error: layers: \"many\" is not a whole number"};
  QTest::newRow("choice") << "report --schedule 1g1b" << 2 << L{"error: schedule: ", "one of 1f1b, gpipe, "};
  QTest::newRow("boolean") << "report --sequence-parallel=maybe" << 2
                           << L{"error: sequence_parallel: \"maybe\""};
  QTest::newRow("all mistakes at once") << "report --tp 0 --pp x" << 2 << L{"error: tp: ", "error: pp: "};
  QTest::newRow("preset") << "report --model lama3-8b" << 2
                          << L{"error: model: ", "did you mean llama3-8b?", "gpt3-175b"};
  QTest::newRow("architecture") << "report --architecture llamo" << 1 << L{"error: architecture: ", "llama"};
  QTest::newRow("unknown flag") << "report --sequence-paralel" << 2
                                << L{"--sequence-paralel", "did you mean --sequence-parallel?"};
  QTest::newRow("underscore") << "report --kv_heads 8" << 2 << L{"did you mean --kv-heads?"};
  QTest::newRow("missing value") << "report --tp" << 2 << L{"error: --tp: a value is missing"};
  QTest::newRow("stray word") << "report tp 4" << 2 << L{"error: tp: this argument belongs to no flag"};
  QTest::newRow("unknown command") << "exprot" << 2 << L{"did you mean export?"};
  QTest::newRow("unknown command in help") << "help exprot" << 2 << L{"did you mean export?"};
  QTest::newRow("segment") << "graph --segment body" << 2 << L{"--segment", "embedding, head, layer"};
  QTest::newRow("phase") << "graph --phase sideways" << 2 << L{"--phase", "backward, forward"};
  QTest::newRow("json and dot") << "graph --json --dot" << 2 << L{"--dot"};
  QTest::newRow("export without a folder") << "export --tp 2" << 2 << L{"error: --output: ", "-o DIR"};
  QTest::newRow("check without a folder") << "check" << 2 << L{"error: BUNDLE: "};
  QTest::newRow("check of nothing") << "check /nonexistent/bundle" << 3
                                    << L{"/nonexistent/bundle", "there is no such folder"};
  QTest::newRow("check of a file") << "check /etc/passwd" << 3 << L{"/etc/passwd", "it is not a folder"};
}

void BadInputTest::flags() {
  QFETCH(QString, line);
  QFETCH(int, exit_code);
  QFETCH(QStringList, said);
  const CliRun run = run_line(line);
  QCOMPARE(run.exit_code, exit_code);
  QCOMPARE(run.out, QString());
  for (const QString& text : said) QVERIFY2(run.err.contains(text), qPrintable(run.err));
  QVERIFY2(run.err.contains("accepted: "), qPrintable(run.err));
}

// A fix that a message offers is accepted as it is printed.
void BadInputTest::fixes_work() {
  const QString line = "report --model llama3-8b --tp 5 --dp 3 --batch 10";
  QString flags = line;
  for (int step = 0; step < 4; ++step) {
    const CliRun run = run_line(flags);
    if (run.exit_code == 0) return;
    QCOMPARE(run.exit_code, 1);
    const qsizetype at = run.err.indexOf("fix: ");
    QVERIFY2(at >= 0, qPrintable(run.err));
    flags += ' ' + run.err.mid(at + 5).section('\n', 0, 0);
  }
  QFAIL(qPrintable("still wrong: " + flags));
}

void BadInputTest::json_holds_the_problems() {
  const CliRun run = run_line("report --tp 5 --json");
  QCOMPARE(run.exit_code, 1);
  const QJsonObject report = run.json();
  QVERIFY(report.contains("valid") && !report["valid"].toBool());
  const QJsonObject problem = report["problems"][0].toObject();
  QCOMPARE(problem["code"].toString(), "heads-indivisible-by-tp");
  QCOMPARE(problem["where"].toString(), "tp");
  QVERIFY(!problem["accepted"].toString().isEmpty());
  QCOMPARE(problem["fixes"][0]["settings"]["tp"].toString(), "4");
  QVERIFY(!report.contains("stages"));
}

void BadInputTest::documents_data() {
  QTest::addColumn<QString>("from");
  QTest::addColumn<QString>("to");
  QTest::addColumn<QString>("said");
  QTest::newRow("truncated") << "\"cluster\"" << QString() << "d.json";
  QTest::newRow("empty") << "{" << QString() << "d.json";
  QTest::newRow("number in quotes") << "\"tp\": 2"
                                    << "\"tp\": \"2\""
                                    << "tp";
  QTest::newRow("fraction") << "\"tp\": 2"
                            << "\"tp\": 2.5"
                            << "tp";
  QTest::newRow("values that do not fit together") << "\"tp\": 2"
                                                   << "\"tp\": 5"
                                                   << "d.json: tp: 32 heads";
  QTest::newRow("list") << "\"tp\": 2"
                        << "\"tp\": [2]"
                        << "tp";
  QTest::newRow("zero") << "\"tp\": 2"
                        << "\"tp\": 0"
                        << "tp";
  QTest::newRow("text as boolean") << "\"sequence_parallel\": true"
                                   << "\"sequence_parallel\": \"yes\""
                                   << "sequence_parallel";
  QTest::newRow("section of another type") << "\"workload\": {"
                                           << "\"workload\": 3, \"other\": {"
                                           << "workload";
  QTest::newRow("unknown key") << "\"tp\": 2"
                               << "\"tq\": 2"
                               << "tq";
  QTest::newRow("newer format") << "\"shardscape\": 1"
                                << "\"shardscape\": 999"
                                << "newer version of the program";
}

void BadInputTest::documents() {
  QFETCH(QString, from);
  QFETCH(QString, to);
  QFETCH(QString, said);
  QString text = QString::fromStdString(to_json(default_design()));
  const qsizetype at = text.indexOf(from);
  QVERIFY2(at >= 0, qPrintable(from));
  if (to.isNull())
    text.truncate(at);
  else
    text.replace(at, from.size(), to);
  QTemporaryDir folder;
  QFile file(folder.filePath("d.json"));
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(text.toUtf8());
  file.close();
  const CliRun run = run_cli({"report", "--design", "d.json"}, folder.path());
  QCOMPARE(run.exit_code, 1);
  QCOMPARE(run.out, QString());
  QVERIFY2(run.err.startsWith("error: d.json"), qPrintable(run.err));
  QVERIFY2(run.err.contains(said), qPrintable(run.err));
  QVERIFY(file.open(QIODevice::ReadOnly));
  QCOMPARE(QString::fromUtf8(file.readAll()), text);
}

void BadInputTest::missing_file() {
  const CliRun run = run_line("report --design /nonexistent/d.json");
  QCOMPARE(run.exit_code, 3);
  QVERIFY(run.err.contains("/nonexistent/d.json"));
}

void BadInputTest::missing_data_data() {
  QTest::addColumn<QString>("command");
  for (const char* command : {"presets", "report", "graph"}) QTest::newRow(command) << command;
}

void BadInputTest::missing_data() {
  QFETCH(QString, command);
  const CliRun run = run_cli({command}, {}, {"SHARDSCAPE_DATA=/nonexistent"});
  QCOMPARE(run.exit_code, 3);
  QVERIFY2(run.err.contains("/nonexistent/models/presets: no preset could be read"), qPrintable(run.err));
}

QTEST_GUILESS_MAIN(BadInputTest)
#include "bad_input_test.moc"
