// The timeline: rows and boxes, zoom and pan, selection by mouse and keys and from other views, search,
// saving.
#include <QAbstractItemModelTester>
#include <QHeaderView>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSortFilterProxyModel>
#include <QTest>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "offscreen.h"
#include "timeline_parts.h"
#include "ui/plot/chart_table.h"
#include "ui/selection/collective_selection.h"
#include "ui/toolkit/search_field.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/communication/communication_view.h"
#include "ui/views/graph/graph_view.h"
#include "ui/views/memory/memory_curve.h"
#include "ui/views/memory/memory_view.h"
#include "ui/views/timeline/breakdown_bar.h"
#include "ui/views/timeline/gantt_canvas.h"
#include "ui/views/timeline/span_text.h"
#include "ui/views/timeline/spans_model.h"
#include "ui/views/timeline/timeline_view.h"

using namespace shardscape;
using namespace shardscape::ui;

class TimelineTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  void estimatesFollowReports() {
    Session session;
    session.waitForReport();
    QSignalSpy arrived(&session, &Session::estimateChanged);
    QTRY_VERIFY(session.estimated());
    QCOMPARE(arrived.count(), 1);
    const auto before = session.estimate();
    QCOMPARE(before->report, session.report());
    // The last estimate stays until the next one is ready. Estimates of designs in between are dropped.
    for (int i = 1; i <= 10; ++i) session.setKnob("seq", QString::number(1024 * i));
    QVERIFY(!session.estimated());
    QCOMPARE(session.estimate(), before);
    QTRY_VERIFY(session.estimated());
    QCOMPARE(session.estimate()->report->design.workload.seq, 10240);
    QCOMPARE(session.estimate()->report, session.report());
  }

  void boxesAreTheActions() {
    Session session;
    pipelined(session);
    set(session, {{"virtual_stages", "2"}});
    const auto simulation = session.estimate()->simulation;
    const Lanes lanes(simulation);
    const int64_t microbatches = session.report()->microbatches;
    QCOMPARE(lanes.stages(), 4);
    QCOMPARE(lanes.chunks(), 2);
    for (int stage = 0; stage < lanes.stages(); ++stage) {
      const StreamLane& compute = lanes.of(stage).front();
      QCOMPARE(compute.stream, StreamKind::Compute);
      for (const Pass pass : {Pass::Forward, Pass::Backward})
        QCOMPARE(std::count_if(compute.items.begin(), compute.items.end(),
                               [&](const LaneItem& item) { return item.pass == pass; }),
                 2 * microbatches);
      size_t spans = 0;
      for (size_t l = 0; l < lanes.of(stage).size(); ++l) {
        const StreamLane& lane = lanes.of(stage)[l];
        for (size_t i = 0; i < lane.items.size(); ++i) {
          const LaneItem& item = lane.items[i];
          QVERIFY(item.end >= item.begin);
          if (i > 0) QVERIFY(item.begin >= lane.items[i - 1].end - 1e-12);
          for (int32_t k = 0; k < item.count; ++k)
            QCOMPARE(lanes.of_span(stage, lane.spans[static_cast<size_t>(item.first + k)]),
                     (ItemRef{stage, static_cast<int>(l), static_cast<int>(i)}));
          spans += static_cast<size_t>(item.count);
        }
      }
      QCOMPARE(spans, simulation->stages[static_cast<size_t>(stage)].spans.size());
      const ItemRef action = lanes.of_action(stage, Pass::Backward, 3, 1);
      QVERIFY(action.valid());
      QCOMPARE(lanes.item(action).microbatch, 3);
      QCOMPARE(
          lanes.nearest(stage, StreamKind::Compute, (lanes.item(action).begin + lanes.item(action).end) / 2),
          action);
    }
    QVERIFY(!lanes.of_span(9, 0).valid());
    QVERIFY(!lanes.of_action(0, Pass::Forward, 999, 0).valid());
  }

  void secondsAddUp() {
    Session session;
    SelectionState state(&session);
    pipelined(session);
    TimelineView view(&state);
    open(view);
    const double step = session.estimate()->simulation->step_seconds;
    for (int whose = 0; whose < 3; ++whose) {
      const auto buttons = view.findChild<QWidget*>("whose_time")->findChildren<QPushButton*>();
      QTest::mouseClick(buttons[whose], Qt::LeftButton);
      QVERIFY2(std::abs(view.breakdown()->total() - step) < 1e-6 * step,
               qPrintable(QString::number(view.breakdown()->total())));
      const QRectF bubble = view.breakdown()->segment(TimeCategory::Bubble),
                   products = view.breakdown()->segment(TimeCategory::MatrixProducts);
      QVERIFY(products.width() > 0);
      if (whose < 2)
        QVERIFY(std::abs(bubble.right() - view.breakdown()->width()) <
                2);  // the last segment ends at the end of the bar
    }
    QTest::mouseClick(view.findChild<QWidget*>("whose_time")->findChildren<QPushButton*>().front(),
                      Qt::LeftButton);
    QTest::mouseClick(view.breakdown(), Qt::LeftButton, {},
                      view.breakdown()->segment(TimeCategory::MatrixProducts).center().toPoint());
    QCOMPARE(state.inspection().title, QString("Matrix products"));
    view.breakdown()->setFocus();
    QTest::keyClick(view.breakdown(), Qt::Key_End);
    QCOMPARE(state.inspection().title, QString("Bubble"));
  }

  void selectsByMouse() {
    Session session;
    SelectionState state(&session);
    pipelined(session);
    TimelineView view(&state);
    open(view);
    const ItemRef box = view.lanes()->of_action(2, Pass::Backward, 3, 0);
    QTest::mouseClick(view.canvas(), Qt::LeftButton, {}, middle(*view.canvas(), box));
    QCOMPARE(view.canvas()->selected(), box);
    QCOMPARE(state.stage(), 2);
    QCOMPARE(state.inspection().title, QString("Backward, microbatch 3"));
    const LaneItem& item = view.lanes()->item(box);
    QCOMPARE(row_of(state.inspection(), "starts"), seconds_text(item.begin));
    QCOMPARE(row_of(state.inspection(), "takes"), seconds_text(item.end - item.begin));
    QVERIFY(!row_of(state.inspection(), "tp communication, exposed").isEmpty());
    QCOMPARE(view.model()->at(view.table()->sorted()->mapToSource(view.table()->currentIndex()).row()), box);
    // The inspector has a link to the span that the box waited for.
    QCOMPARE(state.inspection().links.size(), 1);
    const Selection before = state.inspection().links.front().selection;
    state.selectInAllViews(before, nullptr);
    QCOMPARE(view.canvas()->selected(), view.lanes()->of_span(before.stage, before.span));
    QCOMPARE(state.stage(), before.stage);
    // A click on the background clears the selection.
    QTest::mouseClick(view.canvas(), Qt::LeftButton, {}, QPoint(view.canvas()->width() - 10, 45));
    QVERIFY(!view.canvas()->selected().valid());
    QVERIFY(state.inspection().title.startsWith("One step"));
    QVERIFY(view.canvas()->tipAt(QPointF(middle(*view.canvas(), box))).contains("Backward, microbatch 3"));
  }

  // While the next step is simulated, timeline and curve show the previous step. A click there selects
  // nothing in other views, because the new graph may have other things at these indices.
  void aStaleStepSelectsNothing() {
    Session session;
    SelectionState state(&session);
    pipelined(session);
    TimelineView view(&state);
    open(view);
    MemoryView memory(&state);
    open(memory);
    const ItemRef box = view.lanes()->of_action(2, Pass::Backward, 3, 0);
    const QPoint place = middle(*view.canvas(), box);
    QVERIFY(!session.setKnob("batch", "32"));
    session.waitForReport();
    QVERIFY(session.current() && !session.estimated());
    QTest::mouseClick(view.canvas(), Qt::LeftButton, {}, place);
    QVERIFY(!session.estimated());
    QCOMPARE(view.canvas()->selected(), box);
    QCOMPARE(state.selection().kind, SelectionKind::Nothing);
    QTest::keyClick(memory.curve(), Qt::Key_Home);
    QVERIFY(!session.estimated() && memory.curve()->marked());
    QCOMPARE(state.selection().kind, SelectionKind::Nothing);
    // Enter does not follow the selection of another view either.
    Selection elsewhere;
    elsewhere.kind = SelectionKind::Time;
    state.selectInAllViews(elsewhere, this);
    QSignalSpy selections(&state, &SelectionState::selectionChanged);
    QTest::keyClick(memory.curve(), Qt::Key_Return);
    QVERIFY(!session.estimated() && memory.curve()->marked() && selections.isEmpty());
    state.selectInAllViews({}, this);
    session.waitForEstimate();
    QVERIFY(session.estimated());
    QCOMPARE(state.selection().kind, SelectionKind::Nothing);
    QVERIFY(!view.canvas()->selected().valid() && !memory.curve()->marked());
    // Once the new step is shown, both select.
    QTest::keyClick(memory.curve(), Qt::Key_Home);
    QCOMPARE(state.selection().kind, SelectionKind::Span);
    const ItemRef now = view.lanes()->of_action(2, Pass::Backward, 3, 0);
    QTest::mouseClick(view.canvas(), Qt::LeftButton, {}, middle(*view.canvas(), now));
    QCOMPARE(state.selection().stage, 2);
    QCOMPARE(view.lanes()->of_span(2, state.selection().span), now);
  }

  void selectsByKeys() {
    Session session;
    SelectionState state(&session);
    pipelined(session);
    TimelineView view(&state);
    open(view);
    GanttCanvas& canvas = *view.canvas();
    canvas.setFocus();
    canvas.select(view.lanes()->of_action(1, Pass::Forward, 0, 0));
    const ItemRef first = canvas.selected();
    QTest::keyClick(&canvas, Qt::Key_Right);
    QCOMPARE(canvas.selected(), (ItemRef{first.stage, first.lane, first.item + 1}));
    QTest::keyClick(&canvas, Qt::Key_Left);
    QCOMPARE(canvas.selected(), first);
    QTest::keyClick(&canvas, Qt::Key_Down);
    QCOMPARE(canvas.selected().stage, 2);
    QCOMPARE(state.stage(), 2);
    QCOMPARE(canvas.selected().lane, 0);
    QTest::keyClick(&canvas, Qt::Key_Up);
    QTest::keyClick(&canvas, Qt::Key_Up);
    QTest::keyClick(&canvas, Qt::Key_Up);
    QCOMPARE(canvas.selected().stage, 0);
    QTest::keyClick(&canvas, Qt::Key_Down, Qt::ShiftModifier);  // selects the stream below
    QCOMPARE(canvas.selected().lane, 1);
    QTest::keyClick(&canvas, Qt::Key_End);
    QCOMPARE(canvas.selected().item,
             static_cast<int>(view.lanes()->lane(canvas.selected()).items.size()) - 1);
    QTest::keyClick(&canvas, Qt::Key_Escape);
    QVERIFY(!canvas.selected().valid());
    const double from = canvas.view().from;
    QTest::keyClick(&canvas, Qt::Key_Plus);
    QTest::keyClick(&canvas, Qt::Key_Plus);
    const double zoomed = canvas.view().from;
    QVERIFY(zoomed > from);
    QTest::keyClick(&canvas, Qt::Key_Right);  // pans, because nothing is selected
    QVERIFY(canvas.view().from > zoomed);
    QTest::keyClick(&canvas, Qt::Key_0);
    QCOMPARE(canvas.view().from, from);
  }

  void zoomsAboutTheCursorAndPans() {
    Session session;
    SelectionState state(&session);
    pipelined(session);
    TimelineView view(&state);
    open(view);
    GanttCanvas& canvas = *view.canvas();
    const QPointF at(canvas.width() * 0.6, canvas.height() * 0.5);
    const double before = canvas.ganttLayout().seconds(at.x()), seconds = canvas.view().seconds;
    QWheelEvent wheel(at, canvas.mapToGlobal(at), {}, QPoint(0, 360), Qt::NoButton, Qt::ControlModifier,
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&canvas, &wheel);
    QVERIFY(canvas.view().seconds < 0.6 * seconds);
    QVERIFY(std::abs(canvas.ganttLayout().seconds(at.x()) - before) < 1e-6 * seconds);
    const double from = canvas.view().from;
    QTest::mousePress(&canvas, Qt::LeftButton, Qt::ShiftModifier, at.toPoint());
    for (int x = 0; x <= 60; x += 20) QTest::mouseMove(&canvas, at.toPoint() - QPoint(x, 0));
    QTest::mouseRelease(&canvas, Qt::LeftButton, Qt::ShiftModifier, at.toPoint() - QPoint(60, 0));
    QVERIFY(canvas.view().from > from);
    QVERIFY(!canvas.selected().valid());  // a drag does not count as a click
    for (int i = 0; i < 80; ++i) canvas.zoomBy(2);
    QVERIFY(canvas.view().seconds > 0);
    for (int i = 0; i < 80; ++i) canvas.zoomBy(0.5);
    QVERIFY(canvas.view().seconds <= session.estimate()->simulation->step_seconds * 1.05);
  }

  void findsMicrobatchesOpsAndCollectives() {
    Session session;
    SelectionState state(&session);
    pipelined(session);
    TimelineView view(&state);
    open(view);
    auto* field = view.findChild<QLineEdit*>("timeline_search");
    const auto found = [&] { return view.findChild<SearchField*>("timeline_search")->matchesText(); };
    field->setText("microbatch 3 backward");
    QCOMPARE(found(), QString("4 matches"));
    field->setText("stage 2 microbatch 3 forward");
    QCOMPARE(found(), QString("1 match"));
    QTest::keyClick(field, Qt::Key_Return);
    QCOMPARE(view.canvas()->selected(), view.lanes()->of_action(2, Pass::Forward, 3, 0));
    QCOMPARE(found(), QString("1 of 1"));
    field->setText("reduce-scatter");
    QVERIFY2(found() != "no match", qPrintable(found()));
    field->setText("swiglu");  // an op of every forward and backward of a layer
    QCOMPARE(found(), QString("%L1 matches").arg(2 * 4 * session.report()->microbatches));
    field->setText("nothing of the kind");
    QCOMPARE(found(), QString("no match"));
    QTest::keyClick(field, Qt::Key_Escape);
    QVERIFY(found().isEmpty());
    QVERIFY(view.canvas()->hasFocus());
  }

  void opsAppearWhenZoomedIn() {
    Session session;
    SelectionState state(&session);
    pipelined(session);
    TimelineView view(&state);
    GraphView graph(&state);
    open(view);
    graph.waitForGraph();
    GanttCanvas& canvas = *view.canvas();
    const ItemRef box = view.lanes()->of_action(1, Pass::Forward, 2, 0);
    QVERIFY(canvas.opsShown(box).empty());
    canvas.zoomTo(box);
    const std::vector<PlacedOp> ops = canvas.opsShown(box);
    QVERIFY(ops.size() > 20);
    const LaneItem& item = view.lanes()->item(box);
    for (size_t i = 0; i < ops.size(); ++i) {
      QVERIFY(ops[i].begin >= item.begin - 1e-9 && ops[i].end <= item.end + 1e-9);
      if (i > 0) QVERIFY(ops[i].begin >= ops[i - 1].end - 1e-9);
    }
    QVERIFY(std::abs(ops.back().end - item.end) < 1e-3 * (item.end - item.begin));
    size_t largest = 0;
    for (size_t i = 0; i < ops.size(); ++i)
      if (ops[i].end - ops[i].begin > ops[largest].end - ops[largest].begin) largest = i;
    const GanttLayout layout = canvas.ganttLayout();
    QTest::mouseClick(
        &canvas, Qt::LeftButton, {},
        QPointF(layout.x((ops[largest].begin + ops[largest].end) / 2), layout.rect(box).center().y())
            .toPoint());
    QCOMPARE(canvas.selectedOp(), static_cast<int>(largest));
    QCOMPARE(state.selection().kind, SelectionKind::Op);
    QCOMPARE(state.inspection().title, placed_op_title(*session.report(), ops[largest]));
    QCOMPARE(row_of(state.inspection(), "takes"), seconds_text(ops[largest].end - ops[largest].begin));
    QVERIFY(!state.inspection().values.isEmpty());  // the formulas of the op
    // The graph selects the same op.
    const NodeId& node = graph.canvas()->selected();
    QCOMPARE(node.level, NodeLevel::Op);
    QCOMPARE(node.op, ops[largest].op);
    QCOMPARE(node.unit, ops[largest].layer + 1);
    QCOMPARE(node.stage, 1);
  }

  void selectionOfAnotherViewIsHighlighted() {
    Session session;
    SelectionState state(&session);
    pipelined(session);
    state.setStage(1);
    TimelineView view(&state);
    CommunicationView communication(&state);
    open(communication);
    open(view);
    const StageReport& stage = session.report()->stages[1];
    for (size_t row = 0; row < stage.collectives.size(); ++row) {
      const CollectiveValue& value = stage.collectives[row];
      state.selectInAllViews(selectionOfCollective(stage, value), nullptr);
      const std::vector<ItemRef> out = matches(
          *view.lanes(), highlightOf(state.sharedResolvedSelection(),
                                     std::make_shared<const Lanes>(session.estimate()->simulation)));
      QVERIFY2(!out.empty(),
               qPrintable(QString::fromStdString(std::string(value.op.name()) + " over " + value.group)));
      for (const ItemRef& ref : out) QCOMPARE(ref.stage, 1);
    }
    // The other direction: a span of the timeline selects a row of the collectives table.
    int linked = 0;
    for (size_t i = 0; i < session.estimate()->simulation->stages[1].spans.size(); ++i) {
      const int row = collective_of_span(stage, *view.lanes(), static_cast<int>(i));
      if (row < 0 || linked++ > 3) continue;
      view.canvas()->select(view.lanes()->of_span(1, static_cast<int>(i)));
      QVERIFY(state.resolvedSelection().collective(1, stage.collectives[static_cast<size_t>(row)]));
      QCOMPARE(communication.table()->sorted()->mapToSource(communication.table()->currentIndex()).row(),
               row);
    }
    QVERIFY(linked > 0);
    Selection op;
    op.kind = SelectionKind::Op;
    op.stage = 2;
    op.unit = session.report()->stages[2].chunks[0].first_layer + 1;
    op.op = 0;
    const std::vector<ItemRef> forwards = matches(
        *view.lanes(), highlightOf(std::make_shared<const ResolvedSelection>(op, session.report(),
                                                                             session.estimate()->simulation),
                                   std::make_shared<const Lanes>(session.estimate()->simulation)));
    QCOMPARE(static_cast<int64_t>(forwards.size()), session.report()->microbatches);
    for (const ItemRef& ref : forwards) QCOMPARE(view.lanes()->item(ref).pass, Pass::Forward);
  }

  void criticalPathIsWhole() {
    Session session;
    SelectionState state(&session);
    pipelined(session);
    TimelineView view(&state);
    open(view);
    const QImage before = view.canvas()->grab().toImage();
    QTest::mouseClick(view.findChild<QPushButton*>("critical_path"), Qt::LeftButton);
    QVERIFY(view.canvas()->critical());
    QVERIFY(view.canvas()->grab().toImage() != before);
    const Simulation& s = *session.estimate()->simulation;
    double sum = 0;
    for (const CriticalPart& part : s.critical) {
      sum += part.end - part.begin;
      QVERIFY(view.lanes()->item(view.lanes()->of_span(part.stage, part.span)).critical);
    }
    QVERIFY(std::abs(sum - s.step_seconds) < 1e-6 * s.step_seconds);
  }

  void models() {
    Session session;
    pipelined(session);
    const auto lanes = std::make_shared<const Lanes>(session.estimate()->simulation);
    SpansModel spans;
    QAbstractItemModelTester tester(&spans, QAbstractItemModelTester::FailureReportingMode::QtTest);
    spans.setLanes(lanes, 1);
    spans.setLanes(lanes, SpansModel::kAllStages);
    QCOMPARE(static_cast<size_t>(spans.rowCount()), lanes->items());
    for (int row = 1; row < spans.rowCount(); ++row)
      if (spans.at(row).stage == spans.at(row - 1).stage)
        QVERIFY(lanes->item(spans.at(row)).begin >= lanes->item(spans.at(row - 1)).begin);
    QCOMPARE(spans.rowOf(spans.at(7)), 7);
    // The merged lanes are those of a stable sort.
    for (const bool all : {true, false}) {
      const auto wanted = [all](const ItemRef& ref) { return all || ref.item % 3 == 1; };
      std::vector<ItemRef> merged, sorted;
      lanes->add_by_begin(1, wanted, merged);
      for (int lane = 0; lane < static_cast<int>(lanes->of(1).size()); ++lane)
        for (int item = 0; item < static_cast<int>(lanes->of(1)[static_cast<size_t>(lane)].items.size());
             ++item)
          if (const ItemRef ref{1, lane, item}; wanted(ref)) sorted.push_back(ref);
      std::stable_sort(sorted.begin(), sorted.end(), [&](const ItemRef& a, const ItemRef& b) {
        return lanes->item(a).begin < lanes->item(b).begin;
      });
      QVERIFY(!sorted.empty() && merged == sorted);
    }
    spans.setLanes(nullptr, 0);
    QCOMPARE(spans.rowCount(), 0);
  }

  void saves() {
    Session session;
    SelectionState state(&session);
    pipelined(session);
    TimelineView view(&state);
    open(view);
    const Picture picture = view.picture();
    for (const SaveFormatInfo& info : save_formats()) {
      if (info.format == SaveFormat::Json) continue;  // only results of a search are saved as JSON
      const auto bytes = encoded(picture, info.format);
      QVERIFY2(std::holds_alternative<QByteArray>(bytes), qPrintable(info.label));
      QVERIFY(!std::get<QByteArray>(bytes).isEmpty());
    }
    const auto csv = QString::fromUtf8(std::get<QByteArray>(encoded(picture, SaveFormat::Csv)))
                         .split('\n', Qt::SkipEmptyParts);
    QCOMPARE(static_cast<size_t>(csv.size()), view.lanes()->items() + 1);
    const QJsonDocument trace = QJsonDocument::fromJson(
        std::get<QByteArray>(encoded(picture, SaveFormat::Trace)));
    const QJsonArray events = trace.object()["traceEvents"].toArray();
    size_t spans = 0, events_of_spans = 0, layers = 0, ops = 0;
    for (const StageTimes& stage : session.estimate()->simulation->stages) spans += stage.spans.size();
    for (const QJsonValue& event : events) {
      if (event["ph"].toString() != "X") continue;
      ++(event["cat"].toString() == "layer"        ? layers
         : event["args"].toObject().contains("op") ? ops
                                                   : events_of_spans);
    }
    QCOMPARE(events_of_spans, spans);
    QVERIFY(layers > spans && ops > layers);
  }

  void theTableScrollsToTheSelection() {
    Session session;
    SelectionState state(&session);
    set(session, {{"tp", "2"}, {"pp", "4"}, {"dp", "2"}, {"batch", "64"}, {"microbatch", "1"}});
    TimelineView view(&state);
    open(view);
    const ItemRef late = view.lanes()->of_action(2, Pass::Backward, 30, 0);
    view.canvas()->select(late);
    const int row = view.model()->rowOf(late);
    QVERIFY(row > 40);
    const QModelIndex shown = view.table()->selectionModel()->currentIndex();
    QCOMPARE(view.table()->sorted()->mapToSource(shown).row(), row);
    QVERIFY(!view.table()->isColumnHidden(shown.column()));
    QVERIFY(view.table()->viewport()->rect().intersects(view.table()->visualRect(shown)));
    open(view, {680, 600});
    QVERIFY(view.table()->horizontalHeader()->length() <= view.table()->viewport()->width());
  }

  void bothThemesAndSmallSizes() {
    Session session;
    SelectionState state(&session);
    pipelined(session);
    TimelineView view(&state);
    for (const QSize size : {QSize(560, 480), QSize(1600, 1000)})
      for (const Theme::Mode mode : {Theme::Mode::Light, Theme::Mode::Dark}) {
        Theme::instance().setMode(mode);
        open(view, size);
        const QImage image = view.canvas()->grab().toImage();
        const QPoint at = middle(*view.canvas(), view.lanes()->of_action(3, Pass::Backward, 2, 0)) +
                          QPoint(0, 8);
        QVERIFY(image.rect().contains(at * image.devicePixelRatio()));
      }
  }
};

QTEST_MAIN(TimelineTest)
#include "timeline_test.moc"
