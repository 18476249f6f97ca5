// Steps of pinned designs in the timeline: rows, matching boxes, table, inspector.
#include <QAbstractItemModelTester>
#include <QPushButton>
#include <QTest>
#include <algorithm>
#include <cmath>

#include "compared_designs.h"
#include "offscreen.h"
#include "ui/plot/chart_table.h"
#include "ui/selection/step_relations.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/timeline/gantt_canvas.h"
#include "ui/views/timeline/matching_item.h"
#include "ui/views/timeline/span_text.h"
#include "ui/views/timeline/spans_model.h"
#include "ui/views/timeline/timeline_view.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

// A value of the inspector's lower rows.
QString more_of(const SelectionState& state, const QString& name) {
  for (const auto& [key, value] : state.inspection().more)
    if (key == name) return value;
  return {};
}

QPushButton* button(QWidget& view, const char* name, int index) {
  return view.findChild<QWidget*>(name)->findChildren<QPushButton*>().value(index);
}

// The timeline of the present design with four stages, and below it a pinned design with two stages.
struct TwoTimelines {
  Session session;
  SelectionState state{&session};
  TimelineView view{&state};
  double alone = 0;  // seconds in view before pinning

  TwoTimelines() {
    set(session, 2, 4, 1);
    open(view);
    QTRY_VERIFY(view.lanes());
    alone = canvas().view().seconds;
    QVERIFY(!view.findChild<QWidget*>("timeline_rows")->isVisible());
    pin(session, other_of(session));
    QTRY_COMPARE(canvas().steps().size(), size_t{2});
  }
  GanttCanvas& canvas() { return *view.canvas(); }
  const GanttStep& below() { return canvas().steps()[1]; }
  ItemRef theirs() {
    ItemRef box = below().lanes->of_action(1, Pass::Backward, 0, 0);
    box.member = 1;
    return box;
  }
  ItemRef same() {
    return canvas().matchingItem(theirs(), canvas().steps()[0]);
  }  // the matching box of the present design
};

}  // namespace

class ComparisonTimelineTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  void stagesInTheSamePlace() {
    for (int n : {1, 2, 3, 4, 16, 64})
      for (int m : {1, 2, 3, 8, 64}) {
        QCOMPARE(Comparisons::sameStagePlace(0, n, m), 0);
        if (n > 1) QCOMPARE(Comparisons::sameStagePlace(n - 1, n, m), m - 1);
        for (int s = 0; s < n; ++s)
          QVERIFY(Comparisons::sameStagePlace(s, n, m) >=
                  (s > 0 ? Comparisons::sameStagePlace(s - 1, n, m) : 0));
        for (int s = 0; n == m && s < n; ++s) QCOMPARE(Comparisons::sameStagePlace(s, n, m), s);
      }
  }

  void timelinesStandBelow() {
    TwoTimelines w;
    Session& session = w.session;
    GanttCanvas& canvas = w.canvas();
    const GanttStep& below = w.below();
    const ItemRef theirs = w.theirs();
    const Simulation& mine = *session.estimate()->simulation;
    const Simulation& other = *session.comparisons()->all()[0].result.simulation;
    QVERIFY(std::abs(canvas.view().seconds / w.alone -
                     std::max(mine.step_seconds, other.step_seconds) / mine.step_seconds) < 1e-9);

    // Both designs have a row for each stage, on one time axis.
    const GanttLayout layout = canvas.ganttLayout();
    QCOMPARE(layout.rows().size(), size_t{6});
    QVERIFY(layout.heading(0).bottom() <= layout.rowRect(0).top() + 3);
    QVERIFY(layout.heading(1).top() >= layout.rowRect(3).bottom() - 8 &&
            layout.heading(1).bottom() <= layout.rowRect(4).top() + 3);
    for (const double seconds : {mine.step_seconds, other.step_seconds})
      QVERIFY(layout.x(seconds) <= layout.plot().right() && layout.x(seconds) > layout.plot().left());
    const QRectF box = layout.rect(theirs);
    QVERIFY(std::abs(box.left() - layout.x(below.lanes->item(theirs).begin)) < 1e-6);
    QVERIFY(box.top() > layout.heading(1).bottom());
  }

  void matchingBoxesAreSelected() {
    TwoTimelines w;
    SelectionState& state = w.state;
    TimelineView& view = w.view;
    GanttCanvas& canvas = w.canvas();
    const GanttStep& below = w.below();
    const ItemRef theirs = w.theirs();
    const ItemRef same = w.same();
    const QRectF box = canvas.ganttLayout().rect(theirs);

    // The tip of a box shows the matching boxes of all designs. A click on a box of the pinned design selects
    // the matching span of the present design, and the inspector shows both.
    const QString tip = canvas.tipAt(box.center());
    QVERIFY2(tip.startsWith("A: Backward, microbatch 0"), qPrintable(tip));
    QCOMPARE(same, view.lanes()->of_action(3, Pass::Backward, 0, 0));  // the last stages match
    const QString said = matchingItemText(*below.lanes, theirs, *view.lanes(), same);
    QVERIFY2(tip.contains("\nB: " + said), qPrintable(tip));
    QTest::mouseClick(&canvas, Qt::LeftButton, {}, box.center().toPoint());
    QCOMPARE(canvas.selected(), theirs);
    QCOMPARE(state.selection().kind, SelectionKind::Span);
    QCOMPARE(view.lanes()->of_span(state.selection().stage, state.selection().span), same);
    QVERIFY(state.inspection().title.startsWith("A: Backward"));
    QCOMPARE(more_of(state, "B"), said);
    QVERIFY(state.inspection().links.isEmpty());  // links could only lead into the present design
    QVERIFY(canvas.accessibleDescription().contains("B: "));

    // Up and Down move from row to row, also from design to design.
    QTest::keyClick(&canvas, Qt::Key_Up);
    QTest::keyClick(&canvas, Qt::Key_Up);
    QCOMPARE(canvas.selected().member, 0);
    QCOMPARE(canvas.selected().stage, 3);
    QCOMPARE(state.selection().kind, SelectionKind::Span);
    QTest::keyClick(&canvas, Qt::Key_Down);
    QCOMPARE(canvas.selected().member, 1);
    QCOMPARE(canvas.selected().stage, 0);
    const int item = canvas.selected().item;
    QTest::keyClick(&canvas, Qt::Key_Right);
    QCOMPARE(canvas.selected().item, item + 1);

    // Page Up and Page Down select the matching box of the previous or next design.
    canvas.select(theirs);
    QTest::keyClick(&canvas, Qt::Key_PageUp);
    QCOMPARE(canvas.selected(), same);
    QTest::keyClick(&canvas, Qt::Key_PageDown);
    QCOMPARE(canvas.selected(), theirs);
  }

  void rowsOfComparedDesigns() {
    TwoTimelines w;
    SelectionState& state = w.state;
    TimelineView& view = w.view;
    GanttCanvas& canvas = w.canvas();
    canvas.select(w.theirs());

    // All designs have the same zoom.
    QTest::keyClick(&canvas, Qt::Key_Return);
    const GanttLayout near = canvas.ganttLayout();
    QVERIFY(near.rect(canvas.selected()).width() > near.plot().width() / 2);
    QTest::keyClick(&canvas, Qt::Key_0);

    // A button shows one stage of each design: the selected stage and the corresponding stage. By mouse and
    // key.
    QTest::mouseClick(button(view, "timeline_rows", 1), Qt::LeftButton);
    QCOMPARE(canvas.ganttLayout().rows().size(), size_t{2});
    state.setStage(3);
    QCOMPARE(canvas.ganttLayout().rows()[0].stage, 3);
    QCOMPARE(canvas.ganttLayout().rows()[1].stage, 1);
    button(view, "timeline_rows", 0)->setFocus();
    QTest::keyClick(button(view, "timeline_rows", 0), Qt::Key_Space);
    QCOMPARE(canvas.ganttLayout().rows().size(), size_t{6});

    // While scrolled, the heading of the design stays visible.
    view.resize(900, 420);
    QTest::qWait(20);
    QTest::keyClick(&canvas, Qt::Key_Escape);
    QTest::keyClick(&canvas, Qt::Key_PageDown);
    const GanttLayout scrolled = canvas.ganttLayout();
    QVERIFY(scrolled.view().top > 0);
    const GanttRow& first = scrolled.rows()[static_cast<size_t>(scrolled.firstRow())];
    QVERIFY(scrolled.heading(first.step)
                .intersects(QRectF(scrolled.plot().left(), scrolled.plot().top(), scrolled.plot().width(),
                                   GanttLayout::kHeading)));
    QVERIFY(!scrolled.at(scrolled.heading(first.step).center()).valid());
    view.resize(900, 700);
  }

  void theTableComparesBoxes() {
    TwoTimelines w;
    Session& session = w.session;
    SelectionState& state = w.state;
    TimelineView& view = w.view;
    GanttCanvas& canvas = w.canvas();
    const GanttStep& below = w.below();
    const ItemRef theirs = w.theirs();
    const ItemRef same = w.same();

    // The table has the time of the matching box, with difference and percent.
    SpansModel& model = *view.model();
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(model.columnCount(), SpansModel::WaitsFor + 1 + 3);
    int matched = 0;
    for (int row = 0; row < model.rowCount(); ++row) {
      const ItemRef there = matchingItem(*view.lanes(), model.at(row), *below.lanes);
      const QVariant takes = model.index(row, SpansModel::takes(0)).data(TableModel::SortRole);
      QCOMPARE(takes.isValid(), there.valid());
      if (!there.valid()) continue;
      ++matched;
      const LaneItem &a = view.lanes()->item(model.at(row)), &b = below.lanes->item(there);
      QCOMPARE(a.microbatch, b.microbatch);
      QCOMPARE(a.pass, b.pass);
      QCOMPARE(takes.toDouble(), b.end - b.begin);
      QVERIFY(std::abs(model.index(row, SpansModel::difference(0)).data(TableModel::SortRole).toDouble() -
                       (a.end - a.begin - b.end + b.begin)) < 1e-12);
    }
    const auto all = matchingItems(*view.lanes(), state.stage(), *below.lanes);
    for (int row = 0; row < model.rowCount(); ++row)
      QCOMPARE(all[static_cast<size_t>(model.at(row).lane)][static_cast<size_t>(model.at(row).item)],
               matchingItem(*view.lanes(), model.at(row), *below.lanes));
    QVERIFY2(matched > model.rowCount() / 8,
             qPrintable(QString::number(matched)));  // the pinned design has a quarter of the microbatches

    const auto picture = encoded(view.picture(), SaveFormat::Png);
    QVERIFY(std::holds_alternative<QByteArray>(picture));
    canvas.select(theirs);
    session.comparisons()->clear();
    QCOMPARE(canvas.steps().size(), size_t{1});
    QCOMPARE(canvas.selected(), same);  // the selection of the present design stays
    QCOMPARE(canvas.view().seconds, w.alone);
    QCOMPARE(model.columnCount(), SpansModel::WaitsFor + 1);
  }

  // A selection also marks a step that arrives later, including boxes without a match in the present design.
  void selectionsReachStepsThatComeLater() {
    Session session;
    SelectionState state(&session);
    set(session, 2, 2, 1);
    Selection selection;
    selection.kind = SelectionKind::Time;
    selection.time = TimeCategory::Attention;
    state.selectInAllViews(selection, this);
    TimelineView view(&state);
    open(view);
    QTRY_VERIFY(view.lanes());
    const size_t alone = view.selectedBoxes().size();
    QVERIFY(alone > 0);
    Design longer = session.design();
    longer.workload.batch *= 64;
    pin(session, longer);
    QTRY_COMPARE(view.canvas()->steps().size(), size_t{2});
    QVERIFY(!view.grab().isNull());
    QCOMPARE(view.selectedBoxes().size(), alone);
    const GanttStep& below = view.canvas()->steps()[1];
    ItemRef last = below.lanes->of_action(1, Pass::Backward, static_cast<int>(below.report->microbatches) - 1,
                                          0);
    last.member = 1;
    QVERIFY(last.valid() && view.selectsBox(last));
  }

  // Chunk 0 of four holds other layers than the only chunk of the present design. The texts give no percent.
  void differentChunksAreNotCompared() {
    Session session;
    SelectionState state(&session);
    set(session, 2, 2, 2);
    session.setKnob("batch", "16");
    session.setKnob("microbatch", "1");
    Design other = session.design();
    other.parallel.virtual_stages = 4;
    session.waitForEstimate();
    pin(session, other);
    TimelineView view(&state);
    open(view);
    QTRY_COMPARE(view.canvas()->steps().size(), size_t{2});
    const Lanes& theirs = *view.canvas()->steps()[1].lanes;
    QCOMPARE(theirs.chunks(), 4);
    const ItemRef mine = view.lanes()->of_action(0, Pass::Forward, 0, 0);
    const ItemRef there = matchingItem(*view.lanes(), mine, theirs);
    QVERIFY(there.valid());  // Page Down can still select the box
    const QString text = matchingItemText(*view.lanes(), mine, theirs, there);
    QVERIFY2(text.contains("chunk 0 of 4, other layers") && !text.contains('%'), qPrintable(text));
    for (int stage = 0; stage < 2; ++stage) {
      const auto pairs = matchingItems(*view.lanes(), stage, theirs);
      for (size_t lane = 0; lane < pairs.size(); ++lane)
        for (size_t i = 0; i < pairs[lane].size(); ++i)
          QCOMPARE(pairs[lane][i].valid() && view.lanes()->of(stage)[lane].items[i].microbatch >= 0, false);
    }
  }
};

QTEST_MAIN(ComparisonTimelineTest)
#include "comparison_timeline_test.moc"
