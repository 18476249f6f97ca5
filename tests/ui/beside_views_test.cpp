// Designs that are pinned beside the present one, in the views that are no bars: timeline, memory over a step, graph, roofline, mesh,
// what matters, scaling. By mouse and keys.
#include <QAbstractItemModelTester>
#include <QPushButton>
#include <QTest>
#include <algorithm>
#include <cmath>

#include "beside.h"
#include "explore/sensitivity.h"
#include "offscreen.h"
#include "ui/charts/memory_curve.h"
#include "ui/charts/memory_view.h"
#include "ui/charts/communication_view.h"
#include "ui/charts/compute_view.h"
#include "ui/charts/mesh_canvas.h"
#include "ui/charts/mesh_view.h"
#include "ui/charts/roofline_canvas.h"
#include "ui/explore/matters_page.h"
#include "ui/explore/scaling_chart.h"
#include "ui/graph_view/graph_difference.h"
#include "ui/graph_view/graph_view.h"
#include "ui/models/collectives_model.h"
#include "ui/models/roofline_model.h"
#include "ui/state/relations.h"
#include "ui/theme/theme.h"
#include "ui/timeline/counterpart.h"
#include "ui/timeline/gantt_canvas.h"
#include "ui/timeline/span_text.h"
#include "ui/timeline/spans_model.h"
#include "ui/timeline/timeline_view.h"
#include "ui/widgets/chart_table.h"
#include "ui/widgets/design_choice.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

// Of the inspector's lower rows.
QString more_of(const Session& session, const QString& name) {
  for (const auto& [key, value] : session.inspection().more)
    if (key == name) return value;
  return {};
}

QPushButton* button(QWidget& view, const char* name, int index) { return view.findChild<QWidget*>(name)->findChildren<QPushButton*>().value(index); }

}  // namespace

class BesideViewsTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  void stagesInTheSamePlace() {
    for (int n : {1, 2, 3, 4, 16, 64})
      for (int m : {1, 2, 3, 8, 64}) {
        QCOMPARE(Comparisons::counterpart(0, n, m), 0);
        if (n > 1) QCOMPARE(Comparisons::counterpart(n - 1, n, m), m - 1);
        for (int s = 0; s < n; ++s) QVERIFY(Comparisons::counterpart(s, n, m) >= (s > 0 ? Comparisons::counterpart(s - 1, n, m) : 0));
        for (int s = 0; n == m && s < n; ++s) QCOMPARE(Comparisons::counterpart(s, n, m), s);
      }
  }

  void timelinesStandBelow() {
    Session session;
    set(session, 2, 4, 1);
    TimelineView view(&session);
    open(view);
    GanttCanvas& canvas = *view.canvas();
    QTRY_VERIFY(view.lanes());
    const double alone = canvas.view().seconds;
    QVERIFY(!view.findChild<QWidget*>("timeline_rows")->isVisible());
    pin(session, other_of(session));
    QTRY_COMPARE(canvas.steps().size(), size_t{2});
    const Simulation& mine = *session.estimate()->simulation;
    const Simulation& other = *session.comparisons()->all()[0].made.simulation;
    QVERIFY(std::abs(canvas.view().seconds / alone - std::max(mine.step_seconds, other.step_seconds) / mine.step_seconds) < 1e-9);

    // Every stage of both, one below the other, on one axis.
    const GanttLayout layout = canvas.ganttLayout();
    QCOMPARE(layout.rows().size(), size_t{6});
    QVERIFY(layout.heading(0).bottom() <= layout.rowRect(0).top() + 3);
    QVERIFY(layout.heading(1).top() >= layout.rowRect(3).bottom() - 8 && layout.heading(1).bottom() <= layout.rowRect(4).top() + 3);
    for (const double seconds : {mine.step_seconds, other.step_seconds}) QVERIFY(layout.x(seconds) <= layout.plot().right() && layout.x(seconds) > layout.plot().left());
    const GanttStep& below = canvas.steps()[1];
    ItemRef theirs = below.lanes->of_action(1, Pass::Backward, 0, 0);
    theirs.member = 1;
    const QRectF box = layout.rect(theirs);
    QVERIFY(std::abs(box.left() - layout.x(below.lanes->item(theirs).begin)) < 1e-6);
    QVERIFY(box.top() > layout.heading(1).bottom());

    // Hovering one tells of all; selecting one of the other design selects the same of the present one, and the inspector tells of both.
    const QString tip = canvas.tipAt(box.center());
    QVERIFY2(tip.startsWith("B: Backward, microbatch 0"), qPrintable(tip));
    const ItemRef same = canvas.counterpart(theirs, canvas.steps()[0]);
    QCOMPARE(same, view.lanes()->of_action(3, Pass::Backward, 0, 0));  // the last stage of each
    const QString said = beside_text(*below.lanes, theirs, *view.lanes(), same);
    QVERIFY2(tip.contains("\nA: " + said), qPrintable(tip));
    QTest::mouseClick(&canvas, Qt::LeftButton, {}, box.center().toPoint());
    QCOMPARE(canvas.selected(), theirs);
    QCOMPARE(session.pick().kind, PickKind::Span);
    QCOMPARE(view.lanes()->of_span(session.pick().stage, session.pick().span), same);
    QVERIFY(session.inspection().title.startsWith("B: Backward"));
    QCOMPARE(more_of(session, "A"), said);
    QVERIFY(session.inspection().links.isEmpty());  // they would lead into the present design
    QVERIFY(canvas.accessibleDescription().contains("A: "));

    // Up and Down go from row to row, over the border between designs.
    QTest::keyClick(&canvas, Qt::Key_Up);
    QTest::keyClick(&canvas, Qt::Key_Up);
    QCOMPARE(canvas.selected().member, 0);
    QCOMPARE(canvas.selected().stage, 3);
    QCOMPARE(session.pick().kind, PickKind::Span);
    QTest::keyClick(&canvas, Qt::Key_Down);
    QCOMPARE(canvas.selected().member, 1);
    QCOMPARE(canvas.selected().stage, 0);
    const int item = canvas.selected().item;
    QTest::keyClick(&canvas, Qt::Key_Right);
    QCOMPARE(canvas.selected().item, item + 1);

    // Page Up and Page Down to the same box of the other design.
    canvas.select(theirs);
    QTest::keyClick(&canvas, Qt::Key_PageUp);
    QCOMPARE(canvas.selected(), same);
    QTest::keyClick(&canvas, Qt::Key_PageDown);
    QCOMPARE(canvas.selected(), theirs);

    // Zoom is one for all.
    QTest::keyClick(&canvas, Qt::Key_Return);
    const GanttLayout near = canvas.ganttLayout();
    QVERIFY(near.rect(canvas.selected()).width() > near.plot().width() / 2);
    QTest::keyClick(&canvas, Qt::Key_0);

    // One stage of each: the picked one above that in the same place; by mouse and by key.
    QTest::mouseClick(button(view, "timeline_rows", 1), Qt::LeftButton);
    QCOMPARE(canvas.ganttLayout().rows().size(), size_t{2});
    session.setStage(3);
    QCOMPARE(canvas.ganttLayout().rows()[0].stage, 3);
    QCOMPARE(canvas.ganttLayout().rows()[1].stage, 1);
    button(view, "timeline_rows", 0)->setFocus();
    QTest::keyClick(button(view, "timeline_rows", 0), Qt::Key_Space);
    QCOMPARE(canvas.ganttLayout().rows().size(), size_t{6});

    // Scrolled, rows still say whose they are.
    view.resize(900, 420);
    QTest::qWait(20);
    QTest::keyClick(&canvas, Qt::Key_Escape);
    QTest::keyClick(&canvas, Qt::Key_PageDown);
    const GanttLayout scrolled = canvas.ganttLayout();
    QVERIFY(scrolled.view().top > 0);
    const GanttRow& first = scrolled.rows()[static_cast<size_t>(scrolled.firstRow())];
    QVERIFY(scrolled.heading(first.step).intersects(QRectF(scrolled.plot().left(), scrolled.plot().top(), scrolled.plot().width(), GanttLayout::kHeading)));
    QVERIFY(!scrolled.at(scrolled.heading(first.step).center()).valid());
    view.resize(900, 700);

    // The table has what they take for the same, with difference and percent.
    SpansModel& model = *view.model();
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(model.columnCount(), SpansModel::WaitsFor + 1 + 3);
    int matched = 0;
    for (int row = 0; row < model.rowCount(); ++row) {
      const ItemRef there = counterpart(*view.lanes(), model.at(row), *below.lanes);
      const QVariant takes = model.index(row, SpansModel::takes(0)).data(TableModel::SortRole);
      QCOMPARE(takes.isValid(), there.valid());
      if (!there.valid()) continue;
      ++matched;
      const LaneItem &a = view.lanes()->item(model.at(row)), &b = below.lanes->item(there);
      QCOMPARE(a.microbatch, b.microbatch);
      QCOMPARE(a.pass, b.pass);
      QCOMPARE(takes.toDouble(), b.end - b.begin);
      QVERIFY(std::abs(model.index(row, SpansModel::difference(0)).data(TableModel::SortRole).toDouble() - (b.end - b.begin - a.end + a.begin)) < 1e-12);
    }
    const auto all = counterparts(*view.lanes(), session.stage(), *below.lanes);
    for (int row = 0; row < model.rowCount(); ++row)
      QCOMPARE(all[static_cast<size_t>(model.at(row).lane)][static_cast<size_t>(model.at(row).item)], counterpart(*view.lanes(), model.at(row), *below.lanes));
    QVERIFY2(matched > model.rowCount() / 8, qPrintable(QString::number(matched)));  // it has a quarter of the microbatches

    const auto picture = encoded(view.picture(), SaveFormat::Png);
    QVERIFY(std::holds_alternative<QByteArray>(picture));
    canvas.select(theirs);
    session.comparisons()->clear();
    QCOMPARE(canvas.steps().size(), size_t{1});
    QCOMPARE(canvas.selected(), same);  // which is selected still
    QCOMPARE(canvas.view().seconds, alone);
    QCOMPARE(model.columnCount(), SpansModel::WaitsFor + 1);
  }

  // What is not looked at is not made.
  // A step that is made after something was selected has boxes that the present one lacks.
  void selectionsReachStepsThatComeLater() {
    Session session;
    set(session, 2, 2, 1);
    Pick pick;
    pick.kind = PickKind::Time;
    pick.time = TimeCategory::Attention;
    session.setPick(pick, this);
    TimelineView view(&session);
    open(view);
    QTRY_VERIFY(view.lanes());
    const size_t alone = view.boxesPicked().size();
    QVERIFY(alone > 0);
    Design longer = session.design();
    longer.workload.batch *= 64;
    pin(session, longer);
    QTRY_COMPARE(view.canvas()->steps().size(), size_t{2});
    QVERIFY(!view.grab().isNull());
    QCOMPARE(view.boxesPicked().size(), alone);
    const GanttStep& below = view.canvas()->steps()[1];
    ItemRef last = below.lanes->of_action(1, Pass::Backward, static_cast<int>(below.report->microbatches) - 1, 0);
    last.member = 1;
    QVERIFY(last.valid() && view.picksBox(last));
  }

  void onlyWhatIsShownIsMade() {
    Session session;
    set(session, 2, 4, 1);
    TimelineView view(&session);
    MemoryView memory(&session);
    open(memory);
    pin(session, other_of(session));
    QTRY_COMPARE(memory.curve()->beside().size(), size_t{1});
    QTest::qWait(50);
    QVERIFY(view.canvas()->steps().size() < 2);
    memory.hide();
    session.setStage(2);
    QCOMPARE(memory.curve()->beside()[0].stage, 0);  // as it was
    open(view);
    QTRY_COMPARE(view.canvas()->steps().size(), size_t{2});
    // A second one, and the first goes: the letters stay with the designs' order.
    Design third = session.design();
    third.workload.microbatch = 2;
    pin(session, third);
    QTRY_COMPARE(view.canvas()->steps().size(), size_t{3});
    QTest::qWait(50);
    QCOMPARE(memory.curve()->beside().size(), size_t{1});  // it is hidden
    session.comparisons()->remove(0);
    QTRY_COMPARE(view.canvas()->steps().size(), size_t{2});
    QCOMPARE(view.canvas()->steps()[1].member, 1);
    QCOMPARE(view.canvas()->steps()[1].report->design.workload.microbatch, int64_t{2});
  }

  void memoryOverAStep() {
    Session session, alone;
    set(session, 2, 4, 1);
    alone.setDesign(other_of(session), "test");
    alone.waitForEstimate();
    MemoryView view(&session);
    open(view);
    pin(session, other_of(session));
    QTRY_COMPARE(view.curve()->beside().size(), size_t{1});
    const auto same = [&](int stage) {
      if (view.curve()->beside().empty()) return false;  // under way
      const std::vector<MemoryPoint> expected = memory_points(*alone.estimate(), stage);
      const MemoryBeside& made = view.curve()->beside()[0];
      return made.stage == stage && std::equal(made.points.begin(), made.points.end(), expected.begin(), expected.end(),
                                               [](const MemoryPoint& a, const MemoryPoint& b) { return a.seconds == b.seconds && a.bytes == b.bytes; });
    };
    QVERIFY(same(0));
    // Both end inside, on one axis; each point as high as its bytes.
    const MemoryCurve& curve = *view.curve();
    const QPointF mine = curve.place(curve.points().back()), theirs = curve.place(curve.beside()[0].points.back());
    QVERIFY(curve.rect().contains(mine.toPoint()) && curve.rect().contains(theirs.toPoint()));
    QVERIFY((mine.x() < theirs.x()) == (curve.points().back().seconds < curve.beside()[0].points.back().seconds));
    QVERIFY((mine.y() > theirs.y()) == (curve.points().back().bytes < curve.beside()[0].points.back().bytes));
    const QString tip = curve.tipAt(curve.place(curve.points()[curve.points().size() / 2]));
    QVERIFY2(tip.startsWith("A: ") && tip.contains("\nB, stage 0: "), qPrintable(tip));
    view.curve()->setFocus();
    QTest::keyClick(view.curve(), Qt::Key_M);
    QVERIFY(view.curve()->accessibleDescription().contains("B, stage 0: "));
    session.setStage(3);
    QTRY_VERIFY(same(1));
    session.comparisons()->clear();
    QVERIFY(view.curve()->beside().empty());
    QVERIFY(!curve.tipAt(curve.place(curve.points()[curve.points().size() / 2])).startsWith("A: "));
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
    QVERIFY(there.placed > 0 && there.missing > 0);  // split over tp, and its collectives
    for (size_t s = 0; s < there.ops.size(); ++s)
      for (size_t i = 0; i < there.ops[s].size(); ++i)
        if (is_collective(a.graph().segments[s].ops[i].kind)) QCOMPARE(there.ops[s][i].how, OpDiffers::Missing);
    // Whatever makes a tensor of another placement is placed otherwise, and no op of the same placements and numbers is.
    int placed = 0;
    for (size_t s = 0; s < there.ops.size(); ++s)
      for (size_t i = 0; i < there.ops[s].size(); ++i) {
        const Segment &mine = a.graph().segments[s], &theirs = b.graph().segments[static_cast<size_t>(there.segments[s])];
        if (there.ops[s][i].other < 0 || mine.ops[i].outputs.empty()) continue;
        const Op& op = theirs.op(there.ops[s][i].other);
        QCOMPARE(op.name, mine.ops[i].name);
        if (mine.tensor(mine.ops[i].outputs[0]).placement == theirs.tensor(op.outputs[0]).placement) continue;
        QCOMPARE(there.ops[s][i].how, OpDiffers::Placement);
        ++placed;
      }
    QVERIFY(placed > 10);
    // Only numbers: a longer sequence.
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
    set(session, 2, 4, 1);
    GraphView view(&session);
    open(view);
    view.waitForGraph();
    QVERIFY(!view.findChild<QWidget*>("difference_bar")->isVisible());
    pin(session, other_of(session));
    QTRY_VERIFY(view.compared());
    QVERIFY(view.findChild<QWidget*>("difference_bar")->isVisible());
    QCOMPARE(view.canvas()->differences().size(), size_t{1});
    QCOMPARE(view.canvas()->differences()[0].letter, QString("B"));

    // N goes to an op that differs; the inspector says what the other has.
    view.canvas()->setFocus();
    QTest::keyClick(view.canvas(), Qt::Key_N);
    view.waitForGraph();
    QTest::keyClick(view.canvas(), Qt::Key_N);
    view.waitForGraph();
    const NodeId op = view.canvas()->selected();
    QCOMPARE(op.level, NodeLevel::Op);
    QVERIFY(view.canvas()->differences()[0].otherwise.has_op(view.scene()->outline()->segment_of(op.unit), op.op));
    QVERIFY(!more_of(session, "B").isEmpty() && more_of(session, "B") != "the same");
    QCOMPARE(session.pick().kind, PickKind::Op);
    QTest::keyClick(view.canvas(), Qt::Key_N, Qt::ShiftModifier);
    view.waitForGraph();
    QVERIFY(view.canvas()->selected() != op);

    // The other's graph, by mouse: it is marked against the present one, and its ops are those of the present one by the same name.
    QTest::mouseClick(view.designChoice()->button(1), Qt::LeftButton);
    view.waitForGraph();
    const auto other = session.comparisons()->all()[0].made.report;
    QCOMPARE(&view.scene()->outline()->report(), other.get());
    QCOMPARE(view.canvas()->differences()[0].letter, QString("A"));
    session.setPick({}, nullptr);
    QTest::keyClick(view.canvas(), Qt::Key_N);
    view.waitForGraph();
    QCOMPARE(view.canvas()->selected().level, NodeLevel::Op);
    const Outline& theirs = *view.scene()->outline();
    QCOMPARE(session.pick().kind, PickKind::Op);
    QCOMPARE(session.report()->graph().segments[static_cast<size_t>(segment_of_unit(*session.report(), session.pick().unit))].op(session.pick().op).name,
             theirs.segment(theirs.segment_of(view.canvas()->selected().unit)).op(view.canvas()->selected().op).name);
    QVERIFY(session.inspection().title.startsWith("B: "));
    QVERIFY(!more_of(session, "A").isEmpty());

    // An edit of the present design leaves it; what is picked elsewhere brings the present one back.
    set(session, 4, 2, 1);
    view.waitForGraph();
    QCOMPARE(&view.scene()->outline()->report(), other.get());
    Pick pick;
    pick.kind = PickKind::Op;
    pick.stage = 0;
    pick.unit = 1;
    pick.op = 2;
    session.setPick(pick, nullptr);
    view.waitForGraph();
    QCOMPARE(view.designChoice()->member(), 0);
    QCOMPARE(&view.scene()->outline()->report(), session.report().get());
    QTRY_COMPARE(view.canvas()->selected().op, 2);
    QCOMPARE(view.canvas()->selected().unit, 1);

    // And one that goes gives way to it.
    view.designChoice()->setMember(1);
    view.waitForGraph();
    session.comparisons()->clear();
    view.waitForGraph();
    QCOMPARE(&view.scene()->outline()->report(), session.report().get());
    QVERIFY(view.canvas()->differences().empty());
    QVERIFY(!view.findChild<QWidget*>("difference_bar")->isVisible());
  }

  void underTheRoofline() {
    Session session, alone;
    set(session, 2, 4, 1);
    alone.setDesign(other_of(session), "test");
    alone.waitForReport();
    ComputeView view(&session);
    open(view);
    view.setRooflineShown(true);
    pin(session, other_of(session));
    RooflineCanvas& canvas = *view.roofline();
    QTRY_COMPARE(canvas.beside().size(), size_t{1});
    const Roofline expected = roofline(*alone.report(), 0);
    QCOMPARE(canvas.beside()[0].roofline.points.size(), expected.points.size());
    const RooflinePoint& mine = canvas.data().points.back();
    const int same = same_point(*session.report(), mine, canvas.beside()[0]);
    QVERIFY(same >= 0);
    const RooflinePoint& theirs = expected.points[static_cast<size_t>(same)];
    const auto name = [](const Report& report, const RooflinePoint& point) { return report.graph().segments[static_cast<size_t>(point.segment)].op(point.op).name; };
    QCOMPARE(name(*alone.report(), theirs), name(*session.report(), mine));
    QVERIFY(theirs.seconds > mine.seconds);  // half as many ranks share it
    QTest::mouseClick(&canvas, Qt::LeftButton, {}, canvas.place(static_cast<int>(canvas.data().points.size()) - 1).toPoint());
    QVERIFY(more_of(session, "B").contains(seconds_text(theirs.seconds)));
    QVERIFY(canvas.tipAt(canvas.place(canvas.picked())).contains("\nB: " + seconds_text(theirs.seconds)));
    QVERIFY(canvas.rect().contains(canvas.besidePlace(0, same).toPoint()));
    // A click on what the other does selects the same here.
    session.setPick({}, nullptr);
    QCOMPARE(canvas.picked(), -1);
    QTest::mouseClick(&canvas, Qt::LeftButton, {}, canvas.besidePlace(0, same).toPoint());
    QVERIFY(canvas.picked() >= 0);
    QCOMPARE(name(*session.report(), canvas.data().points[static_cast<size_t>(canvas.picked())]), name(*alone.report(), theirs));
    QCOMPARE(session.pick().kind, PickKind::Op);
    const QAbstractItemModel* model = view.rooflineTable()->model();
    QCOMPARE(model->columnCount(), RooflineModel::OfRoof + 1 + 3);
    session.comparisons()->clear();
    QVERIFY(canvas.beside().empty());
    QCOMPARE(view.rooflineTable()->model()->columnCount(), RooflineModel::OfRoof + 1);
  }

  void everyCollective() {
    Session session;
    set(session, 2, 4, 1);
    session.setStage(3);
    CommunicationView view(&session);
    open(view);
    Design other = session.design();  // as many ranks in each group, half of the microbatches
    other.workload.batch /= 2;
    pin(session, other);
    CollectivesModel& model = *view.model();
    QCOMPARE(model.columnCount(), CollectivesModel::Formula + 1 + 3);
    const auto& mine = session.report()->stages[3].collectives;
    const auto& theirs = session.comparisons()->all()[0].made.report->stages[3].collectives;
    QCOMPARE(mine.size(), theirs.size());
    bool halved = false;
    for (size_t row = 0; row < mine.size(); ++row) {
      const double bytes = to_double(theirs[row].bytes.value);
      QCOMPARE(model.index(static_cast<int>(row), CollectivesModel::bytes(0)).data(TableModel::SortRole).toDouble(), bytes);
      QCOMPARE(model.index(static_cast<int>(row), CollectivesModel::bytes(0) + 1).data(TableModel::SortRole).toDouble(), bytes - to_double(mine[row].bytes.value));
      halved = halved || 2 * bytes == to_double(mine[row].bytes.value);
    }
    QVERIFY(halved);
    session.comparisons()->clear();
    QCOMPARE(model.columnCount(), CollectivesModel::Formula + 1);
  }

  void inTheMesh() {
    Session session;
    set(session, 2, 4, 1);
    CommunicationView view(&session);
    open(view);
    auto& mesh = *view.findChild<MeshView*>();
    view.setMeshShown(true);
    pin(session, other_of(session));
    QPushButton* tp = mesh.chips().front();
    QVERIFY2(tp->text().contains(u'≠'), qPrintable(tp->text()));  // no group of tp in the other
    QVERIFY(tp->toolTip().contains("B: none"));
    const qint64 rank = session.rank();
    QTest::mouseClick(mesh.designChoice()->button(1), Qt::LeftButton);
    QStringList names;
    for (const QPushButton* chip : mesh.chips()) names << chip->property("group").toString();
    QVERIFY2(!names.contains("tp") && names.contains("dp"), qPrintable(names.join(' ')));
    // Its groups are those of the present design where that has them.
    for (QPushButton* chip : mesh.chips()) {
      QTest::mouseClick(chip, Qt::LeftButton);
      const bool here = chip->property("group").toString() == "pp";
      QCOMPARE(session.pick().kind, here ? PickKind::Group : PickKind::Nothing);
    }
    QVERIFY(session.inspection().title.startsWith("B: "));
    mesh.canvas()->setFocus();
    QTest::keyClick(mesh.canvas(), Qt::Key_Down);
    QTest::keyClick(mesh.canvas(), Qt::Key_Right);
    QCOMPARE(session.rank(), rank);  // the present design's stays
    session.comparisons()->clear();
    QCOMPARE(mesh.designChoice()->member(), 0);
    QVERIFY(!mesh.designChoice()->isVisible());
    QCOMPARE(mesh.chips().front()->property("group").toString(), QString("tp"));
  }

  void whatMattersOfEach() {
    Session session;
    set(session, 2, 2, 2);
    MattersPage page(MattersPage::Kind::Sensitivity, &session);
    open(page);
    pin(session, other_of(session));
    QTRY_VERIFY_WITH_TIMEOUT(page.ready() && page.besideReady(), 60'000);
    const auto expected = sensitivity(other_of(session));
    const auto mine = sensitivity(session.design());
    QVERIFY(expected && mine);
    int compared = 0;
    for (const Tornado::Row& row : page.tornado()->rows()) {
      QCOMPARE(row.beside.size(), size_t{1});
      double low = 0, high = 0;
      for (const KnobSensitivity& knob : expected->knobs)
        for (const Neighbour& n : knob.neighbours) {
          if (knob.knob != mine->knobs[static_cast<size_t>(row.knob)].knob || !n.evaluation.timed()) continue;
          low = std::min(low, n.evaluation.tokens_per_second / expected->now.tokens_per_second - 1);
          high = std::max(high, n.evaluation.tokens_per_second / expected->now.tokens_per_second - 1);
        }
      QVERIFY(std::abs(row.beside[0].low - low) < 1e-9 && std::abs(row.beside[0].high - high) < 1e-9);
      if (++compared == 4) break;
    }
    QVERIFY(compared > 0);
    page.tornado()->setFocus();
    QTest::keyClick(page.tornado(), Qt::Key_Home);
    QVERIFY(page.tornado()->accessibleDescription().contains("B: "));
    const int columns = page.table()->model()->columnCount();
    session.comparisons()->clear();
    QCOMPARE(page.table()->model()->columnCount(), columns - 2);
  }

  void scalingOfEach() {
    Session session;
    set(session, 2, 2, 2);
    MattersPage page(MattersPage::Kind::Scaling, &session);
    open(page);
    pin(session, other_of(session));
    QTRY_VERIFY_WITH_TIMEOUT(page.ready() && page.besideReady(), 60'000);
    const auto expected = scaling(other_of(session), {});
    QVERIFY(expected);
    QCOMPARE(page.chart()->beside().size(), size_t{1});
    const auto& line = page.chart()->beside()[0].lines[ScalingChart::Strong];
    QCOMPARE(line.size(), expected->size());
    for (size_t i = 0; i < line.size(); ++i) QCOMPARE(per_gpu(line[i]), per_gpu((*expected)[i]));
    page.chart()->setFocus();
    QTest::keyClick(page.chart(), Qt::Key_Right);
    QVERIFY2(page.chart()->accessibleDescription().contains("\nB: "), qPrintable(page.chart()->accessibleDescription()));
    const int columns = page.table()->model()->columnCount();
    session.comparisons()->clear();
    QCOMPARE(page.table()->model()->columnCount(), columns - 3);
    QVERIFY(page.chart()->beside().empty());
  }

  // Chunk 0 of four holds other layers than the only one: nothing is said of it in percent.
  void unlikeChunksAreNotCompared() {
    Session session;
    set(session, 2, 2, 2);
    session.setKnob("batch", "16");
    session.setKnob("microbatch", "1");
    Design other = session.design();
    other.parallel.virtual_stages = 4;
    session.waitForEstimate();
    pin(session, other);
    TimelineView view(&session);
    open(view);
    QTRY_COMPARE(view.canvas()->steps().size(), size_t{2});
    const Lanes& theirs = *view.canvas()->steps()[1].lanes;
    QCOMPARE(theirs.chunks(), 4);
    const ItemRef mine = view.lanes()->of_action(0, Pass::Forward, 0, 0);
    const ItemRef there = counterpart(*view.lanes(), mine, theirs);
    QVERIFY(there.valid());  // one can go there
    const QString text = beside_text(*view.lanes(), mine, theirs, there);
    QVERIFY2(text.contains("chunk 0 of 4, other layers") && !text.contains('%'), qPrintable(text));
    for (int stage = 0; stage < 2; ++stage) {
      const auto pairs = counterparts(*view.lanes(), stage, theirs);
      for (size_t lane = 0; lane < pairs.size(); ++lane)
        for (size_t i = 0; i < pairs[lane].size(); ++i)
          QCOMPARE(pairs[lane][i].valid() && view.lanes()->of(stage)[lane].items[i].microbatch >= 0, false);
    }
  }

  // Where a table is too narrow for all columns of two pinned designs, differences go and percents stay; the file has all.
  void narrowTablesLeaveOutDifferences() {
    Session session;
    set(session, 2, 4, 2);
    pin(session, other_of(session));
    Design third = session.design();
    third.parallel.sequence_parallel = !third.parallel.sequence_parallel;
    pin(session, third);
    CommunicationView view(&session);
    open(view);
    view.besideButton()->setChecked(false);
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

QTEST_MAIN(BesideViewsTest)
#include "beside_views_test.moc"
