// Names of tensors in words.
#include <QTest>

#include "ui/toolkit/tensor_words.h"

using namespace shardscape::ui;

class TensorWordsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void names_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const char* words) {
      QTest::newRow(name) << QString(name) << QString(words);
    };
    row("y", "y");
    row("attention.q", "attention.q");
    row("y.grad", "gradient of y");
    row("y.scattered.grad", "gradient of y, reduce-scattered");
    row("y.grad.scattered", "gradient of y, reduce-scattered");
    row("o.rng_2", "random state of o, no. 2");
    row("n1.y.full", "n1.y, gathered");
    row("x_2", "x_2");                    // part of the name, not of a suffix
    row("grad", "grad");                  // nothing to say it of
    row("mixer.custom", "mixer.custom");  // an unknown suffix
    row("k.ring.grad.home", "gradient of k, passed round the ring, summed round the ring");
  }
  void names() {
    QFETCH(QString, name);
    QTEST(tensor_words(name.toStdString()), "words");
  }
  void withoutTheBlock() {
    QCOMPARE(tensor_words("attention.q", false), QString("q"));
    QCOMPARE(tensor_words("attention.q.scattered.grad", false), QString("gradient of q, reduce-scattered"));
    QCOMPARE(tensor_words("y.scattered.grad", false), QString("gradient of y, reduce-scattered"));
  }
};

QTEST_APPLESS_MAIN(TensorWordsTest)
#include "tensor_words_test.moc"
