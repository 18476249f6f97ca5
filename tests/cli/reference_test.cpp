// The generated pages of the documentation are those that the program makes now.
#include <QFile>
#include <QtTest>

#include "app/cli/reference.h"
#include "base/documentation.h"
#include "cli/cli_run.h"
#include "design/knobs/knobs.h"

using namespace shardscape;

class ReferenceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void pagesAreWhatTheProgramMakes_data();
  void pagesAreWhatTheProgramMakes();
  void everyKnobIsThere();
  void everyPageIsPrinted();
  void pagesAreListed();
};

void ReferenceTest::pagesAreWhatTheProgramMakes_data() {
  QTest::addColumn<QString>("page");
  QTest::addColumn<QByteArray>("made");
  QTest::newRow("command line") << "command-line" << QByteArray::fromStdString(command_line_reference());
  QTest::newRow("json") << "json" << QByteArray::fromStdString(json_reference());
  QTest::newRow("problems") << "problems" << QByteArray::fromStdString(problem_reference());
}

void ReferenceTest::pagesAreWhatTheProgramMakes() {
  QFETCH(QString, page);
  QFETCH(QByteArray, made);
  QFile file(SHARDSCAPE_SOURCE_DIR "/docs/" + page + ".md");
  QVERIFY(file.open(QIODevice::ReadOnly));
  QVERIFY2(file.readAll() == made, qPrintable("docs/" + page + ".md is old: shardscape-cli reference " +
                                              page + " > docs/" + page + ".md"));
}

void ReferenceTest::everyKnobIsThere() {
  const std::string page = json_reference();
  for (const Knob& knob : knobs())
    QVERIFY2(page.find("| `" + knob.id + "` |") != std::string::npos, knob.id.c_str());
}

void ReferenceTest::everyPageIsPrinted() {
  const auto pages = documentation_pages();
  QVERIFY(pages.size() > 10);
  for (const DocumentationPage& page : pages) {
    const QString name = QString::fromStdString(page.name);
    QFile file(QString::fromStdString(page.path.string()));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString text = QString::fromUtf8(file.readAll());
    for (const QString& word : {name, name.section('/', -1)}) {
      const test::CliRun run = test::run_cli({"reference", word});
      QCOMPARE(run.exit_code, 0);
      QVERIFY2(run.out == text, qPrintable(word));
    }
  }
}

void ReferenceTest::pagesAreListed() {
  const test::CliRun list = test::run_cli({"reference"});
  QCOMPARE(list.exit_code, 0);
  for (const char* name : {"guide", "memory", "json-results", "architecture"})
    QVERIFY2(list.out.contains(QString("\n%1 ").arg(name)) || list.out.startsWith(QString(name) + ' '), name);
  const test::CliRun unknown = test::run_cli({"reference", "cooking"});
  QCOMPARE(unknown.exit_code, 2);
  QVERIFY(unknown.err.contains("cooking"));
}

QTEST_APPLESS_MAIN(ReferenceTest)
#include "reference_test.moc"
