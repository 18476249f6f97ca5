// What people come for, with the number of actions, by mouse and by keyboard alone: tasks that begin with a
// design. start_tasks_test.cpp has those that begin with a wish or a file.
#include <QMenu>
#include <QPushButton>
#include <QTabBar>
#include <QTabWidget>
#include <QTest>
#include <QTimer>

#include "offscreen.h"
#include "person.h"
#include "ui/session/comparisons.h"
#include "ui/shell/actions.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/views/explore/explore_view.h"
#include "ui/views/explore/scaling_chart.h"
#include "ui/views/explore/sensitivity_page.h"

using namespace shardscape;
using namespace shardscape::ui;

class TasksTest : public TaskTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
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

 private Q_SLOTS:
  void init() { open(); }
  void cleanup() { close(); }

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
    applyTheFirstLayout(person);
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
      QTimer::singleShot(200, compare, [&] {
        person.click(compare->menu(), compare->menu()->actionGeometry(window_->actions().pin).center());
      });
      person.click(compare);
      window_->form()->focusKnob("microbatch");  // scrolls to the field
      window_->tabs()->setFocus();
      person.click(window_->form()->row("microbatch")->fieldWidget());
      person.enter("2");
      openPage(person, ExploreView::Compare);
    }
    QVERIFY2(person.actions() <= 6, qPrintable(QString::number(person.actions())));
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
