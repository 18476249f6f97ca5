// The command validate: table, JSON, picture, and files that are not a measured set.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

#include "support/longest_run.h"

namespace {

struct Run {
  int code = -1;
  QByteArray out, err;
};

Run validate(const QStringList& words) {
  QProcess process;
  process.start(QStringLiteral(SHARDSCAPE_CLI), QStringList{QStringLiteral("validate")} + words);
  process.waitForFinished(shardscape::test::kLongestRun);
  return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

const QString kSet = QStringLiteral(SHARDSCAPE_TEST_DATA "/measured/megatron_b200_8gpu.json");

}  // namespace

class ValidateTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void jsonHasRowsMeanAndWorst() {
    const Run run = validate({kSet, QStringLiteral("--json")});
    QCOMPARE(run.code, 0);
    const QJsonObject memory = QJsonDocument::fromJson(run.out).object()["memory"].toObject();
    const QJsonArray rows = memory["rows"].toArray();
    QCOMPARE(rows.size(), 22);
    QVERIFY(memory["unmapped"].toArray().isEmpty());
    double sum = 0, worst = 0;
    for (const QJsonValue& row : rows) {
      const double error = 100 * (row["predicted"].toDouble() / row["measured"].toDouble() - 1);
      QVERIFY(std::abs(error - row["error_percent"].toDouble()) < 1e-9);
      sum += std::abs(error);
      worst = std::max(worst, std::abs(error));
    }
    QVERIFY(std::abs(memory["mean_abs_error_percent"].toDouble() - sum / 22) < 1e-9);
    QVERIFY(std::abs(std::abs(memory["worst"]["error_percent"].toDouble()) - worst) < 1e-9);
  }

  void thePictureHasADotForEveryRow() {
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("scatter.svg"));
    const Run run = validate({kSet, QStringLiteral("--svg"), path});
    QCOMPARE(run.code, 0);
    QVERIFY(run.out.contains("mean absolute error"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QXmlStreamReader svg(&file);
    QVERIFY(svg.readNextStartElement());
    QCOMPARE(svg.name(), QStringLiteral("svg"));
    int dots = 0;
    while (!svg.atEnd()) dots += svg.readNext() == QXmlStreamReader::StartElement && svg.name() == u"circle";
    QVERIFY2(!svg.hasError(), qPrintable(svg.errorString()));
    QCOMPARE(dots, 2 * 22);  // time and memory
  }

  void servingPointsAreSimulated() {
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("set.json"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"source": "a test", "rows": [
      {"name": "a", "model": "meta-llama/Llama-3.1-8B", "parallel": "tp1", "isl": 256, "osl": 16,
       "concurrency": 2, "requests": 6, "request_rate": "inf", "output_tokens_per_s": 250, "gpus": 1,
       "ttft_ms": {"mean": 20, "p50": 18, "p99": 40}, "tpot_ms": {"p50": 7}, "e2e_ms": {"p50": 130},
       "gpu": "h100", "engine": "vllm", "precision": "bf16", "speculative": null},
      {"name": "b", "model": "meta-llama/Llama-3.1-8B", "parallel": "tp1", "isl": 256, "osl": 16,
       "concurrency": 2, "request_rate": "inf", "tpot_ms": {"p50": 7},
       "gpu": null, "engine": "vllm", "precision": "bf16", "speculative": null}]})");
    file.close();
    const Run json = validate({path, QStringLiteral("--json")}), text = validate({path});
    QCOMPARE(json.code, 0);
    const QJsonObject out = QJsonDocument::fromJson(json.out).object();
    for (const char* metric : {"ttft", "ttft_p50", "ttft_p99", "tpot", "e2e", "throughput"}) {
      const QJsonObject of = out[QLatin1String(metric)].toObject();
      QCOMPARE(of["rows"].toArray().size(), 1);
      QVERIFY(of["rows"][0]["predicted"].toDouble() > 0);
      QCOMPARE(of["cells"][0]["gpu"].toString(), QStringLiteral("h100-sxm-80gb"));
      QCOMPARE(of["unmapped"].toArray().size(), 1);
    }
    QVERIFY(!out.contains("time") && !out.contains("itl") && !out.contains("capacity"));
    QCOMPARE(out["throughput"]["unit"].toString(), QStringLiteral("tokens per second"));
    QCOMPARE(out["ttft"]["rows"][0]["measured"].toDouble(), 0.02);
    QVERIFY(text.out.contains("throughput, tokens per second"));
    QVERIFY(text.out.contains("h100-sxm-80gb, llama3-8b, vllm, bf16"));
    QVERIFY(text.out.contains("not mapped: b: the row does not name its GPU"));
  }

  // The bands of a row are made without its half of the set, or without the set.
  void bandsCoverRows() {
    const Run json = validate({kSet, QStringLiteral("--json")}), text = validate({kSet});
    const QJsonObject out = QJsonDocument::fromJson(json.out).object();
    const QJsonObject bands = out["time"]["bands"].toObject();
    for (const char* key : {"without_half", "without_set"}) {
      QCOMPARE(bands[QLatin1String(key)]["rows"].toInt(), 22);
      QVERIFY(bands[QLatin1String(key)]["inside"].toInt() > 11);
    }
    QVERIFY(text.out.contains("inside 80 % bands: "));
  }

  void bandsAreWritten() {
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("bands.json"));
    const QString other = QStringLiteral(SHARDSCAPE_TEST_DATA "/measured/torchtitan_h100.json");
    const Run run = validate({QStringLiteral("--bands"), path, kSet, other, QStringLiteral("--json")});
    QVERIFY2(run.code == 0, run.err.constData());
    const QJsonObject printed = QJsonDocument::fromJson(run.out).object();
    const QJsonArray coverage = printed["values"].toArray();
    QCOMPARE(coverage.size(), 2 * 3);  // time and memory of all sets and of two
    const QJsonObject all = coverage.at(0).toObject();
    QVERIFY(all["set"].isNull() && all["without_set"]["mean_over_sets"].toDouble() > 0);
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    int rows = 0;
    const QJsonDocument written = QJsonDocument::fromJson(file.readAll());
    QVERIFY(!written["pairs"].toArray().isEmpty());
    for (const QJsonValue& sample : written["samples"].toArray())
      if (sample["set"].toString() == QStringLiteral("megatron_b200_8gpu"))
        rows += static_cast<int>(sample["log_ratios"].toArray().size());
    QCOMPARE(rows, 2 * 22);
    QCOMPARE(validate({QStringLiteral("--bands"), path, kSet, kSet}).code, 2);
    QCOMPARE(validate({kSet, other}).code, 2);
  }

  void filesThatAreNoSetsAreAnError() {
    QCOMPARE(validate({}).code, 2);
    const Run missing = validate({QStringLiteral("/nowhere.json")});
    QCOMPARE(missing.code, 3);
    QVERIFY(missing.err.contains("/nowhere.json"));
    QCOMPARE(validate({kSet, QStringLiteral("--svg"), QStringLiteral("/nowhere/at/all.svg")}).code, 3);
  }
};

QTEST_GUILESS_MAIN(ValidateTest)
#include "validate_test.moc"
