// The generated pages of the documentation are those that the program makes now.
#include <QFile>
#include <QtTest>

#include "app/cli/reference.h"
#include "design/knobs/knobs.h"

using namespace shardscape;

class ReferenceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void pagesAreWhatTheProgramMakes_data();
  void pagesAreWhatTheProgramMakes();
  void everyKnobIsThere();
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

QTEST_APPLESS_MAIN(ReferenceTest)
#include "reference_test.moc"
