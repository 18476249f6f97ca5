// inference, and report in prefill and decode: what they print and how they end.
#include <QJsonArray>
#include <QTest>

#include "cli/cli_run.h"

using namespace shardscape::test;

class InferenceCommandTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void json() {
    const CliRun run = run_line("inference --model llama3-8b --tp 2 --batches 1,8 --contexts 1024,4096 --json");
    QCOMPARE(run.exit_code, 0);
    const QJsonObject of = run.json();
    const QJsonArray points = of["points"].toArray();
    QCOMPARE(points.size(), 4);
    for (const QJsonValue& point : points) {
      QVERIFY(point["valid"].toBool() && point["fits"].toBool());
      QCOMPARE(point["kv_cache_bytes_per_token"].toInt(), 131072);
      QCOMPARE(point["decode"]["kv_cache_bytes"].toInteger(), point["batch"].toInteger() * point["context"].toInteger() * 131072 / 2);
      QVERIFY(point["prefill"]["ttft_seconds"].toDouble() > point["decode"]["tpot_seconds"].toDouble());
    }
    QVERIFY(of["largest_batches"][0]["batch"].toInt() > of["largest_batches"][1]["batch"].toInt());
  }

  void text() {
    const CliRun run = run_line("inference --model llama3-8b --dp 2 --batches 2,3 --contexts 1024");
    QCOMPARE(run.exit_code, 0);
    for (const char* words : {"TTFT", "TPOT", "a batch of 3", "sequences of 1,024 tokens fit"}) QVERIFY2(run.out.contains(words), words);
  }

  void wrong_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<int>("exit_code");
    QTest::newRow("no numbers") << "inference --batches 1,x" << 2;
    QTest::newRow("nothing between commas") << "inference --contexts 1,,2" << 2;
    QTest::newRow("no point is valid") << "inference --model llama3-8b --dp 2 --batches 3" << 1;
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
    const auto figures = [](const char* line) -> QJsonValue { return run_line(line).json().value("inference"); };
    const QJsonValue decode = figures("report --model llama3-8b --mode decode --batch 8 --microbatch 8 --context-length 2048 --kv-cache-dtype fp8 --json");
    QCOMPARE(decode["mode"].toString(), QString("decode"));
    QVERIFY(decode["tpot_seconds"].toDouble() > 0);
    QCOMPARE(decode["kv_cache_bytes"].toInteger(), qint64{8} * 2048 * 131072 / 2);
    QVERIFY(figures("report --model llama3-8b --mode prefill --json")["ttft_seconds"].toDouble() > 0);
    QVERIFY(figures("report --model llama3-8b --json").isUndefined());
  }
};

QTEST_GUILESS_MAIN(InferenceCommandTest)
#include "inference_test.moc"
