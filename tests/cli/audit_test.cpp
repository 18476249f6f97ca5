// audit: recordings that match, that do not, and files that are no recordings.
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include "cli/cli_run.h"

using namespace shardscape;
using namespace shardscape::test;

class AuditTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void one_that_matches();
  void several();
  void changed_number();
  void unknown_field();
  void json();
  void files_that_cannot_be_read();
  void no_file();
  void strange_numbers_do_no_harm_data();
  void strange_numbers_do_no_harm();
};

namespace {

const QString kFolder = SHARDSCAPE_SOURCE_DIR "/tests/fidelity/recordings/";
const QString kGood = kFolder + "M_llama3-8B_flash_tp2_sp1.json";

// The good recording with one piece of text replaced.
QString changed(const QTemporaryDir& folder, const QByteArray& from, const QByteArray& to,
                const QString& file = kGood) {
  QFile source(file);
  if (!source.open(QIODevice::ReadOnly)) qFatal("no recording");
  QByteArray text = source.readAll();
  if (!text.contains(from)) qFatal("%s is not in the recording", from.constData());
  QFile target(folder.filePath("changed.json"));
  if (!target.open(QIODevice::WriteOnly)) qFatal("cannot write");
  target.write(text.replace(from, to));
  return target.fileName();
}

}  // namespace

void AuditTest::one_that_matches() {
  const CliRun run = run_cli({"audit", kGood});
  QCOMPARE(run.exit_code, 0);
  QVERIFY(run.out.contains("forward all_gather tp bfloat16"));
  QVERIFY(run.out.contains("matches: "));
  QVERIFY(!run.out.contains("FAIL"));
}

void AuditTest::several() {
  const CliRun run = run_cli({"audit", "--summary", kGood, kFolder + "M_llama3-8B_flash_tp1.json"});
  QCOMPARE(run.exit_code, 0);
  QVERIFY(run.out.contains("2 of 2 recordings match"));
}

void AuditTest::changed_number() {
  QTemporaryDir folder;
  const CliRun run = run_cli({"audit", changed(folder, "\"total\": 743460864", "\"total\": 743460865")});
  QCOMPARE(run.exit_code, 1);
  QCOMPARE(run.out.count("FAIL"), 1);
  QVERIFY(run.out.contains("743,460,865"));
}

void AuditTest::unknown_field() {
  QTemporaryDir folder;
  const CliRun run = run_cli({"audit", changed(folder, "\"seq\": 8192", "\"seq\": 8192, \"warp\": 9")});
  QCOMPARE(run.exit_code, 1);
  QVERIFY2(run.out.contains("not mapped: config.warp = 9"), qPrintable(run.out));
}

void AuditTest::json() {
  const CliRun run = run_cli({"audit", kGood, "--json"});
  QCOMPARE(run.exit_code, 0);
  const QJsonObject recording = run.json()["recordings"].toArray().at(0).toObject();
  QCOMPARE(run.json()["matching"].toInt(), 1);
  QCOMPARE(recording["recording"].toString(), QString("M_llama3-8B_flash_tp2_sp1"));
  QVERIFY(recording["lines"].toArray().size() > 10);
  const QJsonObject line = recording["lines"].toArray().at(0).toObject();
  QCOMPARE(line["expected"].toObject()["value"].toInteger(), 743460864);
  QCOMPARE(line["pass"].toBool(), true);
}

void AuditTest::files_that_cannot_be_read() {
  QTemporaryDir folder;
  // A folder may have profiles, which do not say their design.
  for (const auto& [file, code] :
       {std::pair(folder.path(), 1), {folder.filePath("nothing.json"), 3}, {changed(folder, "{", "["), 1}}) {
    const CliRun run = run_cli({"audit", file});
    QCOMPARE(run.exit_code, code);
    QVERIFY(!run.err.isEmpty());
  }
}

void AuditTest::no_file() { QCOMPARE(run_cli({"audit"}).exit_code, 2); }

void AuditTest::strange_numbers_do_no_harm_data() {
  QTest::addColumn<QString>("file");
  QTest::addColumn<QByteArray>("from");
  QTest::addColumn<QByteArray>("to");
  const QString pipeline = kFolder + "A_gpt22B_tp2_pp4_mb8_stage1.json",
                fsdp = kFolder + "E_fsdp_FULL_SHARD_n8.json", ddp = kFolder + "E_ddp_llama8Blayer_fp32.json";
  QTest::newRow("stage") << pipeline << QByteArray("\"pp_stage\": 1") << QByteArray("\"pp_stage\": 4");
  QTest::newRow("stages") << pipeline << QByteArray("\"pp\": 4") << QByteArray("\"pp\": 999999999");
  QTest::newRow("microbatches") << pipeline << QByteArray("\"num_microbatches\": 8")
                                << QByteArray("\"num_microbatches\": 9000000000000000000");
  QTest::newRow("layers") << kGood << QByteArray("\"layers_in_this_run\": 2")
                          << QByteArray("\"layers_in_this_run\": -2");
  QTest::newRow("no layers") << kGood << QByteArray("\"layers_in_this_run\": 2")
                             << QByteArray("\"layers_in_this_run\": 0");
  QTest::newRow("heads") << kGood << QByteArray("\"heads\": 32") << QByteArray("\"heads\": 0");
  QTest::newRow("fraction") << kGood << QByteArray("\"hidden\": 4096") << QByteArray("\"hidden\": 4096.5");
  QTest::newRow("tp") << kGood << QByteArray("\"tp\": 2") << QByteArray("\"tp\": 3");
  QTest::newRow("name") << kGood << QByteArray("\"model\": \"llama3-8B\"") << QByteArray("\"model\": \"?\"");
  QTest::newRow("units") << fsdp << QByteArray("\"layers\": 4")
                         << QByteArray("\"layers\": 9000000000000000000");
  QTest::newRow("unit size") << fsdp << QByteArray("\"params_block\": 3409920")
                             << QByteArray("\"params_block\": -1");
  QTest::newRow("no world") << fsdp << QByteArray("\"world\": 8") << QByteArray("\"world\": 0");
  QTest::newRow("bucket") << ddp << QByteArray("\"bucket_cap_mb\": 25")
                          << QByteArray("\"bucket_cap_mb\": 9000000000000000000");
}

// No crash, no hang: either it cannot be mapped or something differs.
void AuditTest::strange_numbers_do_no_harm() {
  QFETCH(QString, file);
  QFETCH(QByteArray, from);
  QFETCH(QByteArray, to);
  QTemporaryDir folder;
  const CliRun run = run_cli({"audit", changed(folder, from, to, file)});
  // A model is also known by its parameters.
  QCOMPARE(run.exit_code, QByteArray(QTest::currentDataTag()) == "name" ? 0 : 1);
}

QTEST_GUILESS_MAIN(AuditTest)
#include "audit_test.moc"
