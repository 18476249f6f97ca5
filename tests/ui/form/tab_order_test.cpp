// Tab in the form: typing goes from field to field, also where problems and notes show buttons.
#include <QApplication>
#include <QPushButton>
#include <QTest>

#include "offscreen.h"
#include "ui/form/knob_group.h"
#include "ui/toolkit/issue_line.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class TabOrderTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  // Types into the focused field, as a person does.
  void type(const char* text) {
    QVERIFY(window_->focusWidget());
    QTest::keyClicks(window_->focusWidget(), text);
  }
  QPushButton* fix(const char* id) { return window_->form()->row(id)->issueLine()->fixButton(); }

 private Q_SLOTS:
  void init() {
    openWindow();
    window_->activateWindow();
  }
  void cleanup() { closeWindow(); }

  void typingGoesIntoFieldsOnly() {
    session_->applyPreset("llama3.1-405b");
    for (const char* degree : {"tp", "pp", "dp"}) session_->setKnob(degree, "1");
    session_->waitForReport();
    focused("tp");
    type("8");
    press(Qt::Key_Tab);
    QCOMPARE(window_->focusWidget()->objectName(), QString("knob_pp"));
    type("16");
    // 126 layers over 16 stages: the note has a button.
    QTRY_VERIFY(fix("pp")->isVisible());
    press(Qt::Key_Tab);
    QCOMPARE(window_->focusWidget()->objectName(), QString("knob_cp"));
    press(Qt::Key_Tab);
    type("128");
    press(Qt::Key_Return);
    QCOMPARE(session_->design().parallel.tp, 8);
    QCOMPARE(session_->design().parallel.pp, 16);
    QCOMPARE(session_->design().parallel.cp, 1);
    QCOMPARE(session_->design().parallel.dp, 128);
  }

  // The button is a stop after the fields of its group.
  void theButtonIsReachedAfterItsGroup() {
    session_->setKnob("tp", "5");  // 32 heads do not split over 5 ranks
    session_->waitForReport();
    focused("tp");
    QTRY_VERIFY(fix("tp")->isVisible());
    QCoreApplication::processEvents();
    const KnobGroupBox* group = window_->form()->groupOf("tp");
    QStringList fields;
    for (int i = 0; i < 500 && window_->focusWidget() != fix("tp"); ++i) {
      QVERIFY2(group->isAncestorOf(window_->focusWidget()), qPrintable(window_->focusWidget()->objectName()));
      fields << window_->focusWidget()->objectName();
      press(Qt::Key_Tab);
    }
    QCOMPARE(window_->focusWidget(), fix("tp"));
    for (const KnobRow* row : group->rows())
      if (row->isVisible())
        QVERIFY2(fields.contains("knob_" + QString::fromStdString(row->knob().id)), row->knob().id.c_str());
  }
};

QTEST_MAIN(TabOrderTest)
#include "tab_order_test.moc"
