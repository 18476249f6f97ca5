// Texts inside the fields of the form: units of set values, placeholders of zero, and what "auto" stands for.
#include <QComboBox>
#include <QLabel>
#include <QTest>

#include "design/knobs/zero_value.h"
#include "offscreen.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class FieldTextTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  static QLabel* unit(const QLineEdit* field) { return field->findChild<QLabel*>("unit"); }

 private Q_SLOTS:
  void init() { openWindow(); }
  void cleanup() { closeWindow(); }

  // The unit stands in the field, next to the typed text, and is no part of the text.
  void aSetValueShowsItsUnit() {
    QLineEdit* peak = focused("peak_tflops");
    QCOMPARE(peak->placeholderText(), QString("989.4 TFLOP/s"));
    QVERIFY(unit(peak) && !unit(peak)->isVisible());
    QTest::keyClicks(peak, "1979");
    QVERIFY(unit(peak)->isVisible());
    press(Qt::Key_Return);
    QCOMPARE(session_->design().cluster.peak_tflops, 1979);
    QCOMPARE(peak->text(), QString("1,979"));
    QCOMPARE(unit(peak)->text(), QString("TFLOP/s"));
    QVERIFY(unit(peak)->isVisible());
    // Number and unit have room side by side.
    QVERIFY(peak->rect().contains(unit(peak)->geometry()));
    const int number = peak->fontMetrics().horizontalAdvance(peak->text());
    QVERIFY2(number < unit(peak)->x(), qPrintable(QString::number(number)));
    QVERIFY(peak->textMargins().right() >= unit(peak)->width());
    peak->selectAll();
    press(Qt::Key_Delete);
    QVERIFY(!unit(peak)->isVisible());
    press(Qt::Key_Return);
    QCOMPARE(session_->design().cluster.peak_tflops, 0);
    QCOMPARE(peak->textMargins().right(), 0);
  }

  void zeroOfTheWindowIsNoWindow() {
    QLineEdit* window = focused("window");
    QCOMPARE(window->text(), QString());
    QCOMPARE(window->placeholderText(), QString("no window"));
  }

  void autoHasTheNameOfTheNetwork() {
    auto* network = qobject_cast<QComboBox*>(window_->form()->row("network")->fieldWidget());
    QCOMPARE(network->currentText(), QString("Auto (DGX H100, 8 x NDR InfiniBand)"));
    session_->setKnob("accelerator", "b200-hgx-180gb");
    session_->waitForReport();
    const QString name = QString::fromStdString(auto_value("network", session_->design()));
    QVERIFY(!name.isEmpty() && !name.contains("H100"));
    QTRY_COMPARE(network->currentText(), QString("Auto (%1)").arg(name));
  }
};

QTEST_MAIN(FieldTextTest)
#include "field_text_test.moc"
