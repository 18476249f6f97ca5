// "Find a layout": the button on the verdict, its list by mouse and by keyboard, and the distance from the
// best layout found.
#include <QApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>

#include "design/validate/validate.h"
#include "memory/allocator_use.h"
#include "memory/estimate.h"
#include "memory/memory_timeline.h"
#include "offscreen.h"
#include "report/memory_report.h"
#include "support/longest_run.h"
#include "ui/form/config_form.h"
#include "ui/form/gpus_row.h"
#include "ui/session/layout_finder.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/layout_popup.h"
#include "ui/shell/verdict_strip.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class LayoutPopupTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  static constexpr int kSearchMs = 120'000;  // on a busy machine

  LayoutPopup* popup() const { return window_->verdictStrip()->layouts(); }
  LayoutFinder* finder() const { return window_->verdictStrip()->finder(); }
  void open() { QTest::mouseClick(window_->verdictStrip()->layoutButton(), Qt::LeftButton); }
  void waitForList() {
    QVERIFY(popup()->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(!finder()->searching(), kSearchMs);
  }
  void openList() {
    open();
    waitForList();
  }
  bool badge(int row, const QString& text) const {
    return labelSays(popup()->applyButtons()[row]->parentWidget(), text);
  }
  bool fits() const { return session_->current() && session_->report()->memory->fits; }

 private Q_SLOTS:
  void init() {
    openWindow();
    window_->activateWindow();
  }
  void cleanup() {
    popup()->hide();
    closeWindow();
  }

  // A click on the button, a click on a layout; one undo step.
  void aClickAppliesALayout() {
    const Design before = session_->design();
    openList();
    QVERIFY2(popup()->text().contains("Layouts for 8 GPUs"), qPrintable(popup()->text()));
    QVERIFY(labelSays(popup(), "Fastest") && labelSays(popup(), "tokens/s") && labelSays(popup(), "GiB"));
    QVERIFY(labelSays(popup(), "The fastest design found, with "));
    QVERIFY(labelSays(popup(), "Least memory") || labelSays(popup(), "least memory"));
    QVERIFY(labelSays(popup(), "Simplest") || labelSays(popup(), "simplest"));
    const Design best = finder()->layouts()->found.front().design;
    const int steps = session_->undoStack()->count();
    QTest::mouseClick(popup()->applyButtons().front(), Qt::LeftButton);
    QVERIFY(!popup()->isVisible());
    QCOMPARE(session_->design().parallel, best.parallel);
    QCOMPARE(session_->design().world(), before.world());
    QCOMPARE(session_->undoStack()->count(), steps + 1);
    press(Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(session_->design(), before);
  }

  // The list is for the typed number, also where the present layout refuses it.
  void aRefusedNumberOfGpusIsSearched() {
    session_->setKnob("tp", "4");
    window_->form()->focusGpus();
    QTest::keyClicks(window_->form()->gpus()->field(), "6");
    press(Qt::Key_Return);
    QVERIFY(session_->hasRejectedText());
    openList();
    QVERIFY2(popup()->text().contains("Layouts for 6 GPUs"), qPrintable(popup()->text()));
    QCOMPARE(session_->design().world(), 6);
    QVERIFY(!session_->hasRejectedText());
  }

  // A card says what the list of problems would say of its layout: notes of validate() that the design lacks,
  // and memory that does not fit under every setting of the allocator.
  void cardsHaveTheNotesOfTheirLayouts() {
    // On 4 GPUs the simplest layout leaves less than 1 GiB free.
    for (const auto& [id, value] :
         {std::pair{"pp", "1"}, {"tp", "2"}, {"dp", "2"}, {"seq", "8192"}, {"batch", "16"}})
      session_->setKnob(id, value);
    session_->waitForReport();
    openList();
    size_t tight = 0, cards = 0;
    for (const FoundLayout& of : finder()->layouts()->found) {
      const auto report = estimate(of.design);
      const auto segments = fragmentation(*report);
      const auto warning = segments ? segments_warning(*report->memory, *segments) : std::nullopt;
      QStringList expected;
      for (const Problem& problem : validate(of.design))
        if (problem.severity == Severity::Note) expected << QString::fromStdString(problem.what);
      if (warning) expected << QString::fromStdString(*warning);
      for (const QString& what : expected)
        QTRY_VERIFY2_WITH_TIMEOUT(labelSays(popup(), what.mid(1).left(40)), qPrintable(what), kSearchMs);
      tight += warning.has_value();
      ++cards;
    }
    QVERIFY(cards == 3 && tight > 0);
    QTRY_VERIFY(labelSays(popup(), "may not fit"));
  }

  void theListByKeyboard() {
    press(Qt::Key_L, Qt::ControlModifier | Qt::ShiftModifier);
    waitForList();
    const auto& buttons = popup()->applyButtons();
    QTRY_VERIFY(buttons.front()->hasFocus());
    QVERIFY(buttons.size() >= 2);
    QTest::keyClick(popup()->focusWidget(), Qt::Key_Up);
    QVERIFY(buttons.front()->hasFocus());
    QTest::keyClick(popup()->focusWidget(), Qt::Key_Down);
    QVERIFY(buttons[1]->hasFocus());
    const Design second = finder()->layouts()->found[1].design;
    QTest::keyClick(popup()->focusWidget(), Qt::Key_Return);
    QVERIFY(!popup()->isVisible());
    QCOMPARE(session_->design().parallel, second.parallel);
    // Opened again, the applied layout is marked, and no search runs.
    session_->waitForReport();
    press(Qt::Key_L, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(!finder()->searching());
    QCOMPARE(popup()->applyButtons()[1]->text(), QString("Current"));
    QTest::keyClick(popup(), Qt::Key_Escape);
    QVERIFY(!popup()->isVisible());
  }

  void theCommandOfThePalette() {
    press(Qt::Key_K, Qt::ControlModifier);
    QTest::keyClicks(QApplication::focusWidget(), "find a layout");
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    waitForList();
  }

  // "gpus 16" in the palette: dp follows.
  void gpusByThePalette() {
    press(Qt::Key_K, Qt::ControlModifier);
    QTest::keyClicks(QApplication::focusWidget(), "gpus 16");
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    QCOMPARE(session_->design().world(), 16);
    QCOMPARE(session_->design().parallel.dp, 4);
  }

  void theDistanceFollowsEdits() {
    QVERIFY(window_->verdictStrip()->distance().isEmpty());
    openList();
    QTRY_VERIFY(!window_->verdictStrip()->distance().isEmpty());
    QTest::mouseClick(popup()->applyButtons().front(), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(window_->verdictStrip()->distance(), QString("as fast as the best found"),
                              test::kLongestRun);
    session_->setKnob("overlap_grad_reduce", "false");
    session_->setKnob("recompute", "full");
    QTRY_VERIFY_WITH_TIMEOUT(window_->verdictStrip()->distance().endsWith("% slower than the best found"),
                             test::kLongestRun);
    session_->setKnob("seq", "4096");  // another question
    QTRY_COMPARE(window_->verdictStrip()->distance(), QString());
    QVERIFY(!finder()->layouts());
    press(Qt::Key_Z, Qt::ControlModifier);
    QTRY_VERIFY_WITH_TIMEOUT(window_->verdictStrip()->distance().contains("slower"), test::kLongestRun);
  }

  // Other layouts fit, and small changes of the present layout help.
  void helpForADesignThatDoesNotFit() {
    session_->setKnob("tp", "1");
    session_->setKnob("pp", "1");
    session_->setKnob("dp", "8");
    session_->setKnob("sync", "ddp-flat");
    session_->waitForReport();
    QVERIFY(!fits());
    const Design before = session_->design();
    openList();
    QVERIFY(!finder()->layouts()->found.empty());
    QVERIFY(labelSays(popup(), "WHAT WOULD HELP"));
    const auto& buttons = popup()->applyButtons();
    const auto help = finder()->layouts()->help;
    const int first = static_cast<int>(buttons.size()) - static_cast<int>(std::min<size_t>(help.size(), 8));
    int applied = -1;
    for (int i = first; i < buttons.size(); ++i) {
      const bool helps = help[static_cast<size_t>(i - first)].fits;
      QVERIFY(badge(i, helps ? "fits" : "does not fit"));
      if (helps && applied < 0) applied = i;
    }
    QVERIFY(applied >= 0);
    buttons[applied]->setFocus();
    QTest::keyClick(buttons[applied], Qt::Key_Enter);
    session_->waitForReport();
    QVERIFY(fits());
    press(Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(session_->design(), before);
  }

  // No layout fits on 8 GPUs: the smallest number of GPUs that does is offered.
  void theFewestGpus() {
    session_->applyPreset("llama3.1-405b");
    session_->waitForReport();
    openList();
    QVERIFY(finder()->layouts()->found.empty());
    QVERIFY2(popup()->text().contains("No layout fits on 8 GPUs"), qPrintable(popup()->text()));
    QVERIFY(labelSays(popup(), "The fewest GPUs that fit"));
    QVERIFY(badge(0, "fits"));
    QTest::mouseClick(popup()->applyButtons().front(), Qt::LeftButton);
    session_->waitForReport();
    QVERIFY(fits());
    QVERIFY(session_->design().world() > 8);
  }
};

QTEST_MAIN(LayoutPopupTest)
#include "layout_popup_test.moc"
