// Selections with pinned designs: a click on any design selects the thing, and all designs mark it.
// A is the present design, B the pinned one.
#include <QTest>
#include <algorithm>

#include "offscreen.h"
#include "selection_window.h"
#include "support/longest_run.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/plot/bar_comparison_model.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/theme.h"
#include "ui/views/explore/compare_page.h"
#include "ui/views/explore/explore_view.h"  // before the graph's search header: equal names
#include "ui/views/explore/grouped_bars.h"
#include "ui/views/memory/stage_memory_model.h"

using namespace shardscape;
using namespace shardscape::ui;

class ComparisonSelectionTest : public SelectionWindow {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  void pinNow() {
    QVERIFY(session_->comparisons()->add(session_->design(), Comparisons::nameOf(session_->design())));
    QTRY_VERIFY_WITH_TIMEOUT(session_->comparisons()->ready(), test::kLongestRun);
  }

  void clickMemory(const char* label) {
    show(kMemory);
    clickSegment(view<MemoryView>()->chart(), series(view<MemoryView>()->chart(), QLatin1String(label)));
  }
  static bool contains(const std::vector<int>& all, int one) {
    return one >= 0 && std::find(all.begin(), all.end(), one) != all.end();
  }

 private Q_SLOTS:
  // A has four stages with tp 2. B has two stages with tp 1 and dp 4.
  void init() {
    begin();
    set(*session_, {{"tp", "1"}, {"pp", "2"}, {"dp", "4"}, {"batch", "16"}, {"microbatch", "1"}});
    pinNow();
    set(*session_, {{"tp", "2"}, {"pp", "4"}, {"dp", "1"}, {"sequence_parallel", "true"}});
    open();
  }
  void cleanup() { close(); }

  // After an edit, bars keep a series that only the pinned design has. A selection of this series is cleared.
  void seriesOfThePinnedDesignOnlyAreNotSelected() {
    const auto select_and_lose = [&](int tab, auto* chart, const char* label,
                                     std::initializer_list<std::pair<const char*, const char*>> knobs,
                                     const char* said) {
      show(tab);
      clickSegment(chart, series(chart, QLatin1String(label)));
      QVERIFY(window_->selection()->selection().kind != SelectionKind::Nothing);
      session_->comparisons()->clear();
      pinNow();
      set(*session_, knobs);
      QCoreApplication::processEvents();
      QVERIFY(series(chart, QLatin1String(label)) >= 0);
      QCOMPARE(window_->selection()->selection().kind, SelectionKind::Nothing);
      QVERIFY(chart->marked().empty());
      QCOMPARE(window_->selection()->inspection().title, QLatin1String(said));
    };
    select_and_lose(kCommunication, view<CommunicationView>()->chart(), "Pipeline (pp)", {{"pp", "1"}},
                    "Communication of stage 0");
    set(*session_, {{"pp", "4"}});
    window_->selection()->setStage(kStage);
    select_and_lose(kCompute, view<ComputeView>()->chart(), "Attention, scan, backward",
                    {{"mode", "prefill"}}, "Compute of stage 1");
  }

  // Keys on a segment that only B has do not change the selection, because A has no such segment.
  void keysOnSegmentsOfThePinnedDesignOnly() {
    show(kCommunication);
    StageChart* chart = view<CommunicationView>()->chart();
    int only = -1;  // the series that only B has: data parallelism
    for (int at = 0; at < static_cast<int>(chart->data().series.size()); ++at)
      if (chart->data().ownSeries(0, at) < 0 && chart->data().ownSeries(1, at) >= 0) only = at;
    QVERIFY(only >= 0);
    QTest::mouseClick(chart, Qt::LeftButton, {}, chart->segmentRect(1, only, 1).center().toPoint());
    QCOMPARE(chart->selectedMember(), 1);
    const Selection before = window_->selection()->selection();
    for (const Qt::Key key :
         {Qt::Key_Return, Qt::Key_Left, Qt::Key_Right, Qt::Key_Home, Qt::Key_End, Qt::Key_Space}) {
      QTest::keyClick(chart, key);
      QCOMPARE(window_->selection()->selection(), before);
    }
  }

  // A click on a bar of A selects the same thing in B. Both bars are marked, and the inspector shows A.
  void barsOfThePinnedDesign_data() {
    QTest::addColumn<int>("tab");
    QTest::addColumn<QString>("label");
    QTest::addColumn<int>("kind");
    QTest::newRow("memory") << kMemory << "Activations" << int(SelectionKind::Memory);
    QTest::newRow("FLOPs") << kCompute << "Attention, scan, backward" << int(SelectionKind::Flops);
    QTest::newRow("communication") << kCommunication << "Pipeline (pp)" << int(SelectionKind::Group);
  }
  void barsOfThePinnedDesign() {
    QFETCH(int, tab);
    QFETCH(QString, label);
    QFETCH(int, kind);
    show(tab);
    const auto* page = qobject_cast<ChartPage*>(window_->tabs()->currentWidget());
    StageChart* chart = page->chart();
    const int part = series(chart, label);
    window_->selection()->setStage(0);
    const auto click = [&](int stage, int member) {
      QTest::mouseClick(chart, Qt::LeftButton, {},
                        chart->segmentRect(stage, part, member).center().toPoint());
    };
    click(1, 1);
    QCOMPARE(int(window_->selection()->selection().kind), kind);
    QCOMPARE(window_->selection()->selection().stage, 1);
    QCOMPARE(window_->selection()->stage(), 1);
    QCOMPARE(chart->marked(), std::vector<int>{part});
    QCOMPARE(chart->markedComparedBars(), (std::vector<BarMark>{{1, 1, part}}));
    QCOMPARE(chart->selectedMember(), 1);
    QVERIFY2(window_->selection()->inspection().title.startsWith("A: ") &&
                 window_->selection()->inspection().title.endsWith("stage 1"),
             qPrintable(window_->selection()->inspection().title));
    QCOMPARE(window_->selection()->inspection().more.front().first, QString("B"));
    const Selection theirs = window_->selection()->selection();
    // The bar of B is the same selection.
    click(1, 0);
    QCOMPARE(window_->selection()->selection(), theirs);
    QCOMPARE(chart->selectedMember(), 0);
    QVERIFY(!window_->selection()->inspection().title.startsWith("A: "));
    QCOMPARE(chart->markedComparedBars(), (std::vector<BarMark>{{1, 1, part}}));
    // Page Down and Page Up go to the same segment of the next design.
    chart->setFocus();
    QTest::keyClick(chart, Qt::Key_PageDown);
    QCOMPARE(chart->selectedMember(), 1);
    QTest::keyClick(chart, Qt::Key_PageUp);
    QCOMPARE(chart->selectedMember(), 0);
    // Rows of the comparison table give the same selection.
    ChartTable* table = page->comparisonTable();
    QVERIFY(table->isVisible());
    QCOMPARE(table->selectedSourceRows(), std::vector<int>{page->comparisonModel()->rowOf(part)});
    window_->inspector()->findChild<QPushButton*>("selection_clear")->click();
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Nothing);
    QVERIFY(chart->markedComparedBars().empty());
    QVERIFY(table->selectedSourceRows().empty());
    clickRow(table, page->comparisonModel()->rowOf(part));
    QCOMPARE(window_->selection()->selection(), theirs);
    QVERIFY(!window_->grab().isNull());
    // Stage 3 exists in A only.
    click(3, 0);
    QCOMPARE(window_->selection()->selection().stage, 3);
    QVERIFY(chart->markedComparedBars().empty());
    QVERIFY(chart->marked() == std::vector<int>{part} ||
            window_->selection()->selection().kind == SelectionKind::Nothing);
  }

  // A click on a segment that B lacks selects nothing in B. The inspector still shows the segment of A.
  void barsOfThePinnedDesignOnly() {
    show(kCommunication);
    StageChart* chart = view<CommunicationView>()->chart();
    const int part = series(chart, "Data parallel (dp)");
    QTest::mouseClick(chart, Qt::LeftButton, {}, chart->segmentRect(0, part, 1).center().toPoint());
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Nothing);
    QCOMPARE(chart->selectedMember(), 1);
    QCOMPARE(chart->selectedSeries(), part);
    QVERIFY(chart->marked().empty());
    QVERIFY2(window_->selection()->inspection().title.startsWith("A: "),
             qPrintable(window_->selection()->inspection().title));
    session_->comparisons()->clear();
    QCOMPARE(chart->selectedMember(), 0);
    QCOMPARE(window_->selection()->inspection().title, QString("Communication of stage 0"));
  }

  // A selected op is marked in the bars of A, on the stage of A that holds the op.
  void nodesInBarsOfThePinnedDesign() {
    show(kGraph);
    clickNode(node("Attention"));
    const int unit = window_->selection()->selection().unit;
    show(kCompute);
    const StageChart* chart = view<ComputeView>()->chart();
    const int part = series(chart, "Attention, scan, forward"), there = unit - 1 < 16 ? 0 : 1;
    QCOMPARE(chart->markedComparedBars(), (std::vector<BarMark>{{1, there, part}}));
    QCOMPARE(chart->marked(), std::vector<int>{part});
  }

  // A click on a box of A selects the matching span of B in all views.
  void boxesOfThePinnedDesign() {
    show(kTimeline);
    TimelineView* timeline = view<TimelineView>();
    GanttCanvas* canvas = timeline->canvas();
    QTRY_COMPARE(canvas->steps().size(), size_t{2});
    ItemRef theirs = canvas->steps()[1].lanes->of_action(1, Pass::Backward, 0, 0);
    theirs.member = 1;
    QTest::mouseClick(canvas, Qt::LeftButton, {}, canvas->ganttLayout().rect(theirs).center().toPoint());
    const ItemRef same = timeline->lanes()->of_action(3, Pass::Backward, 0, 0);
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Span);
    QCOMPARE(window_->selection()->stage(), 3);
    QCOMPARE(timeline->lanes()->of_span(3, window_->selection()->selection().span), same);
    QCOMPARE(canvas->selected(), theirs);
    QCOMPARE(canvas->matching(), std::vector<ItemRef>{same});
    QVERIFY(window_->selection()->inspection().title.startsWith("A: Backward"));
    QCOMPARE(timeline->table()->selectedSourceRows(), std::vector<int>{timeline->model()->rowOf(same)});
    show(kMemory);
    QVERIFY(view<MemoryView>()->curve()->marked());
    show(kTimeline);
    session_->comparisons()->clear();  // the box of A is gone, but the selection stays
    QCOMPARE(canvas->selected(), same);
    // A microbatch that A does not have.
    set(*session_, {{"batch", "64"}});
    pinNow();
    set(*session_, {{"batch", "16"}});
    QTRY_COMPARE(canvas->steps().size(), size_t{2});
    theirs = canvas->steps()[1].lanes->of_action(1, Pass::Backward, 20, 0);
    theirs.member = 1;
    canvas->select(theirs);
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Nothing);
    QCOMPARE(canvas->selected(), theirs);
    QVERIFY(canvas->matching().empty());
  }

  // The steps of both designs mark the op in the same layer. The op has different indices in the two graphs.
  void nodesInBothSteps() {
    show(kGraph);
    clickNode(node("Attention"));
    const Selection selection = window_->selection()->selection();
    show(kTimeline);
    TimelineView* timeline = view<TimelineView>();
    QTRY_COMPARE(timeline->canvas()->steps().size(), size_t{2});
    const Report& other = *timeline->canvas()->steps()[1].report;
    const Segment& layer = other.graph().segments[1];
    int marked = 0;
    for (OpId id = 0; id < static_cast<OpId>(layer.ops.size()); ++id)
      if (timeline->selectsOp(1, 1, id, selection.unit - 1)) {
        QCOMPARE(op_title(layer.op(id)), QString("Attention"));
        ++marked;
      }
    QCOMPARE(marked, 1);
    QVERIFY(!timeline->selectsOp(1, 1, selection.op, 0));  // another layer
    QCOMPARE(op_title(report().graph().segments[1].op(selection.op)), QString("Attention"));
    QVERIFY(timeline->selectsOp(0, 1, selection.op, selection.unit - 1));
    const int there = selection.unit - 1 < 16 ? 0 : 1;
    QVERIFY(timeline->selectsBox([&] {
      ItemRef ref = timeline->canvas()->steps()[1].lanes->of_action(there, Pass::Forward, 0, 0);
      ref.member = 1;
      return ref;
    }()));
    QVERIFY(!timeline->selectsBox([&] {
      ItemRef ref = timeline->canvas()->steps()[1].lanes->of_action(1 - there, Pass::Forward, 0, 0);
      ref.member = 1;
      return ref;
    }()));
  }

  // The table is rebuilt when the steps of pinned designs arrive. Its rows stay marked.
  void rowsStayMarked() {
    session_->comparisons()->clear();
    show(kMemory);
    clickSegment(view<MemoryView>()->chart(), series(view<MemoryView>()->chart(), "Activations"));
    show(kTimeline);
    const ChartTable* table = view<TimelineView>()->table();
    const std::vector<int> marked = table->selectedSourceRows();
    QVERIFY(!marked.empty());
    pinNow();
    QTRY_COMPARE(view<TimelineView>()->canvas()->steps().size(), size_t{2});
    QCOMPARE(table->selectedSourceRows(), marked);
  }

  // Values on the Compare page select parts of the step and of memory. The inspector is visible next to them.
  void valuesOfTheComparePage() {
    clickMemory("Activations");
    window_->tabs()->setCurrentWidget(window_->explore());
    window_->explore()->showPage(ExploreView::Compare);
    QVERIFY(window_->inspector()->isVisible());
    const ComparePage& page = *window_->explore()->compare();
    GroupedBars* bars = page.bars();
    const auto figure = [&](const char* id) {
      for (size_t i = 0; i < page.figures().size(); ++i)
        if (page.figures()[i].id == id) return static_cast<int>(i);
      return -1;
    };
    QVERIFY(contains(bars->marked(), figure("attention_seconds")));  // ops that save activations
    const auto click = [&](int of) {
      for (const GroupedBars::Row& row : bars->rows())
        if (row.figure == of) QTest::mouseClick(bars, Qt::LeftButton, {}, row.bars[1].center().toPoint());
    };
    click(figure("attention_seconds"));
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Time);
    QCOMPARE(window_->selection()->selection().time, TimeCategory::Attention);
    QCOMPARE(page.table()->selectedSourceRows().size(), bars->marked().size());
    QVERIFY(contains(page.table()->selectedSourceRows(), figure("attention_seconds")));
    QVERIFY(!window_->selection()->inspection().isEmpty() &&
            window_->selection()->inspection().more.front().first == "A");
    click(figure("gradients_bytes"));
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Memory);
    QCOMPARE(window_->selection()->selection().stage, report().memory->peak_stage);
    clickRow(page.table(), figure("attention_seconds"));
    QCOMPARE(window_->selection()->selection().time, TimeCategory::Attention);
    QTest::keyClick(bars, Qt::Key_Home);
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Time);
    QTest::keyClick(bars, Qt::Key_Escape);
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Nothing);
    QVERIFY(bars->marked().empty());
    show(kTimeline);
    QVERIFY(view<TimelineView>()->breakdown()->marked().empty());
  }

  // The memory table marks the cell of the selected category. A click on a cell selects its category.
  void cellsOfMemory() {
    session_->comparisons()->clear();
    clickMemory("Activations");
    ChartTable* table = view<MemoryView>()->table();
    QVERIFY(table->isVisible());
    const int activations = StageMemoryModel::kFirstCategory + int(MemoryCategory::Activations),
              gradients = StageMemoryModel::kFirstCategory + int(MemoryCategory::Gradients);
    QCOMPARE(table->markedCells(), (std::vector<std::pair<int, int>>{{kStage, activations}}));
    const QModelIndex cell = table->sorted()->mapFromSource(view<MemoryView>()->model()->index(2, gradients));
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(cell).center());
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Memory);
    QCOMPARE(window_->selection()->selection().memory, MemoryCategory::Gradients);
    QCOMPARE(window_->selection()->selection().stage, 2);
    QCOMPARE(table->markedCells(), (std::vector<std::pair<int, int>>{{2, gradients}}));
    Selection selection;
    selection.kind = SelectionKind::Time;
    selection.time = TimeCategory::Attention;
    window_->selection()->selectInAllViews(selection, nullptr);  // on all stages
    QCOMPARE(table->markedCells().size(), session_->report()->stages.size());
    window_->selection()->selectInAllViews({}, nullptr);
    QVERIFY(table->markedCells().empty());
  }

  // In a small window, charts do not overlap the widgets below, and buttons are wide enough for their text.
  void smallWindows() {
    window_->resize(1024, 700);
    for (const int tab : {kMemory, kCompute, kCommunication}) {
      show(tab);
      QTest::qWait(20);
      const auto* page = qobject_cast<ChartPage*>(window_->tabs()->currentWidget());
      QWidget* lowest = page->chart();
      if (tab == kMemory) lowest = view<MemoryView>()->curve();
      const auto y_of = [&](QWidget* widget, int y) { return widget->mapTo(page, QPoint(0, y)).y(); };
      QVERIFY2(y_of(lowest, lowest->height() - 1) < y_of(page->comparisonButton(), 0),
               qPrintable(QString::number(tab)));
      for (const QPushButton* button : page->findChildren<QPushButton*>())
        if (button->isVisible())
          QVERIFY2(button->width() >= button->fontMetrics().horizontalAdvance(button->text()) + 8,
                   qPrintable(button->text()));
    }
  }

  void breakdownsOfThePinnedDesign() {
    show(kTimeline);
    BreakdownBar* bar = view<TimelineView>()->breakdown();
    QTRY_COMPARE(bar->others().size(), size_t{1});
    QTest::mouseClick(bar, Qt::LeftButton, {},
                      bar->comparedSegmentRect(0, TimeCategory::Attention).center().toPoint());
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Time);
    QCOMPARE(window_->selection()->selection().time, TimeCategory::Attention);
    QCOMPARE(bar->selected(), int(TimeCategory::Attention));
  }
};

QTEST_MAIN(ComparisonSelectionTest)
#include "comparison_selection_test.moc"
