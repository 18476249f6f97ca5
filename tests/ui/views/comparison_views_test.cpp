// Pinned designs in the views without bars: memory over a step, graph, roofline, mesh, sensitivity, scaling.
// By mouse and keys.
#include <QAbstractItemModelTester>
#include <QPushButton>
#include <QTest>
#include <algorithm>
#include <cmath>

#include "compared_designs.h"
#include "explore/sensitivity.h"
#include "offscreen.h"
#include "support/longest_run.h"
#include "ui/plot/chart_table.h"
#include "ui/plot/design_choice.h"
#include "ui/selection/step_relations.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/communication/collectives_model.h"
#include "ui/views/communication/communication_view.h"
#include "ui/views/communication/mesh_canvas.h"
#include "ui/views/communication/mesh_view.h"
#include "ui/views/compute/compute_view.h"
#include "ui/views/compute/roofline_canvas.h"
#include "ui/views/compute/roofline_model.h"
#include "ui/views/explore/scaling_chart.h"
#include "ui/views/explore/sensitivity_page.h"
#include "ui/views/graph/graph_difference.h"
#include "ui/views/graph/graph_view.h"
#include "ui/views/memory/memory_curve.h"
#include "ui/views/memory/memory_view.h"
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

}  // namespace

class ComparisonViewsTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  // Results of pinned designs are computed only while a view that needs them is visible.
  void onlyWhatIsShownIsMade() {
    Session session;
    SelectionState state(&session);
    set(session, 2, 4, 1);
    TimelineView view(&state);
    MemoryView memory(&state);
    open(memory);
    pin(session, other_of(session));
    QTRY_COMPARE(memory.curve()->others().size(), size_t{1});
    QTest::qWait(50);
    QVERIFY(view.canvas()->steps().size() < 2);
    memory.hide();
    state.setStage(2);
    QCOMPARE(memory.curve()->others()[0].stage, 0);  // unchanged while the view is hidden
    open(view);
    QTRY_COMPARE(view.canvas()->steps().size(), size_t{2});
    // Pin a second design, then remove the first: the second becomes member 1.
    Design third = session.design();
    third.workload.microbatch = 2;
    pin(session, third);
    QTRY_COMPARE(view.canvas()->steps().size(), size_t{3});
    QTest::qWait(50);
    QCOMPARE(memory.curve()->others().size(), size_t{1});  // hidden, so nothing was computed
    session.comparisons()->remove(0);
    QTRY_COMPARE(view.canvas()->steps().size(), size_t{2});
    QCOMPARE(view.canvas()->steps()[1].member, 1);
    QCOMPARE(view.canvas()->steps()[1].report->design.workload.microbatch, int64_t{2});
  }

  void memoryOverAStep() {
    Session session, alone;
    SelectionState state(&session);
    set(session, 2, 4, 1);
    alone.setDesign(other_of(session), "test");
    alone.waitForEstimate();
    MemoryView view(&state);
    open(view);
    pin(session, other_of(session));
    QTRY_COMPARE(view.curve()->others().size(), size_t{1});
    const auto same = [&](int stage) {
      if (view.curve()->others().empty()) return false;  // still being computed
      const std::vector<MemoryPoint> expected = memory_points(*alone.estimate(), stage);
      const ComparedMemory& made = view.curve()->others()[0];
      return made.stage == stage &&
             std::equal(made.points.begin(), made.points.end(), expected.begin(), expected.end(),
                        [](const MemoryPoint& a, const MemoryPoint& b) {
                          return a.seconds == b.seconds && a.bytes == b.bytes;
                        });
    };
    QVERIFY(same(0));
    // Both curves end inside the chart, on the same axes.
    const MemoryCurve& curve = *view.curve();
    const QPointF mine = curve.place(curve.points().back()),
                  theirs = curve.place(curve.others()[0].points.back());
    QVERIFY(curve.rect().contains(mine.toPoint()) && curve.rect().contains(theirs.toPoint()));
    QVERIFY((mine.x() < theirs.x()) ==
            (curve.points().back().seconds < curve.others()[0].points.back().seconds));
    QVERIFY((mine.y() > theirs.y()) == (curve.points().back().bytes < curve.others()[0].points.back().bytes));
    const QString tip = curve.tipAt(curve.place(curve.points()[curve.points().size() / 2]));
    QVERIFY2(tip.startsWith("B: ") && tip.contains("\nA, stage 0: "), qPrintable(tip));
    view.curve()->setFocus();
    QTest::keyClick(view.curve(), Qt::Key_M);
    QVERIFY(view.curve()->accessibleDescription().contains("A, stage 0: "));
    state.setStage(3);
    QTRY_VERIFY(same(1));
    session.comparisons()->clear();
    QVERIFY(view.curve()->others().empty());
    QVERIFY(!curve.tipAt(curve.place(curve.points()[curve.points().size() / 2])).startsWith("B: "));
  }

  void graphsDiffer() {
    Session session, alone;
    set(session, 2, 4, 1);
    alone.setDesign(other_of(session), "test");
    alone.waitForReport();
    const Report &a = *session.report(), &b = *alone.report();
    QVERIFY(graph_difference(a, a).same());
    const GraphDifference there = graph_difference(a, b), back = graph_difference(b, a);
    QCOMPARE(there.missing, back.more);
    QCOMPARE(there.more, back.missing);
    QCOMPARE(there.placed, back.placed);
    QVERIFY(there.placed > 0 &&
            there.missing > 0);  // placed: tensors that tp shards; missing: collectives over tp
    for (size_t s = 0; s < there.ops.size(); ++s)
      for (size_t i = 0; i < there.ops[s].size(); ++i)
        if (is_collective(a.graph().segments[s].ops[i].kind))
          QCOMPARE(there.ops[s][i].how, OpDiffers::Missing);
    // An op whose output has another placement counts as OpDiffers::Placement.
    int placed = 0;
    for (size_t s = 0; s < there.ops.size(); ++s)
      for (size_t i = 0; i < there.ops[s].size(); ++i) {
        const Segment &mine = a.graph().segments[s],
                      &theirs = b.graph().segments[static_cast<size_t>(there.segments[s])];
        if (there.ops[s][i].other < 0 || mine.ops[i].outputs.empty()) continue;
        const Op& op = theirs.op(there.ops[s][i].other);
        QCOMPARE(op.name, mine.ops[i].name);
        if (mine.tensor(mine.ops[i].outputs[0]).placement == theirs.tensor(op.outputs[0]).placement) continue;
        QCOMPARE(there.ops[s][i].how, OpDiffers::Placement);
        ++placed;
      }
    QVERIFY(placed > 10);
    // A longer sequence changes numbers only.
    Design longer = session.design();
    longer.workload.seq *= 2;
    alone.setDesign(longer, "test");
    alone.waitForReport();
    const GraphDifference sizes = graph_difference(a, *alone.report());
    QCOMPARE(sizes.placed + sizes.missing + sizes.more, 0);
    QVERIFY(sizes.sized > 0);
  }

  void theGraphMarksWhatDiffers() {
    Session session;
    SelectionState state(&session);
    set(session, 2, 4, 1);
    GraphView view(&state);
    open(view);
    view.waitForGraph();
    QVERIFY(!view.findChild<QWidget*>("difference_bar")->isVisible());
    pin(session, other_of(session));
    QTRY_VERIFY(view.compared());
    QVERIFY(view.findChild<QWidget*>("difference_bar")->isVisible());
    QCOMPARE(view.canvas()->differences().size(), size_t{1});
    QCOMPARE(view.canvas()->differences()[0].letter, QString("A"));

    // N selects the next op that differs. The inspector shows the value of the other design.
    view.canvas()->setFocus();
    QTest::keyClick(view.canvas(), Qt::Key_N);
    view.waitForGraph();
    QTest::keyClick(view.canvas(), Qt::Key_N);
    view.waitForGraph();
    const NodeId op = view.canvas()->selected();
    QCOMPARE(op.level, NodeLevel::Op);
    QVERIFY(
        view.canvas()->differences()[0].otherwise.has_op(view.scene()->tree()->segment_of(op.unit), op.op));
    QVERIFY(!more_of(state, "A").isEmpty() && more_of(state, "A") != "the same");
    QCOMPARE(state.selection().kind, SelectionKind::Op);
    QTest::keyClick(view.canvas(), Qt::Key_N, Qt::ShiftModifier);
    view.waitForGraph();
    QVERIFY(view.canvas()->selected() != op);

    // A click shows the graph of the pinned design. It is marked where it differs from the present design.
    // Its ops correspond to ops of the same name in the present design.
    QTest::mouseClick(view.designChoice()->button(Comparisons::place(1)), Qt::LeftButton);
    view.waitForGraph();
    const auto other = session.comparisons()->all()[0].result.report;
    QCOMPARE(&view.scene()->tree()->report(), other.get());
    QCOMPARE(view.canvas()->differences()[0].letter, QString("B"));
    state.selectInAllViews({}, nullptr);
    QTest::keyClick(view.canvas(), Qt::Key_N);
    view.waitForGraph();
    QCOMPARE(view.canvas()->selected().level, NodeLevel::Op);
    const GraphTree& theirs = *view.scene()->tree();
    QCOMPARE(state.selection().kind, SelectionKind::Op);
    QCOMPARE(session.report()
                 ->graph()
                 .segments[static_cast<size_t>(segment_of_unit(*session.report(), state.selection().unit))]
                 .op(state.selection().op)
                 .name,
             theirs.segment(theirs.segment_of(view.canvas()->selected().unit))
                 .op(view.canvas()->selected().op)
                 .name);
    QVERIFY(state.inspection().title.startsWith("A: "));
    QVERIFY(!more_of(state, "B").isEmpty());

    // The graph of the pinned design stays after an edit of the present design. A selection from another view
    // switches back to the present design.
    set(session, 4, 2, 1);
    view.waitForGraph();
    QCOMPARE(&view.scene()->tree()->report(), other.get());
    Selection selection;
    selection.kind = SelectionKind::Op;
    selection.stage = 0;
    selection.unit = 1;
    selection.op = 2;
    state.selectInAllViews(selection, nullptr);
    view.waitForGraph();
    QCOMPARE(view.designChoice()->member(), 0);
    QCOMPARE(&view.scene()->tree()->report(), session.report().get());
    QTRY_COMPARE(view.canvas()->selected().op, 2);
    QCOMPARE(view.canvas()->selected().unit, 1);

    // Removing the pinned design switches back too.
    view.designChoice()->setMember(1);
    view.waitForGraph();
    session.comparisons()->clear();
    view.waitForGraph();
    QCOMPARE(&view.scene()->tree()->report(), session.report().get());
    QVERIFY(view.canvas()->differences().empty());
    QVERIFY(!view.findChild<QWidget*>("difference_bar")->isVisible());
  }

  void underTheRoofline() {
    Session session, alone;
    SelectionState state(&session);
    set(session, 2, 4, 1);
    alone.setDesign(other_of(session), "test");
    alone.waitForReport();
    ComputeView view(&state);
    open(view);
    view.setAlternativeShown(true);
    pin(session, other_of(session));
    RooflineCanvas& canvas = *view.roofline();
    QTRY_COMPARE(canvas.others().size(), size_t{1});
    const Roofline expected = roofline(*alone.report(), 0);
    QCOMPARE(canvas.others()[0].roofline.points.size(), expected.points.size());
    const RooflinePoint& mine = canvas.data().points.back();
    const int same = same_point(*session.report(), mine, canvas.others()[0]);
    QVERIFY(same >= 0);
    const RooflinePoint& theirs = expected.points[static_cast<size_t>(same)];
    const auto name = [](const Report& report, const RooflinePoint& point) {
      return report.graph().segments[static_cast<size_t>(point.segment)].op(point.op).name;
    };
    QCOMPARE(name(*alone.report(), theirs), name(*session.report(), mine));
    QVERIFY(theirs.seconds > mine.seconds);  // half as many ranks share the work
    QTest::mouseClick(&canvas, Qt::LeftButton, {},
                      canvas.place(static_cast<int>(canvas.data().points.size()) - 1).toPoint());
    QVERIFY(more_of(state, "A").contains(seconds_text(theirs.seconds)));
    QVERIFY(canvas.tipAt(canvas.place(canvas.selected())).contains("\nA: " + seconds_text(theirs.seconds)));
    QVERIFY(canvas.rect().contains(canvas.comparedPointPlace(0, same).toPoint()));
    // A click on a point of the pinned design selects the same op in the present design.
    state.selectInAllViews({}, nullptr);
    QCOMPARE(canvas.selected(), -1);
    QTest::mouseClick(&canvas, Qt::LeftButton, {}, canvas.comparedPointPlace(0, same).toPoint());
    QVERIFY(canvas.selected() >= 0);
    QCOMPARE(name(*session.report(), canvas.data().points[static_cast<size_t>(canvas.selected())]),
             name(*alone.report(), theirs));
    QCOMPARE(state.selection().kind, SelectionKind::Op);
    const QAbstractItemModel* model = view.rooflineTable()->model();
    QCOMPARE(model->columnCount(), RooflineModel::OfRoof + 1 + 3);
    session.comparisons()->clear();
    QVERIFY(canvas.others().empty());
    QCOMPARE(view.rooflineTable()->model()->columnCount(), RooflineModel::OfRoof + 1);
  }

  void everyCollective() {
    Session session;
    SelectionState state(&session);
    set(session, 2, 4, 1);
    state.setStage(3);
    CommunicationView view(&state);
    open(view);
    Design other = session.design();  // the same group sizes, half of the microbatches
    other.workload.batch /= 2;
    pin(session, other);
    CollectivesModel& model = *view.model();
    QCOMPARE(model.columnCount(), CollectivesModel::Formula + 1 + 3);
    const auto& mine = session.report()->stages[3].collectives;
    const auto& theirs = session.comparisons()->all()[0].result.report->stages[3].collectives;
    QCOMPARE(mine.size(), theirs.size());
    bool halved = false;
    for (size_t row = 0; row < mine.size(); ++row) {
      const double bytes = to_double(theirs[row].bytes.value);
      QCOMPARE(model.index(static_cast<int>(row), CollectivesModel::bytes(0))
                   .data(TableModel::SortRole)
                   .toDouble(),
               bytes);
      QCOMPARE(model.index(static_cast<int>(row), CollectivesModel::bytes(0) + 1)
                   .data(TableModel::SortRole)
                   .toDouble(),
               to_double(mine[row].bytes.value) - bytes);
      halved = halved || 2 * bytes == to_double(mine[row].bytes.value);
    }
    QVERIFY(halved);
    session.comparisons()->clear();
    QCOMPARE(model.columnCount(), CollectivesModel::Formula + 1);
  }

  void inTheMesh() {
    Session session;
    SelectionState state(&session);
    set(session, 2, 4, 1);
    CommunicationView view(&state);
    open(view);
    auto& mesh = *view.findChild<MeshView*>();
    view.setAlternativeShown(true);
    pin(session, other_of(session));
    QPushButton* tp = mesh.chips().front();
    QVERIFY2(tp->text().contains(u'≠'), qPrintable(tp->text()));  // the pinned design has no tp group
    QVERIFY(tp->toolTip().contains("A: none"));
    const qint64 rank = state.rank();
    QTest::mouseClick(mesh.designChoice()->button(Comparisons::place(1)), Qt::LeftButton);
    QStringList names;
    for (const QPushButton* chip : mesh.chips()) names << chip->property("group").toString();
    QVERIFY2(!names.contains("tp") && names.contains("dp"), qPrintable(names.join(' ')));
    // A click on a group of the pinned design selects it in the present design, if the present design has it.
    for (QPushButton* chip : mesh.chips()) {
      QTest::mouseClick(chip, Qt::LeftButton);
      const bool here = chip->property("group").toString() == "pp";
      QCOMPARE(state.selection().kind, here ? SelectionKind::Group : SelectionKind::Nothing);
    }
    QVERIFY(state.inspection().title.startsWith("A: "));
    mesh.canvas()->setFocus();
    QTest::keyClick(mesh.canvas(), Qt::Key_Down);
    QTest::keyClick(mesh.canvas(), Qt::Key_Right);
    QCOMPARE(state.rank(), rank);  // the rank of the present design stays
    session.comparisons()->clear();
    QCOMPARE(mesh.designChoice()->member(), 0);
    QVERIFY(!mesh.designChoice()->isVisible());
    QCOMPARE(mesh.chips().front()->property("group").toString(), QString("tp"));
  }

  void sensitivityOfEach() {
    Session session;
    set(session, 2, 2, 2);
    SensitivityPage page(SensitivityPage::Kind::Sensitivity, &session);
    open(page);
    pin(session, other_of(session));
    QTRY_VERIFY_WITH_TIMEOUT(page.ready() && page.comparisonReady(), test::kLongestRun);
    const auto expected = sensitivity(other_of(session));
    const auto mine = sensitivity(session.design());
    QVERIFY(expected && mine);
    int compared = 0;
    for (const Tornado::Row& row : page.tornado()->rows()) {
      QCOMPARE(row.others.size(), size_t{1});
      double low = 0, high = 0;
      for (const KnobSensitivity& knob : expected->knobs)
        for (const Neighbour& n : knob.neighbours) {
          if (knob.knob != mine->knobs[static_cast<size_t>(row.knob)].knob || !n.evaluation.timed()) continue;
          low = std::min(low, n.evaluation.tokens_per_second / expected->now.tokens_per_second - 1);
          high = std::max(high, n.evaluation.tokens_per_second / expected->now.tokens_per_second - 1);
        }
      QVERIFY(std::abs(row.others[0].low - low) < 1e-9 && std::abs(row.others[0].high - high) < 1e-9);
      if (++compared == 4) break;
    }
    QVERIFY(compared > 0);
    page.tornado()->setFocus();
    QTest::keyClick(page.tornado(), Qt::Key_Home);
    QVERIFY(page.tornado()->accessibleDescription().contains("A: "));
    const int columns = page.table()->model()->columnCount();
    session.comparisons()->clear();
    QCOMPARE(page.table()->model()->columnCount(), columns - 2);
  }

  void scalingOfEach() {
    Session session;
    set(session, 2, 2, 2);
    SensitivityPage page(SensitivityPage::Kind::Scaling, &session);
    open(page);
    pin(session, other_of(session));
    QTRY_VERIFY_WITH_TIMEOUT(page.ready() && page.comparisonReady(), test::kLongestRun);
    const auto expected = scaling(other_of(session), {});
    QVERIFY(expected);
    QCOMPARE(page.chart()->others().size(), size_t{1});
    const auto& line = page.chart()->others()[0].lines[ScalingChart::Strong];
    QCOMPARE(line.size(), expected->size());
    for (size_t i = 0; i < line.size(); ++i) QCOMPARE(per_gpu(line[i]), per_gpu((*expected)[i]));
    page.chart()->setFocus();
    QTest::keyClick(page.chart(), Qt::Key_Right);
    QVERIFY2(page.chart()->accessibleDescription().contains("\nA: "),
             qPrintable(page.chart()->accessibleDescription()));
    const int columns = page.table()->model()->columnCount();
    session.comparisons()->clear();
    QCOMPARE(page.table()->model()->columnCount(), columns - 3);
    QVERIFY(page.chart()->others().empty());
  }

  // If a table is too narrow for all columns of two pinned designs, it hides differences and keeps percents.
  // The saved file has all columns.
  void narrowTablesLeaveOutDifferences() {
    Session session;
    SelectionState state(&session);
    set(session, 2, 4, 2);
    pin(session, other_of(session));
    Design third = session.design();
    third.parallel.sequence_parallel = !third.parallel.sequence_parallel;
    pin(session, third);
    CommunicationView view(&state);
    open(view);
    view.comparisonButton()->setChecked(false);
    ChartTable* table = view.table();
    const auto hidden = [&](int column) { return table->isColumnHidden(column); };
    view.resize(2400, 700);
    QTest::qWait(20);
    const int bytes = CollectivesModel::bytes(0);
    QVERIFY(!hidden(bytes) && !hidden(bytes + 1) && !hidden(bytes + 2));
    view.resize(760, 700);
    QTest::qWait(20);
    QVERIFY(!hidden(bytes) && hidden(bytes + 1) && !hidden(bytes + 2));
    QVERIFY(csv_text(*view.model()).contains("B less A"));
    view.resize(2400, 700);
    QTest::qWait(20);
    QVERIFY(!hidden(bytes + 1));
  }
};

QTEST_MAIN(ComparisonViewsTest)
#include "comparison_views_test.moc"
