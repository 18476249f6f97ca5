// The command validate: table, JSON, picture, and files that are not a measured set.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

namespace {

struct Run {
  int code = -1;
  QByteArray out, err;
};

Run validate(const QStringList& words) {
  QProcess process;
  process.start(QStringLiteral(SHARDSCAPE_CLI), QStringList{QStringLiteral("validate")} + words);
  process.waitForFinished(120'000);
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
