// From a request to an engine step, and from a step to its own timeline and back. By mouse and keys.
#include <QTabWidget>
#include <QUndoStack>
#include <QWheelEvent>

#include "offscreen.h"
#include "requests_window.h"
#include "serving/service/step_designs.h"
#include "ui/shell/message_bar.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/theme.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

struct StepsWindow : RequestsWindow {
  QPushButton& button(const char* name) { return part<QPushButton>(name); }
  // The index of the first step of the first engine with these parts.
  size_t find(bool prefill, bool decode) {
    const auto& all = run().simulation.steps;
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i].replica == 0 && (all[i].prefill_tokens > 0) == prefill &&
          (all[i].decode_sequences > 0) == decode)
        return i;
    return all.size();
  }
  // The wheel with Ctrl zooms around the cursor.
  void wheelAt(const StepRecord& step) {
    const QPointF at = timeline().placeOfStep(step);
    QWheelEvent event(at, timeline().mapToGlobal(at), {}, {0, 120}, Qt::NoButton, Qt::ControlModifier,
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&timeline(), &event);
  }
  // Zooms until the step is wide enough, and clicks on it.
  void clickStep(size_t step) {
    const StepRecord& of = run().simulation.steps[step];
    for (int i = 0; i < 60 && timeline().stepAt(timeline().placeOfStep(of).toPoint()) != &of; ++i)
      wheelAt(of);
    QTest::mouseClick(&timeline(), Qt::LeftButton, {}, timeline().placeOfStep(of).toPoint());
  }
};

}  // namespace

class RequestsStepsTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  // A click on a step explains it and offers its parts.
  void aClickSelectsAStep() {
    StepsWindow w;
    w.crowd();
    QVERIFY(!w.button("open_decode_step").isVisible());
    const size_t step = w.find(true, false);
    w.clickStep(step);
    QVERIFY(w.timeline().selectedStepIndex());
    QCOMPARE(*w.timeline().selectedStepIndex(), step);
    QCOMPARE(w.state().inspection().title, QString("Engine step"));
    QVERIFY(w.part<ElidedLabel>("requests_caption").text().startsWith("Step at"));
    QVERIFY(w.button("open_prefill_step").isVisible());
    QVERIFY(!w.button("open_decode_step").isVisible());
    QTest::keyClick(&w.timeline(), Qt::Key_Right);
    QVERIFY(*w.timeline().selectedStepIndex() > step);
    QTest::keyClick(&w.timeline(), Qt::Key_Left);
    QCOMPARE(*w.timeline().selectedStepIndex(), step);
    QTest::keyClick(&w.timeline(), Qt::Key_Escape);
    QVERIFY(!w.timeline().selectedStepIndex());
    QVERIFY(!w.button("open_prefill_step").isVisible());
  }

  void aStepOpensAsADesign_data() {
    QTest::addColumn<bool>("decode");
    QTest::newRow("decode") << true;
    QTest::newRow("prefill") << false;
  }
  // The design is that of the core; the Timeline shows it; the line leads back to the same run.
  void aStepOpensAsADesign() {
    QFETCH(bool, decode);
    StepsWindow w;
    w.crowd();
    const Design before = w.session.design();
    const auto run = w.requests().run();
    const int undo = w.session.undoStack()->index();
    const size_t step = w.find(!decode, decode);
    w.clickStep(step);
    const StepDesigns expected = std::get<StepDesigns>(step_designs(*run, step));
    QTest::mouseClick(&w.button(decode ? "open_decode_step" : "open_prefill_step"), Qt::LeftButton);
    QCOMPARE(w.main.tabs()->tabText(w.main.tabs()->currentIndex()), QString("Timeline"));
    QVERIFY(w.session.design() == (decode ? *expected.decode : *expected.prefill));
    QCOMPARE(w.session.undoStack()->index(), undo + 1);
    QVERIFY(
        w.session.undoStack()->undoText().contains(decode ? "decode of the step" : "prefill of the step"));
    QVERIFY2(w.main.messageBar()->text().contains("one engine in the step"),
             qPrintable(w.main.messageBar()->text()));
    w.session.waitForEstimate();
    QTest::mouseClick(w.main.messageBar()->button(), Qt::LeftButton);
    QTRY_COMPARE(w.main.tabs()->currentWidget(), static_cast<QWidget*>(&w.view()));
    QVERIFY(w.session.design() == before);
    QVERIFY(w.requests().isVisible());
    w.wait();
    QCOMPARE(w.requests().run(), run);
    QCOMPARE(*w.timeline().selectedStepIndex(), step);
    QVERIFY(w.main.messageBar()->text().isEmpty());
  }

  // From a slow request to its step and to the design, with the keyboard only.
  void fromASlowRequestToItsStep() {
    StepsWindow w;
    w.crowd();
    w.timeline().select(w.longestWait());
    w.timeline().setFocus();
    QVERIFY(w.button("step_of_request").isVisible());
    QTest::keyClick(&w.timeline(), Qt::Key_T);
    const StepRecord* step = w.timeline().selectedStep();
    QVERIFY(step);
    const RequestRecord& record = w.run().simulation.requests[static_cast<size_t>(w.longestWait())];
    QCOMPARE(step->replica, record.replica);
    QVERIFY(step->prefill_tokens > 0);
    QVERIFY(step->begin + step->seconds > record.scheduled && step->begin <= record.first_token);
    QVERIFY(!w.button("step_of_request").isVisible());
    QTest::keyClick(&w.timeline(), Qt::Key_Return);
    QCOMPARE(w.main.tabs()->tabText(w.main.tabs()->currentIndex()), QString("Timeline"));
    w.session.undoStack()->undo();
  }

  // The button does the same as the key.
  void theButtonSelectsTheStep() {
    StepsWindow w;
    w.crowd();
    w.timeline().select(w.longestWait());
    QTest::mouseClick(&w.button("step_of_request"), Qt::LeftButton);
    QVERIFY(w.timeline().selectedStepIndex());
    QVERIFY(w.timeline().hasFocus());
  }
};

QTEST_MAIN(RequestsStepsTest)
#include "requests_steps_test.moc"
