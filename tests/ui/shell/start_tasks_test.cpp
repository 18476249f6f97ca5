// What people come for, with the number of actions, by mouse and by keyboard alone: tasks that begin with a
// wish or a file. tasks_test.cpp has those that begin with a design.
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QTabBar>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include "bundle/checker.h"
#include "offscreen.h"
#include "person.h"
#include "ui/form/gpus_row.h"
#include "ui/shell/examples_dialog.h"
#include "ui/shell/export_dialog.h"
#include "ui/shell/import_dialog.h"
#include "ui/shell/preset_box.h"
#include "ui/shell/preset_popup.h"
#include "ui/shell/settings.h"
#include "ui/shell/start_row.h"
#include "ui/shell/window_help.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/views/explore/explore_view.h"
#include "ui/views/serving/serving_page.h"

using namespace shardscape;
using namespace shardscape::ui;

class StartTasksTest : public TaskTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  ExamplesDialog* cards() const { return window_->helper()->examples(); }
  void chooseModel(Person& person, const QString& words) {
    if (!person.keyboard()) person.click(cards()->startRow()->model());
    person.enter(words);  // with the keyboard, letters open the list of the focused box
  }
  ExportDialog* exportDialog() const { return window_->findChild<ExportDialog*>(); }

 private Q_SLOTS:
  void init() {
    settings::setWelcomed(false);
    open();
  }
  void cleanup() { close(); }

  // From the first start to the best layout of Qwen3-235B on 512 H100: at most 6 actions; to an exported
  // bundle: 2 more.
  void fromTheFirstStartToABundle_data() { byMouseAndKeyboard(); }
  void fromTheFirstStartToABundle() {
    QFETCH(bool, keyboard);
    Person person(keyboard, window_.get());
    QTemporaryDir folder;
    window_->helper()->welcome();
    QVERIFY(QTest::qWaitForWindowActive(cards()));
    QTRY_COMPARE(cards()->focusWidget(), cards()->startRow()->model());
    chooseModel(person, "qwen3-235b");
    QCOMPARE(session_->design().model.preset, std::string("qwen3-235b-a22b"));
    if (keyboard)
      person.press(Qt::Key_Tab);
    else
      person.click(cards()->startRow()->gpus()->field());
    person.enter("512");
    QTRY_VERIFY(!cards());
    QCOMPARE(session_->design().world(), 512);
    waitForLayouts();
    QVERIFY2(layouts()->text().contains("Layouts for 512 GPUs"), qPrintable(layouts()->text()));
    const double best = window_->verdictStrip()->finder()->layouts()->found.front().evaluation.step_seconds;
    applyTheFirstLayout(person);
    QCOMPARE(session_->design().world(), 512);
    QVERIFY(fits());
    session_->waitForEstimate();
    QVERIFY(std::abs(session_->estimate()->simulation->step_seconds / best - 1) < 0.01);
    QVERIFY2(person.actions() <= 6, qPrintable(QString::number(person.actions())));

    if (keyboard)
      person.press(Qt::Key_B, Qt::ControlModifier);
    else
      person.click(window_->findChild<QWidget*>("export_button"));
    QVERIFY(exportDialog() && QTest::qWaitForWindowActive(exportDialog()));
    exportDialog()->setFolder(folder.filePath("bundle"));  // the suggested one is not this test's
    auto* coarse = exportDialog()->findChild<QComboBox*>("export_granularity");
    coarse->setCurrentIndex(coarse->count() - 1);  // traces of 512 ranks in seconds
    auto* start = exportDialog()->findChild<QPushButton*>("export_start");
    QTRY_VERIFY(start->isEnabled());
    if (keyboard)
      person.press(Qt::Key_Return);
    else
      person.click(start);
    QTRY_VERIFY_WITH_TIMEOUT(exportDialog()->findChild<QPushButton*>("bundle_check")->isVisible(), kSearchMs);
    QVERIFY(QFile::exists(folder.filePath("bundle/trace.511.et")));
    QVERIFY2(person.actions() <= 8, qPrintable(QString::number(person.actions())));
    exportDialog()->close();
  }

  // A number of GPUs that the published layout does not divide changes the layout, since one is searched
  // next.
  void gpusThatTheLayoutDoesNotDivide() {
    Person person(false, window_.get());
    window_->helper()->welcome();
    QVERIFY(QTest::qWaitForWindowActive(cards()));
    session_->setKnob("pp", "3");
    QCOMPARE(session_->design().world(), 12);
    person.click(cards()->startRow()->gpus()->field());
    person.enter("64");
    QTRY_VERIFY(!cards());
    QCOMPARE(session_->design().world(), 64);
    waitForLayouts();
  }

  // A config.json: dropped, or its path typed; then its design.
  void aModelFromAFile_data() { byMouseAndKeyboard(); }
  void aModelFromAFile() {
    QFETCH(bool, keyboard);
    Person person(keyboard, window_.get());
    const QString file = SHARDSCAPE_TEST_DATA "/hf/gemma-2b.json";
    if (keyboard) {
      QTimer::singleShot(200, window_.get(), [&] { person.enter(file); });  // in the file dialog
      person.press(Qt::Key_I, Qt::ControlModifier);
      waitForFile();
    } else {
      dropFile(file);
    }
    auto* dialog = window_->findChild<ImportDialog*>();
    QVERIFY(dialog && QTest::qWaitForWindowActive(dialog));
    if (keyboard)
      person.press(Qt::Key_Return);
    else
      person.click(dialog->findChild<QPushButton*>("import_apply"));
    QTRY_VERIFY(!window_->findChild<ImportDialog*>());
    QCOMPARE(session_->design().model.preset, std::string("gemma-2b"));
    QVERIFY(person.actions() <= 3);
  }

  // Serving within limits: the largest batch whose time per output token keeps the limit, and its price.
  void servingWithinALimit_data() { byMouseAndKeyboard(); }
  void servingWithinALimit() {
    QFETCH(bool, keyboard);
    Person person(keyboard, window_.get());
    ExploreView* explore = window_->explore();
    const int tab = static_cast<int>(viewNames().indexOf("Explore"));
    QPushButton* serves = explore->serving()->findChild<QPushButton*>("serve_decode");
    if (keyboard) {
      person.press(static_cast<Qt::Key>(Qt::Key_1 + tab), Qt::ControlModifier);
      explore->pages()->button(explore->pages()->current())->setFocus(Qt::TabFocusReason);
      for (int i = 0; i < 5 && explore->pages()->current() != ExploreView::Serving; ++i)
        person.press(Qt::Key_Right);
    } else {
      QTabBar* tabs = window_->tabs()->tabBar();
      person.click(tabs, tabs->tabRect(tab).center());
      person.click(explore->pages()->button(ExploreView::Serving));
    }
    QTRY_VERIFY(serves->isVisible());
    if (keyboard) {
      person.press(Qt::Key_Tab);
      for (int i = 0; i < 6 && person.focused() != serves; ++i) person.press(Qt::Key_Tab);
      person.press(Qt::Key_Space);
    } else {
      person.click(serves);
    }
    auto* page = static_cast<ServingPage*>(explore->serving());
    QTRY_VERIFY_WITH_TIMEOUT(page->ready(), kSearchMs);
    auto* limit = page->findChild<QLineEdit*>("tpot_limit");
    if (keyboard)
      for (int i = 0; i < 20 && person.focused() != limit; ++i) person.press(Qt::Key_Backtab);
    else
      person.click(limit);
    person.enter("20 ms");
    QTRY_VERIFY_WITH_TIMEOUT(page->ready(), kSearchMs);
    const auto* answer = page->findChild<ElidedLabel*>("serving_limits");
    QTRY_VERIFY2(answer->text().startsWith("TPOT ≤ 20 ms"), qPrintable(answer->text()));
    QVERIFY2(answer->text().contains("per million output tokens"), qPrintable(answer->text()));
    QVERIFY2(person.actions() <= 16, qPrintable(QString::number(person.actions())));
  }
};

QTEST_MAIN(StartTasksTest)
#include "start_tasks_test.moc"
