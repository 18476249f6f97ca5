// Combo boxes with long lists: typing finds an entry.
#include <QAbstractItemView>
#include <QComboBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QStandardItemModel>
#include <QTest>

#include "offscreen.h"
#include "ui/form/config_form.h"
#include "ui/form/knob_row.h"
#include "ui/toolkit/combo_popup.h"
#include "ui/toolkit/searchable_combo.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class SearchableComboTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void shortListsHaveNoSearch() {
    SearchableCombo box;
    box.addItems({"one", "two", "three"});
    box.show();
    box.showPopup();
    QVERIFY(!box.popup());
    box.hidePopup();
    box.setFocus();
    QTest::keyClick(&box, Qt::Key_T);  // Qt's own search by the first letter
    QCOMPARE(box.currentText(), QString("two"));
  }

  void longListsAreSearched() {
    SearchableCombo box;
    for (int i = 0; i < 40; ++i) box.addItem(QString("NVIDIA N%1 SXM").arg(i), QString("id-%1").arg(i));
    qobject_cast<QStandardItemModel*>(box.model())->item(17)->setEnabled(false);
    box.resize(200, 28);
    box.show();
    box.setFocus();
    QSignalSpy chosen(&box, &QComboBox::activated);
    QTest::keyClicks(&box, "n");
    QVERIFY(box.popup() && box.popup()->isVisible());
    QLineEdit* line = box.popup()->line();
    QCOMPARE(line->text(), QString("n"));
    QTest::keyClicks(line, "23 sxm");
    QCOMPARE(box.popup()->model()->rowCount(), 1);
    QTest::keyClick(line, Qt::Key_Return);
    QVERIFY(!box.popup()->isVisible());
    QCOMPARE(box.currentIndex(), 23);
    QCOMPARE(chosen.count(), 1);
    // By words in any order, and by the id.
    box.showPopup();
    QVERIFY(line->text().isEmpty());
    QTest::keyClicks(line, "id-39");
    QTest::keyClick(line, Qt::Key_Return);
    QCOMPARE(box.currentIndex(), 39);
    // Arrows skip an entry that cannot be chosen. Escape changes nothing.
    box.setCurrentIndex(16);
    box.showPopup();
    QTest::keyClick(line, Qt::Key_Down);
    QTest::keyClick(line, Qt::Key_Return);
    QCOMPARE(box.currentIndex(), 18);
    box.showPopup();
    QTest::keyClicks(line, "zzz");
    QCOMPARE(box.popup()->model()->rowCount(), 0);
    QTest::keyClick(line, Qt::Key_Return);
    QVERIFY(box.popup()->isVisible());
    QTest::keyClick(line, Qt::Key_Escape);
    QVERIFY(!box.popup()->isVisible());
    QCOMPARE(box.currentIndex(), 18);
  }

  void typingFindsAnAccelerator() {
    openWindow();
    window_->form()->focusKnob("accelerator");
    auto* box = qobject_cast<SearchableCombo*>(window_->form()->row("accelerator")->fieldWidget());
    QVERIFY(box && box->count() >= SearchableCombo::kLong);
    QTest::keyClicks(box, "H");
    QVERIFY(box->popup() && box->popup()->isVisible());
    QTest::keyClicks(box->popup()->line(), "200");
    QTest::keyClick(box->popup()->line(), Qt::Key_Return);
    QVERIFY2(box->currentText().contains("H200"), qPrintable(box->currentText()));
    QVERIFY(session_->design().cluster.accelerator.find("h200") != std::string::npos);
    closeWindow();
  }
};

QTEST_MAIN(SearchableComboTest)
#include "searchable_combo_test.moc"
