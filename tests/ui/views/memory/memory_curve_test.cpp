// The curve of memory over one step: points, selection by mouse and keys, and the step that it shows.
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <cmath>

#include "offscreen.h"
#include "support/longest_run.h"
#include "timeline_parts.h"
#include "timing/pass_times.h"
#include "ui/plot/chart_export.h"
#include "ui/plot/chart_notice.h"
#include "ui/session/memory_advisor.h"
#include "ui/toolkit/theme.h"
#include "ui/views/memory/memory_curve.h"
#include "ui/views/memory/memory_view.h"

using namespace shardscape;
using namespace shardscape::ui;

class MemoryCurveTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  void memoryOverAStep() {
    Session session;
    SelectionState state(&session);
    pipelined(session);
    MemoryView view(&state);
    open(view);
    QVERIFY(view.curve()->isVisible());
    for (int stage = 0; stage < 4; ++stage) {
      state.setStage(stage);
      const StageMemory& memory = session.report()->memory->stages[static_cast<size_t>(stage)];
      int64_t most = 0;
      double last = 0, fullest = 0;
      for (const MemoryPoint& point : view.curve()->points()) {
        if (point.bytes > most) fullest = point.seconds;
        most = std::max(most, point.bytes);
        QVERIFY(point.seconds >= last);
        last = point.seconds;
      }
      QCOMPARE(most, memory.in_use);
      StepOps ops(session.estimate()->report, session.estimate()->simulation);
      QCOMPARE(fullest, *peak_seconds(memory, ops));
      QVERIFY(std::abs(last - session.estimate()->simulation->step_seconds) < 1e-9);
      QVERIFY(view.curve()->title().contains(QString::number(stage)));
      QVERIFY(view.curve()->peakText().contains(QString::fromStdString(memory.peak_text)));
    }
    // A click selects the pass that runs at that time.
    QTest::mouseClick(view.curve(), Qt::LeftButton, {},
                      QPoint(view.curve()->width() / 2, view.curve()->height() / 2));
    QCOMPARE(state.selection().kind, SelectionKind::Span);
    QCOMPARE(state.selection().stage, 3);
    const auto png = encoded(view.picture(), SaveFormat::Png), svg = encoded(view.picture(), SaveFormat::Svg);
    QVERIFY(std::holds_alternative<QByteArray>(png));
    QVERIFY(std::get<QByteArray>(svg).contains("over one step"));
    QTRY_VERIFY_WITH_TIMEOUT(view.advice()->isFor(session.estimate().get()), test::kLongestRun);
    QVERIFY(!view.advice()->advice().empty());
    QTRY_COMPARE(state.inspection().more_title, QString("What would help"));
  }

  // With an invalid design, curve and bars show the same earlier step.
  void curveAndBarsShowTheSameStep() {
    Session session;
    SelectionState state(&session);
    pipelined(session);
    MemoryView view(&state);
    open(view);
    state.setStage(3);
    QVERIFY(view.curve()->title().contains("3"));
    QVERIFY(!session.setKnob("pp", "2"));  // the stage of the curve no longer exists
    session.waitForReport();
    QVERIFY(!session.setKnob("ep", "7"));
    session.waitForReport();
    QVERIFY(!session.current());
    QTRY_COMPARE(session.estimate()->report, session.report());
    QCOMPARE(view.curve()->title(), QString("Stage 1 over one step"));
    QCOMPARE(view.curve()->peakText().contains(
                 QString::fromStdString(session.report()->memory->stages[1].peak_text)),
             true);
    state.setStage(0);
    QCOMPARE(view.curve()->title(), QString("Stage 0 over one step"));
    QVERIFY(view.notice()->dimmed());
  }

  // Keys move from action to action and select it. A selection from another view is marked on the curve.
  void theCurveByKeys() {
    Session session;
    SelectionState state(&session);
    pipelined(session);
    MemoryView view(&state);
    open(view);
    MemoryCurve* curve = view.curve();
    curve->setFocus(Qt::TabFocusReason);
    QVERIFY(curve->hasFocus());
    QVERIFY(!curve->marked());
    QTest::keyClick(curve, Qt::Key_Home);
    QVERIFY(curve->marked());
    QCOMPARE(state.selection().kind, SelectionKind::Span);
    const double first = curve->marked()->seconds;
    QTest::keyClick(curve, Qt::Key_Right);
    QTest::keyClick(curve, Qt::Key_Right);
    QVERIFY(curve->marked()->seconds > first);
    const int span = state.selection().span;
    QCOMPARE(session.estimate()->simulation->stages[0].spans[static_cast<size_t>(span)].microbatch, 2);
    QVERIFY(curve->accessibleDescription().contains("microbatch 2"));
    QTest::keyClick(curve, Qt::Key_Left);
    QCOMPARE(session.estimate()
                 ->simulation->stages[0]
                 .spans[static_cast<size_t>(state.selection().span)]
                 .microbatch,
             1);
    QTest::keyClick(curve, Qt::Key_M);
    QCOMPARE(curve->marked()->bytes, session.report()->memory->stages[0].in_use);
    QSignalSpy selections(&state, &SelectionState::selectionChanged);
    QTest::keyClick(curve, Qt::Key_Return);
    QVERIFY(!selections.isEmpty() &&
            selections.back()[0].value<const QObject*>() ==
                nullptr);  // no source, as for a link: the window switches to the timeline
    QTest::keyClick(curve, Qt::Key_Escape);
    QVERIFY(!curve->marked());
    QCOMPARE(state.selection().kind, SelectionKind::Nothing);
    Selection selection;
    selection.kind = SelectionKind::Span;
    selection.stage = 0;
    selection.span = span;
    state.selectInAllViews(selection, this);
    QVERIFY(curve->marked() && curve->accessibleDescription().contains("microbatch 2"));
  }
};

QTEST_MAIN(MemoryCurveTest)
#include "memory_curve_test.moc"
