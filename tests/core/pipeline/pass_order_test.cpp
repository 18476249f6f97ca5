// The order in which passes run the instances of a virtual stage.
#include <QtTest>

#include "pipeline/pass_order.h"

using namespace shardscape;

class PassOrderTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void instancesRunInOrder_data();
  void instancesRunInOrder();
  void nothingRunsInAnEmptyRange();
};

void PassOrderTest::instancesRunInOrder_data() {
  QTest::addColumn<bool>("backward");
  QTest::addColumn<QList<size_t>>("expected");
  QTest::addRow("forward") << false << QList<size_t>{3, 4, 5};
  QTest::addRow("backward") << true << QList<size_t>{5, 4, 3};
}

void PassOrderTest::instancesRunInOrder() {
  QFETCH(bool, backward);
  QFETCH(QList<size_t>, expected);
  const PassOrder order(3, 6, backward ? PassDirection::Backward : PassDirection::Forward);
  QList<size_t> ran;
  for (const size_t instance : order) ran << instance;
  QCOMPARE(ran, expected);
  QCOMPARE(order.size(), size_t{3});
  QCOMPARE(order.first(), expected.front());
  QCOMPARE(order.last(), expected.back());
  for (size_t place = 0; place < order.size(); ++place) QCOMPARE(order.place(order[place]), place);
  QCOMPARE(order.next(expected[0]), expected[1]);
  QCOMPARE(order.next(expected[1]), expected[2]);
}

void PassOrderTest::nothingRunsInAnEmptyRange() {
  for (const PassDirection direction : {PassDirection::Forward, PassDirection::Backward})
    for (const size_t instance : PassOrder(2, 2, direction))
      QFAIL(qPrintable(QString("instance %1 runs").arg(instance)));
}

QTEST_APPLESS_MAIN(PassOrderTest)
#include "pass_order_test.moc"
