// Facts of the inspector: names and values are whole at every width.
#include <QLabel>
#include <QTest>

#include "offscreen.h"
#include "ui/inspector/fact_row.h"

using namespace shardscape;
using namespace shardscape::ui;

class FactRowTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void theValueIsBesideOrBelowTheName_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("value");
    QTest::addColumn<int>("width");
    QTest::addColumn<bool>("beside");
    const QString digits = "2,243,003,720,663,040";
    QTest::newRow("wide") << "Counted, exact" << digits << 400 << true;
    QTest::newRow("narrow") << "Counted, exact" << digits << 190 << false;
    QTest::newRow("short") << "Stage"
                           << "3" << 190 << true;
    QTest::newRow("words that wrap") << "Kernels"
                                     << "5,120, 735 µs each on average" << 190 << true;
  }
  void theValueIsBesideOrBelowTheName() {
    QFETCH(QString, name);
    QFETCH(QString, value);
    QFETCH(int, width);
    QFETCH(bool, beside);
    FactRow row(nullptr);
    row.set(name, value);
    row.resize(width, 100);
    row.show();
    QVERIFY(QTest::qWaitForWindowExposed(&row));
    const QList<QLabel*> labels = row.findChildren<QLabel*>();
    QCOMPARE(labels.size(), 2);
    const QRect first = labels[0]->geometry(), second = labels[1]->geometry();
    for (const QLabel* label : labels) {
      QVERIFY(label->x() >= 0 && label->geometry().right() < row.width());
      QVERIFY(label->width() >= label->minimumSizeHint().width());
    }
    QCOMPARE(row.width(), width);
    QCOMPARE(first.right() < second.left(), beside);
    QCOMPARE(first.bottom() < second.top(), !beside);
    row.resize(2 * width + 100, 100);
    QCoreApplication::processEvents();
    QVERIFY(labels[0]->geometry().right() < labels[1]->x());
  }
};

QTEST_MAIN(FactRowTest)
#include "fact_row_test.moc"
