// References between the values of a document.
#include <QtTest>

#include "launch/nemo/interpolation.h"

using namespace shardscape;

class InterpolationTest : public QObject {
  Q_OBJECT
 private slots:
  void values_replace_references_data() {
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("expected");
    QTest::newRow("absolute") << "${model.hidden}"
                              << "64";
    QTest::newRow("beside") << "${.hidden}"
                            << "64";
    QTest::newRow("outside") << "${..trainer.devices}"
                             << "8";
    QTest::newRow("below training") << "${training.model.hidden}"
                                    << "64";
    QTest::newRow("text around") << "a-${.hidden}-b"
                                 << "a-64-b";
    QTest::newRow("product") << "${multiply:4, ${.hidden}}"
                             << "256";
    QTest::newRow("quotient") << "${floor_div:${.hidden},${trainer.devices}}"
                              << "8";
    QTest::newRow("variable") << "${oc.env:TP,1}"
                              << "2";
    QTest::newRow("variable that is not set") << "${oc.decode:${oc.env:PP,True}}"
                                              << "true";
    QTest::newRow("choice") << "${if:${gt:${oc.select:trainer.nodes,1},1},many,one}"
                            << "one";
    QTest::newRow("unknown") << "${model.missing}"
                             << "${model.missing}";
    QTest::newRow("itself") << "${model.value}"
                            << "${model.value}";
    QTest::newRow("not closed") << "${model.hidden"
                                << "${model.hidden";
    QTest::newRow("too large") << "${multiply:9000000000000,9000000000000}"
                               << "${multiply:9000000000000,9000000000000}";
    QTest::newRow("by zero") << "${floor_div:1,0}"
                             << "${floor_div:1,0}";
  }
  void values_replace_references() {
    QFETCH(QString, value);
    QFETCH(QString, expected);
    LaunchDocument document;
    document.arguments = {
        {"model.hidden", "64"}, {"trainer.devices", "8"}, {"model.value", value.toStdString()}};
    interpolate(document, {{"TP", "2"}});
    QCOMPARE(QString::fromStdString(document.arguments["model.value"]), expected);
  }
};

QTEST_APPLESS_MAIN(InterpolationTest)
#include "interpolation_test.moc"
