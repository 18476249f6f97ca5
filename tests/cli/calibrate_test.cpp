// calibrate: a person's table of measured ops becomes a file that estimates use.
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include "cli/cli_run.h"
#include "performance/calibration.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

const QString kSample = QStringLiteral(SHARDSCAPE_TEST_DATA "/measured_ops/h100-sxm-80gb.csv");

QString write(const QTemporaryDir& folder, const char* name, const QByteArray& bytes) {
  QFile file(folder.filePath(name));
  if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size()) qFatal("%s", name);
  return file.fileName();
}

}  // namespace

class CalibrateTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void help();
  void table();
  void json();
  void file();
  void mistakes_data();
  void mistakes();
};

void CalibrateTest::help() {
  const CliRun run = run_line("calibrate --help");
  QCOMPARE(run.exit_code, 0);
  for (const char* word : {"FILE.csv", "--accelerator ID", "-o, --output OUT", "matmul", "kv_heads",
                           "all_gather", "per_domain", "h100-sxm-80gb", "Usage:", "Examples:"}) {
    QVERIFY2(run.out.contains(word), word);
  }
}

void CalibrateTest::table() {
  const CliRun run = run_cli({"calibrate", kSample, "--accelerator", "h100"});
  QCOMPARE(run.exit_code, 0);
  QCOMPARE(run.err, QString());
  for (const char* word :
       {"matmul bfloat16", "attention forward causal bfloat16", "attention backward full bfloat16",
        "attention decode causal bfloat16", "memory", "median error", "held out", " %"}) {
    QVERIFY2(run.out.contains(word), word);
  }
}

void CalibrateTest::json() {
  const QJsonObject out = run_cli({"calibrate", kSample, "--accelerator", "h100", "--json"}).json();
  QCOMPARE(out["accelerator"].toString(), QString("h100-sxm-80gb"));
  const QJsonObject first = out["errors"].toArray().first().toObject();
  QCOMPARE(first["what"].toString(), QString("matmul bfloat16"));
  QCOMPARE(first["rows"].toInt(), 120);
  QVERIFY(first["median_percent"].toDouble() > 0 && first["median_percent"].toDouble() < 5);
  QVERIFY(first["held_out_rows"].toInt() > 40);
  QVERIFY(first["held_out_median_percent"].toDouble() < 12);
}

void CalibrateTest::file() {
  QTemporaryDir folder;
  const QString out = folder.filePath("mine.json");
  const QString csv = write(folder, "ops.csv",
                            "op,m,n,k,ranks,bytes,us\nmatmul,4096,4096,4096,,,200\nall_reduce,,,,8,1024,"
                            "12\nall_reduce,,,,8,4096,13\n");
  const CliRun run = run_cli(
      {"calibrate", csv, "--accelerator", "mi300x", "--source", "our cluster", "-o", out});
  QCOMPARE(run.exit_code, 0);
  QVERIFY2(run.err.contains("wrote the calibration to"), qPrintable(run.err));
  QVERIFY2(run.out.contains("1 curve"), qPrintable(run.out));
  QFile file(out);
  QVERIFY(file.open(QIODevice::ReadOnly));
  const auto read = read_calibration(file.readAll().toStdString(), "mine.json");
  QVERIFY(std::holds_alternative<Calibration>(read));
  const Calibration& c = std::get<Calibration>(read);
  QCOMPARE(c.accelerator, std::string("mi300x-192gb"));
  QCOMPARE(c.matmul.at(0).source, std::string("our cluster"));
  QCOMPARE(c.source, std::string("our cluster"));
  QCOMPARE(c.collectives.at(0).op, std::string("all_reduce"));
  QCOMPARE(c.collectives.at(0).us, (std::vector<double>{12, 13}));
}

void CalibrateTest::mistakes_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QStringList>("flags");
  QTest::addColumn<int>("code");
  QTest::addColumn<QStringList>("words");
  const QByteArray good = "op,m,n,k,us\nmatmul,1,2,3,4\n";
  const QStringList h100{"--accelerator", "h100"};
  QTest::newRow("no accelerator") << good << QStringList{} << 2
                                  << QStringList{"--accelerator", "is missing", "h100-sxm-80gb"};
  QTest::newRow("unknown accelerator") << good << QStringList{"--accelerator", "abacus"} << 2
                                       << QStringList{"\"abacus\" is not in the catalogue", "gaudi3-128gb"};
  QTest::newRow("row") << QByteArray("op,m,n,k,us\nmatmul,1,2,3,4\nmatmul,1,two,3,4\n") << h100 << 1
                       << QStringList{"ops.csv:3", "n is \"two\"", "a whole number"};
  QTest::newRow("column") << QByteArray("op,size,us\n") << h100 << 1
                          << QStringList{"ops.csv:1", "\"size\" is not a column", "queries"};
  QTest::newRow("folder of the result")
      << good << h100 + QStringList{"-o", "/nowhere/at/all.json"} << 3 << QStringList{"/nowhere/at/all.json"};
}

void CalibrateTest::mistakes() {
  QFETCH(QByteArray, text);
  QFETCH(QStringList, flags);
  QFETCH(int, code);
  QFETCH(QStringList, words);
  QTemporaryDir folder;
  const CliRun run = run_cli(QStringList{"calibrate", write(folder, "ops.csv", text)} + flags);
  QCOMPARE(run.exit_code, code);
  for (const QString& word : words) QVERIFY2(run.err.contains(word), qPrintable(run.err));
}

QTEST_GUILESS_MAIN(CalibrateTest)
#include "calibrate_test.moc"
