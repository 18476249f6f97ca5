// The window by keyboard: where the focus goes, which keys open the list of models, search in tables.
#include <QAbstractItemView>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QTabWidget>
#include <QTest>

#include "offscreen.h"
#include "support/longest_run.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/plot/chart_table.h"
#include "ui/session/comparisons.h"
#include "ui/shell/verdict_strip.h"
#include "ui/toolkit/search_field.h"
#include "ui/toolkit/table_search.h"
#include "ui/views/explore/explore_view.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class KeyboardTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() {
    openWindow();
    window_->activateWindow();
  }
  void cleanup() { closeWindow(); }

  // F6 goes through the visible panes and back to the widget that had the keyboard in each.
  void panesByKeyboard() {
    QWidget* field = focused("seq");
    press(Qt::Key_F6);
    QVERIFY(window_->tabs()->isAncestorOf(QApplication::focusWidget()));
    press(Qt::Key_F6);
    QVERIFY(window_->inspector()->isAncestorOf(QApplication::focusWidget()));
    press(Qt::Key_F6);
    QCOMPARE(QApplication::focusWidget(), field);
    press(Qt::Key_F6, Qt::ShiftModifier);
    QVERIFY(window_->inspector()->isAncestorOf(QApplication::focusWidget()));
    // A view that is shown takes the keyboard.
    for (int view = 0; view < window_->tabs()->count(); ++view) {
      focused("seq");
      press(static_cast<Qt::Key>(Qt::Key_1 + view), Qt::ControlModifier);
      QVERIFY2(window_->tabs()->currentWidget()->isAncestorOf(QApplication::focusWidget()),
               qPrintable(window_->tabs()->tabText(view)));
      // Digits that follow must not change a number.
      QVERIFY2(!qobject_cast<QAbstractSpinBox*>(QApplication::focusWidget()),
               qPrintable(window_->tabs()->tabText(view)));
    }
  }

  // Ctrl+F searches the table of the view. Explore shows the comparison with a pinned design.
  void findInATable_data() {
    QTest::addColumn<QString>("view");
    for (const char* view : {"Memory", "Compute", "Communication", "Explore"})
      QTest::newRow(view) << QString(view);
  }
  void findInATable() {
    QFETCH(QString, view);
    const auto tab = static_cast<int>(viewNames().indexOf(view));
    window_->showView(tab);
    if (view == "Explore") {
      window_->explore()->showPage(ExploreView::Compare);
      QVERIFY(session_->comparisons()->add(session_->design(), "the same"));
      QTRY_VERIFY_WITH_TIMEOUT(session_->comparisons()->ready(), test::kLongestRun);
    }
    QAbstractItemView* table = nullptr;
    QTRY_VERIFY((table = TableSearch::tableIn(window_->tabs()->currentWidget())) &&
                table->model()->rowCount() > 1);
    const QModelIndex last = table->model()->index(table->model()->rowCount() - 1, 0);
    const QString word = QRegularExpression("[A-Za-z0-9-]+").match(last.data().toString()).captured();
    QVERIFY2(!word.isEmpty(), qPrintable(last.data().toString()));
    press(Qt::Key_F, Qt::ControlModifier);
    QCOMPARE(window_->tabs()->currentIndex(), tab);
    auto* field = qobject_cast<SearchField*>(QApplication::focusWidget());
    QVERIFY(field && field->isVisible() && table->isAncestorOf(field));
    QTest::keyClicks(field, word);
    QVERIFY2(field->matchesText().contains("match") && field->matchesText() != "no match",
             qPrintable(field->matchesText()));
    QTest::keyClick(field, Qt::Key_Return);
    QString row;
    for (int column = 0; column < table->model()->columnCount(); ++column)
      row += table->currentIndex().siblingAtColumn(column).data().toString() + " ";
    QVERIFY2(row.contains(word, Qt::CaseInsensitive), qPrintable(row));
    QTest::keyClick(field, Qt::Key_Escape);
    QVERIFY(!field->isVisible());
    QCOMPARE(QApplication::focusWidget(), table);
  }

  // A click on a fix hides its button. The keyboard then goes back to the field that was edited.
  // In a table, the keys of "Side by side" open the comparison, and other keys copy raw values.
  void tablesDoNotTakeTheKeysOfTheWindow() {
    session_->waitForEstimate();
    window_->showView(static_cast<int>(viewNames().indexOf(QStringLiteral("Memory"))));
    auto* table = window_->tabs()->currentWidget()->findChild<ChartTable*>();
    QVERIFY(table);
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Home);
    QGuiApplication::clipboard()->clear();
    QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier | Qt::AltModifier);
    QCOMPARE(QGuiApplication::clipboard()->text(), table->copyText(ChartTable::CopyAs::Raw));
    QVERIFY(window_->tabs()->currentWidget() != window_->explore());
    window_->actions().pin->trigger();
    table->setFocus();
    QTest::keyClick(table, Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(window_->tabs()->currentWidget(), static_cast<QWidget*>(window_->explore()));
  }

  void focusReturnsFromANotice() {
    enter("tp", "5");
    QWidget* field = QApplication::focusWidget();
    session_->waitForReport();
    QPushButton* fix = nullptr;
    for (auto* card : window_->findChildren<QWidget*>("chart_notice"))
      if (card->isVisible()) fix = card->findChild<QPushButton*>();
    QVERIFY(fix);
    fix->setFocus(Qt::MouseFocusReason);
    const std::string model = session_->design().model.preset;
    QTest::mouseClick(fix, Qt::LeftButton);
    QTRY_VERIFY(session_->current());
    QCOMPARE(QApplication::focusWidget(), field);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Down);
    QCOMPARE(session_->design().model.preset, model);
  }

  void presetByKeyboard() {
    auto* box = window_->findChild<QComboBox*>("preset_box");
    box->setFocus();
    const int target = box->findData("llama3.1-405b") >= 0 ? box->findData("llama3.1-405b")
                                                           : box->findData("llama3-405b");
    QVERIFY(target >= 0);
    // Keys open the list. None replaces the model while the list is closed.
    const std::string before = session_->design().model.preset;
    auto* popup = window_->findChild<QWidget*>("preset_popup");
    auto* line = popup->findChild<QLineEdit*>("preset_search");
    QTest::keyClick(box, Qt::Key_Down);
    QVERIFY(popup->isVisible());
    QCOMPARE(session_->design().model.preset, before);
    QTest::keyClick(line, Qt::Key_Escape);
    QVERIFY(!popup->isVisible());
    QTest::keyClick(box, Qt::Key_4);
    QCOMPARE(line->text(), QString("4"));
    QTest::keyClicks(line, "05b");
    QTest::keyClick(line, Qt::Key_Return);
    QCOMPARE(box->currentIndex(), target);
    QCOMPARE(session_->design().model.layers, 126);
    session_->waitForReport();
    QCOMPARE(window_->verdictStrip()->verdict(), QString("Fits"));  // in its published layout
    window_->actions().undo->trigger();
    session_->setKnob("layers", "31");
    QVERIFY(box->currentText().contains("edited"));
  }
};

QTEST_MAIN(KeyboardTest)
#include "keyboard_test.moc"
