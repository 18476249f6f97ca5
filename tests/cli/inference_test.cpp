// The command inference, and report in prefill and decode: output and exit code.
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "cli/cli_run.h"

using namespace shardscape::test;

class InferenceCommandTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void json() {
    const CliRun run = run_line(
        "inference --model llama3-8b --tp 2 --batches 1,8 --contexts 1024,4096 --json");
    QCOMPARE(run.exit_code, 0);
    const QJsonObject of = run.json();
    const QJsonArray points = of["points"].toArray();
    QCOMPARE(points.size(), 4);
    for (const QJsonValue& point : points) {
      QVERIFY(point["valid"].toBool() && point["fits"].toBool());
      QCOMPARE(point["kv_cache_bytes_per_token"].toInt(), 131072);
      QCOMPARE(point["decode"]["kv_cache_bytes"].toInteger(),
               point["batch"].toInteger() * point["context"].toInteger() * 131072 / 2);
      QVERIFY(point["prefill"]["ttft_seconds"].toDouble() > point["decode"]["tpot_seconds"].toDouble());
    }
    QVERIFY(of["largest_batches"][0]["batch"].toInt() > of["largest_batches"][1]["batch"].toInt());
  }

  void text() {
    const CliRun run = run_line("inference --model llama3-8b --dp 2 --batches 2,3 --contexts 1024");
    QCOMPARE(run.exit_code, 0);
    for (const char* words : {"TTFT", "TPOT", "a batch of 3", "sequences of 1,024 tokens fit"})
      QVERIFY2(run.out.contains(words), words);
  }

  // Ranges, "usual" as in the window, and a table that includes the largest batches.
  void table() {
    QTemporaryDir folder;
    const QString path = folder.filePath("sweep.csv");
    const CliRun run = run_line(qPrintable(
        "inference --model llama3-8b --batches 1..8*2 --contexts usual --seq 4096 --json --csv " + path));
    QCOMPARE(run.exit_code, 0);
    QCOMPARE(run.json()["points"].toArray().size(), 4 * 4);
    QVERIFY(run.json()["points"][0]["prefill"]["ttft_first_seconds"].toDouble() > 0);
    QVERIFY(run.json()["largest_batches"][3]["decode"]["tokens_per_second_per_gpu"].toDouble() > 0);
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QList<QByteArray> lines = file.readAll().trimmed().split('\n');
    const QJsonArray largest = run.json()["largest_batches"].toArray();
    const auto additional = std::count_if(largest.begin(), largest.end(), [](const QJsonValue& of) {
      return !QList<int>{1, 2, 4, 8}.contains(of["batch"].toInt());
    });
    QVERIFY(additional > 0);
    QCOMPARE(lines.size(), 1 + 4 * 4 + additional);
    QVERIFY(lines[0].startsWith("context,batch,largest,ttft_first_seconds,ttft_seconds,"));
    for (const QByteArray& line : lines) QCOMPARE(line.count(','), lines[0].count(','));
    QCOMPARE(std::count_if(lines.begin(), lines.end(),
                           [](const QByteArray& line) { return line.split(',')[2] == "true"; }),
             4);
    QCOMPARE(run_line("inference --model llama3-8b --csv /nowhere/at/all.csv").exit_code, 3);
    QVERIFY(run_line("inference --model llama3-8b --batches usual").out.contains("TTFT, first"));
  }

  void limits() {
    QTemporaryDir folder;
    const QString path = folder.filePath("sweep.csv"),
                  line =
                      "inference --model llama3-8b --batches 1,64,256 --contexts 1024,4096 "
                      "--ttft-limit 3s --tpot-limit 20ms";
    const CliRun text = run_line(qPrintable(line + " --csv " + path));
    QCOMPARE(text.exit_code, 0);
    QVERIFY2(text.out.contains("within TTFT <= 3 s and TPOT <= 20 ms: at most "), qPrintable(text.out));
    QVERIFY(text.out.contains("exceeds") && text.out.contains("per million output tokens"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QList<QByteArray> lines = file.readAll().trimmed().split('\n');
    const qsizetype breaks = lines[0].split(',').indexOf("breaks_limits"),
                    within = lines[0].split(',').indexOf("largest_within_limits");
    QVERIFY(breaks > 0 && within > 0);
    QCOMPARE(std::count_if(lines.begin(), lines.end(),
                           [&](const QByteArray& of) { return of.split(',')[within] == "true"; }),
             2);
    QVERIFY(std::any_of(lines.begin(), lines.end(),
                        [&](const QByteArray& of) { return of.split(',')[breaks] == "ttft"; }));
    const QJsonObject json = run_line(qPrintable(line + " --json")).json();
    QCOMPARE(json["limits"]["ttft_seconds"].toDouble(), 3.0);
    QCOMPARE(json["limits"]["tpot_seconds"].toDouble(), 0.02);
    QVERIFY(text.out.contains("80 % bands of mean and median: TTFT -"));
    for (const char* metric : {"ttft", "tpot"}) {
      const QJsonObject band = json["bands"][QLatin1String(metric)].toObject();
      QVERIFY(band["low"].toDouble() < 1 && band["high"].toDouble() > 1 && band["rows"].toInt() >= 9);
    }
    const QJsonArray answers = json["largest_batches_within_limits"].toArray();
    QCOMPARE(answers.size(), 2);
    for (const QJsonValue& answer : answers) {
      QVERIFY(answer["batch"].toInt() > 0);
      QVERIFY(answer["prefill"]["ttft_seconds"].toDouble() <= 3);
      QVERIFY(answer["decode"]["tpot_seconds"].toDouble() <= 0.02);
    }
  }

  void wrong_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<int>("exit_code");
    QTest::newRow("no numbers") << "inference --batches 1,x" << 2;
    QTest::newRow("nothing between commas") << "inference --contexts 1,,2" << 2;
    QTest::newRow("a range that goes down") << "inference --batches 8..1" << 2;
    QTest::newRow("too many") << "inference --batches 1..65" << 2;
    QTest::newRow("no point is valid, though others would be")
        << "inference --model llama3-8b --dp 2 --batches 3001" << 1;
    QTest::newRow("no point is valid") << "inference --model llama3-8b --dp 2 --batches 3" << 1;
    QTest::newRow("a limit without a unit") << "inference --model llama3-8b --tpot-limit 50" << 2;
    QTest::newRow("context over cp") << "report --model llama3-8b --mode decode --cp 3" << 1;
  }
  void wrong() {
    QFETCH(QString, line);
    QFETCH(int, exit_code);
    const CliRun run = run_line(line);
    QCOMPARE(run.exit_code, exit_code);
    QVERIFY(run.out.isEmpty());
    QCOMPARE(run.err.count("error:"), 1);
  }

  void reports() {
    const auto figures = [](const char* line) -> QJsonValue {
      return run_line(line).json().value("inference");
    };
    const QJsonValue decode = figures(
        "report --model llama3-8b --mode decode --batch 8 --microbatch 8 --context-length 2048 "
        "--kv-cache-dtype fp8 --json");
    QCOMPARE(decode["mode"].toString(), QString("decode"));
    QVERIFY(decode["tpot_seconds"].toDouble() > 0);
    QCOMPARE(decode["kv_cache_bytes"].toInteger(), qint64{8} * 2048 * 131072 / 2);
    QVERIFY(figures("report --model llama3-8b --mode prefill --json")["ttft_seconds"].toDouble() > 0);
    QVERIFY(figures("report --model llama3-8b --json").isUndefined());
  }
};

QTEST_GUILESS_MAIN(InferenceCommandTest)
#include "inference_test.moc"
