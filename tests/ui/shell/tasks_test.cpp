// What people come for, from the first start to the result, with the number of actions. An action is a click,
// a shortcut, or an entry that is typed and ended with Enter or Tab. Each task by mouse and by keyboard
// alone.
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabBar>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>

#include "bundle/checker.h"
#include "memory/memory_timeline.h"
#include "offscreen.h"
#include "ui/form/gpus_row.h"
#include "ui/session/comparisons.h"
#include "ui/session/layout_finder.h"
#include "ui/shell/actions.h"
#include "ui/shell/examples_dialog.h"
#include "ui/shell/export_dialog.h"
#include "ui/shell/layout_popup.h"
#include "ui/shell/preset_box.h"
#include "ui/shell/preset_popup.h"
#include "ui/shell/settings.h"
#include "ui/shell/start_row.h"
#include "ui/shell/tour.h"
#include "ui/shell/verdict_strip.h"
#include "ui/shell/window_help.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/views/explore/explore_view.h"
#include "ui/views/explore/scaling_chart.h"
#include "ui/views/explore/sensitivity_page.h"
#include "ui/views/serving/serving_page.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

// Acts on whatever has the focus or lies under the mouse, and counts.
class Person {
 public:
  explicit Person(bool keyboard) : keyboard_(keyboard) {}
  bool keyboard() const { return keyboard_; }
  int actions() const { return actions_; }

  void click(QWidget* widget) { click(widget, widget->rect().center()); }
  void click(QWidget* widget, const QPoint& at) {
    ++actions_;
    QTest::mouseClick(widget, Qt::LeftButton, {}, at);
    QTest::qWait(20);  // a field selects its text after the click
  }
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
    ++actions_;
    QTest::keyClick(focused(), key, modifiers);
  }
  void enter(const QString& text, Qt::Key end = Qt::Key_Return) {
    ++actions_;
    for (const QChar letter : text) QTest::keyClick(focused(), letter.toLatin1());
    QTest::keyClick(focused(), end);
  }
  // A click on a button with a menu, and one on an entry.
  void choose(QPushButton* button, QAction* entry) {
    actions_ += 2;
    QMenu* menu = button->menu();
    menu->popup(button->mapToGlobal(QPoint(0, button->height())));
    QTRY_VERIFY(menu->isVisible());
    QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(entry).center());
  }
  static QWidget* focused() {
    QWidget* popup = QApplication::activePopupWidget();
    if (popup && popup->focusWidget()) return popup->focusWidget();
    if (popup) return popup;
    return QApplication::focusWidget() ? QApplication::focusWidget() : QApplication::activeWindow();
  }

 private:
  const bool keyboard_;
  int actions_ = 0;
};

}  // namespace

class TasksTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  static constexpr int kSearchMs = 300'000;  // on a busy machine

  ExamplesDialog* start() const { return window_->helper()->examples(); }
  LayoutPopup* layouts() const { return window_->verdictStrip()->layouts(); }
  void waitForLayouts() {
    QTRY_VERIFY(layouts()->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(!window_->verdictStrip()->finder()->searching(), kSearchMs);
    QVERIFY(!layouts()->applyButtons().isEmpty());
  }
  bool fits() {
    session_->waitForReport();
    return session_->report() && session_->report()->memory->fits;
  }
  // A page of Explore: a click on the tab and one on the page, or Ctrl+6 and the arrow keys.
  void openPage(Person& person, ExploreView::Page page) {
    const auto explore = static_cast<int>(viewNames().indexOf("Explore"));
    SegmentedControl* pages = window_->explore()->pages();
    if (!person.keyboard()) {
      QTabBar* tabs = window_->tabs()->tabBar();
      person.click(tabs, tabs->tabRect(explore).center());
      person.click(pages->button(page));
    } else {
      person.press(static_cast<Qt::Key>(Qt::Key_1 + explore), Qt::ControlModifier);
      pages->button(pages->current())->setFocus(Qt::TabFocusReason);
      for (int i = 0; i < 5 && pages->current() != page; ++i) person.press(Qt::Key_Right);
    }
    QCOMPARE(pages->current(), int{page});
  }
  static void byMouseAndKeyboard() {
    QTest::addColumn<bool>("keyboard");
    QTest::newRow("mouse") << false;
    QTest::newRow("keyboard") << true;
  }
  // At the first start: the best layout of Qwen3-235B on 512 H100.
  void findBestLayout(Person& person) {
    window_->helper()->welcome();
    QVERIFY(start() && QTest::qWaitForWindowActive(start()));
    if (!person.keyboard()) person.click(start()->startRow()->model());
    person.enter("qwen3-235b");
    if (person.keyboard())
      person.press(Qt::Key_Tab);
    else
      person.click(start()->startRow()->gpus()->field());
    person.enter("512", Qt::Key_Tab);
    QPointer<ExamplesDialog> dialog = start();
    if (person.keyboard())
      person.press(Qt::Key_Return);
    else
      person.click(start()->startRow()->findButton());
    QTRY_VERIFY(!dialog);
    waitForLayouts();
    const Design best = window_->verdictStrip()->finder()->layouts()->found.front().design;
    if (person.keyboard()) {
      QTRY_VERIFY(layouts()->applyButtons().front()->hasFocus());
      person.press(Qt::Key_Return);
    } else {
      person.click(layouts()->applyButtons().front());
    }
    QCOMPARE(session_->design().model.preset, std::string("qwen3-235b-a22b"));
    QCOMPARE(session_->design().world(), 512);
    QCOMPARE(session_->design().cluster.accelerator.substr(0, 4), std::string("h100"));
    QCOMPARE(session_->design().parallel, best.parallel);
    QVERIFY(fits());
  }

 private Q_SLOTS:
  void init() {
    settings::setWelcomed(false);
    openWindow();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
  }
  void cleanup() {
    layouts()->hide();
    closeWindow();
  }

  void bestLayoutAndBundle_data() { byMouseAndKeyboard(); }
  void bestLayoutAndBundle() {
    QFETCH(bool, keyboard);
    Person person(keyboard);
    findBestLayout(person);
    if (QTest::currentTestFailed()) return;
    QVERIFY2(person.actions() <= 6, qPrintable(QString::number(person.actions())));
    const int before = person.actions();
    QTemporaryDir folder;
    settings::setExportFolder(folder.path());
    if (keyboard)
      person.press(Qt::Key_B, Qt::ControlModifier);
    else
      person.click(window_->findChild<QWidget*>("export_button"));
    auto* dialog = window_->findChild<ExportDialog*>();
    QVERIFY(dialog && QTest::qWaitForWindowActive(dialog));
    if (keyboard)
      person.press(Qt::Key_Return);
    else
      person.click(dialog->findChild<QPushButton*>("export_start"));
    QTRY_VERIFY_WITH_TIMEOUT(dialog->findChild<QPushButton*>("bundle_check")->isVisible(), kSearchMs);
    QCOMPARE(person.actions() - before, 2);
    const QDir target(folder.path());
    const QStringList bundles = target.entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    QCOMPARE(bundles.size(), 1);
    QVERIFY(QFile::exists(target.filePath(bundles.front()) + "/trace.511.et"));
  }

  // A model that does not fit its GPUs: to a design that fits.
  void whatDoesNotFit_data() { byMouseAndKeyboard(); }
  void whatDoesNotFit() {
    QFETCH(bool, keyboard);
    Person person(keyboard);
    session_->applyPreset("llama3.1-405b", false);
    QVERIFY(!fits());
    if (keyboard)
      person.press(Qt::Key_L, Qt::ControlModifier | Qt::ShiftModifier);
    else
      person.click(window_->verdictStrip()->layoutButton());
    waitForLayouts();
    if (keyboard) {
      QTRY_VERIFY(layouts()->applyButtons().front()->hasFocus());
      person.press(Qt::Key_Return);
    } else {
      person.click(layouts()->applyButtons().front());
    }
    QVERIFY(fits());
    QCOMPARE(person.actions(), 2);
  }

  // What does one setting change? Pin the design, edit, and see both.
  void compareAnEdit_data() { byMouseAndKeyboard(); }
  void compareAnEdit() {
    QFETCH(bool, keyboard);
    Person person(keyboard);
    QVERIFY(fits());
    if (keyboard) {
      person.press(Qt::Key_D, Qt::ControlModifier);
      person.press(Qt::Key_K, Qt::ControlModifier);
      person.enter("microbatch 2");
      person.press(Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
    } else {
      auto* compare = window_->findChild<QPushButton*>("compare_button");
      person.choose(compare, window_->actions().pin);
      auto* field = qobject_cast<QLineEdit*>(window_->form()->row("microbatch")->fieldWidget());
      person.click(field);
      field->selectAll();
      person.enter("2");
      person.choose(compare, window_->actions().side_by_side);
    }
    QCOMPARE(person.actions(), keyboard ? 4 : 6);
    QCOMPARE(session_->design().workload.microbatch, 2);
    QCOMPARE(session_->comparisons()->size(), 1);
    QCOMPARE(window_->tabs()->currentWidget(), window_->explore());
    QCOMPARE(window_->explore()->pages()->current(), int{ExploreView::Compare});
  }

  // Which setting would make the step faster? The best change is applied.
  void theBestSetting_data() { byMouseAndKeyboard(); }
  void theBestSetting() {
    QFETCH(bool, keyboard);
    Person person(keyboard);
    openPage(person, ExploreView::SensitivityTab);
    const SensitivityPage& page = *window_->explore()->sensitivity();
    QTRY_VERIFY_WITH_TIMEOUT(page.ready(), kSearchMs);
    const Design before = session_->design();
    page.tornado()->setFocus(Qt::TabFocusReason);
    person.press(Qt::Key_Down);
    person.press(Qt::Key_Return);
    QVERIFY(session_->design() != before);
    QVERIFY2(person.actions() <= 8, qPrintable(QString::number(person.actions())));
  }

  // How far does the job scale, with the best layout at each size?
  void scalingWithTheBestLayouts_data() { byMouseAndKeyboard(); }
  void scalingWithTheBestLayouts() {
    QFETCH(bool, keyboard);
    Person person(keyboard);
    openPage(person, ExploreView::Scaling);
    const SensitivityPage& page = *window_->explore()->scaling();
    QTRY_VERIFY_WITH_TIMEOUT(page.ready() && page.linesReady(), kSearchMs);
    QVERIFY(!page.chart()->extraLines().empty() && page.chart()->extraLines().front().best);
    QVERIFY2(person.actions() <= 5, qPrintable(QString::number(person.actions())));
  }

  // Serving DeepSeek-V3: the largest batch with 50 ms per token.
  void servingWithinALimit_data() { byMouseAndKeyboard(); }
  void servingWithinALimit() {
    QFETCH(bool, keyboard);
    Person person(keyboard);
    window_->helper()->welcome();
    QVERIFY(start() && QTest::qWaitForWindowActive(start()));
    QPointer<ExamplesDialog> dialog = start();
    if (keyboard) {
      start()->cards()[3]->setFocus(Qt::TabFocusReason);
      person.press(Qt::Key_Space);
    } else {
      person.click(start()->cards()[3]);
    }
    QTRY_VERIFY(!dialog);
    QTRY_VERIFY(window_->helper()->tour());
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    window_->helper()->tour()->setFocus();
    person.press(Qt::Key_Escape);
    QTRY_VERIFY(!window_->helper()->tour());
    openPage(person, ExploreView::Serving);
    auto* page = static_cast<ServingPage*>(window_->explore()->serving());
    auto* field = page->findChild<QLineEdit*>("tpot_limit");
    QVERIFY(field);
    if (keyboard)
      field->setFocus(Qt::TabFocusReason);
    else
      person.click(field);
    person.enter("50 ms");
    QTRY_VERIFY_WITH_TIMEOUT(page->ready() && page->shown()->limits.tpot, kSearchMs);
    QVERIFY(!page->shown()->within.empty());
    QVERIFY2(person.actions() <= 9, qPrintable(QString::number(person.actions())));
  }
};

QTEST_MAIN(TasksTest)
#include "tasks_test.moc"
