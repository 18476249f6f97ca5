// What people come for, with the number of actions. An action is a click, a shortcut, or an entry that is
// typed and ended with Enter. Tasks run by mouse, by keyboard alone, or both.
#include <QApplication>
#include <QPushButton>
#include <QTabBar>
#include <QTabWidget>
#include <QTest>

#include "memory/memory_timeline.h"
#include "offscreen.h"
#include "ui/session/comparisons.h"
#include "ui/session/layout_finder.h"
#include "ui/shell/actions.h"
#include "ui/shell/layout_popup.h"
#include "ui/shell/verdict_strip.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/views/explore/explore_view.h"
#include "ui/views/explore/scaling_chart.h"
#include "ui/views/explore/sensitivity_page.h"
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
  void enter(const QString& text) {
    ++actions_;
    for (const QChar letter : text) QTest::keyClick(focused(), letter.toLatin1());
    QTest::keyClick(focused(), Qt::Key_Return);
  }
  static QWidget* focused() {
    QWidget* popup = QApplication::activePopupWidget();
    if (popup && popup->focusWidget()) return popup->focusWidget();
    if (popup) return popup;
    if (QApplication::focusWidget()) return QApplication::focusWidget();
    // Without a window manager no window is active after a popup.
    QWidget* window = QApplication::activeModalWidget();
    if (!window) window = QApplication::activeWindow();
    return window->focusWidget() ? window->focusWidget() : window;
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

 private Q_SLOTS:
  void init() {
    openWindow();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
  }
  void cleanup() {
    layouts()->hide();
    closeWindow();
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
  void compareAnEdit() {
    Person person(true);
    QVERIFY(fits());
    person.press(Qt::Key_D, Qt::ControlModifier);
    person.press(Qt::Key_K, Qt::ControlModifier);
    person.enter("microbatch 2");
    person.press(Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(person.actions(), 4);
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
};

QTEST_MAIN(TasksTest)
#include "tasks_test.moc"
