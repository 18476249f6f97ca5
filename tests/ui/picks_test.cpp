// What is selected in one view is marked in all others: every way to select, by mouse and keys, against every view that marks. And what
// becomes of a selection when the design is edited.
#include <QLabel>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTabWidget>
#include <QTest>
#include <functional>
#include <map>
#include <memory>

#include "graph/product_kernels.h"
#include "offscreen.h"
#include "ui/charts/communication_view.h"
#include "ui/charts/compute_view.h"
#include "ui/charts/memory_curve.h"
#include "ui/charts/memory_view.h"
#include "ui/charts/mesh_view.h"
#include "ui/charts/roofline_canvas.h"
#include "ui/charts/stage_chart.h"
#include "ui/graph_view/graph_view.h"
#include "ui/graph_view/node_text.h"
#include "ui/main_window.h"
#include "ui/models/collectives_model.h"
#include "ui/models/roofline_model.h"
#include "ui/timeline/breakdown_bar.h"
#include "ui/timeline/gantt_canvas.h"
#include "ui/timeline/span_text.h"
#include "ui/timeline/spans_model.h"
#include "ui/timeline/timeline_view.h"
#include "ui/widgets/chart_table.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

using Marks = QMap<QString, QString>;

constexpr int kGraph = 0, kMemory = 1, kCompute = 2, kCommunication = 3, kTimeline = 4;
constexpr int kStage = 1;  // where things are selected

void set(Session& session, std::initializer_list<std::pair<const char*, const char*>> knobs) {
  for (const auto& [id, text] : knobs) {
    const std::optional<Problem> problem = session.setKnob(QString::fromLatin1(id), QString::fromLatin1(text));
    QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
  }
  session.waitForEstimate();
}

// Many names by their number.
QString few(const QStringList& names) {
  QStringList different;
  for (const QString& name : names)
    if (!different.contains(name)) different << name;
  return different.size() <= 5 ? different.join(QStringLiteral(", ")) : QStringLiteral("%1 names").arg(different.size());
}

}  // namespace

class PicksTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  std::unique_ptr<Session> session_;
  std::unique_ptr<MainWindow> window_;

  template <typename View>
  View* view() const { return window_->findChild<View*>(); }
  void show(int index) {
    window_->tabs()->setCurrentIndex(index);
    QCoreApplication::processEvents();
    view<GraphView>()->waitForGraph();
    QCoreApplication::processEvents();
  }
  const Report& report() const { return *session_->report(); }
  const StageReport& stage() const { return report().stages[kStage]; }

  static void clickRow(ChartTable* table, int row) {
    const QModelIndex index = table->sorted()->mapFromSource(table->sorted()->sourceModel()->index(row, 1));
    table->scrollTo(index);
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(index).center());
  }
  static void clickSegment(StageChart* chart, int series) {
    QTest::mouseClick(chart->findChild<QWidget*>(), Qt::LeftButton, {}, chart->segmentRect(kStage, series).center().toPoint());
  }
  int series(const StageChart* chart, const QString& label) const {
    for (size_t i = 0; i < chart->data().series.size(); ++i)
      if (chart->data().series[i].label == label) return static_cast<int>(i);
    return -1;
  }
  // A layer of the stage that is unfolded, and an op in it.
  NodeId node(const char* label) const {
    const Outline& outline = *view<GraphView>()->scene()->outline();
    const int unit = outline.units_of(kStage).front().first;
    const Segment& segment = outline.segment(outline.segment_of(unit));
    for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id)
      if (op_title(segment.op(id)) == QLatin1String(label)) return outline.op_node(unit, id, kStage);
    return {};
  }
  void clickNode(const NodeId& id) {
    GraphView* graph = view<GraphView>();
    graph->scene()->expandPath(id);
    graph->waitForGraph();
    graph->canvas()->fit();
    QTest::mouseClick(graph->canvas(), Qt::LeftButton, {}, graph->canvas()->nodeRect(id).center().toPoint());
    graph->waitForGraph();
  }

  // Every way to select, in its view.
  std::map<QString, std::function<void()>> sources() {
    const auto bar = [this](int tab, auto chart, const char* label) {
      return [this, tab, chart, label] {
        show(tab);
        clickSegment(chart(), series(chart(), QLatin1String(label)));
      };
    };
    return {
        {"graph op", [this] { show(kGraph); clickNode(node("Attention")); }},
        {"graph layer", [this] {
           show(kGraph);
           const Outline& outline = *view<GraphView>()->scene()->outline();
           clickNode(outline.unit_node(outline.units_of(kStage).front().first, kStage));
         }},
        {"timeline box", [this] {
           show(kTimeline);
           GanttCanvas* canvas = view<TimelineView>()->canvas();
           QTest::mouseClick(canvas, Qt::LeftButton, {}, canvas->ganttLayout().rect(view<TimelineView>()->lanes()->of_action(kStage, Pass::Backward, 3, 0)).center().toPoint());
         }},
        {"timeline row", [this] {
           show(kTimeline);
           session_->setStage(kStage);
           ChartTable* table = view<TimelineView>()->table();
           clickRow(table, 0);
           table->setFocus();
           QTest::keyClick(table, Qt::Key_Down);
         }},
        {"breakdown", [this] {
           show(kTimeline);
           BreakdownBar* bar = view<TimelineView>()->breakdown();
           QTest::mouseClick(bar, Qt::LeftButton, {}, bar->segment(TimeCategory::TensorComm).center().toPoint());
         }},
        {"breakdown by keys", [this] {
           show(kTimeline);
           BreakdownBar* bar = view<TimelineView>()->breakdown();
           bar->setFocus();
           QTest::keyClick(bar, Qt::Key_Home);
           QTest::keyClick(bar, Qt::Key_Right);
         }},
        {"memory bar", bar(kMemory, [this] { return view<MemoryView>()->chart(); }, "Activations")},
        {"memory bar by keys", [this] {
           show(kMemory);
           StageChart* chart = view<MemoryView>()->chart();
           chart->setFocus();
           QTest::keyClick(chart, Qt::Key_Home);
           QTest::keyClick(chart, Qt::Key_Right);
           QTest::keyClick(chart, Qt::Key_Up);
           QTest::keyClick(chart, Qt::Key_Up);
         }},
        {"memory curve", [this] {
           show(kMemory);
           session_->setStage(kStage);
           MemoryCurve* curve = view<MemoryView>()->curve();
           curve->setFocus();
           QTest::keyClick(curve, Qt::Key_Home);
         }},
        {"FLOPs bar", bar(kCompute, [this] { return view<ComputeView>()->chart(); }, "Attention, scan, forward")},
        {"FLOPs row", [this] {
           show(kCompute);
           session_->setStage(kStage);
           for (size_t i = 0; i < stage().flops.size(); ++i)
             if (stage().flops[i].kind == OpKind::Einsum && stage().flops[i].phase == Phase::Backward) return clickRow(view<ComputeView>()->table(), static_cast<int>(i));
         }},
        {"roofline point", [this] {
           show(kCompute);
           session_->setStage(kStage);
           view<ComputeView>()->setRooflineShown(true);
           RooflineCanvas* canvas = view<ComputeView>()->roofline();
           QTest::mouseClick(canvas, Qt::LeftButton, {}, canvas->place(static_cast<int>(canvas->data().points.size()) - 1).toPoint());
         }},
        {"roofline row", [this] {
           show(kCompute);
           session_->setStage(kStage);
           view<ComputeView>()->setRooflineShown(true);
           const RooflineCanvas* canvas = view<ComputeView>()->roofline();
           const int last = static_cast<int>(canvas->data().points.size()) - 1;
           for (int i = 0; i <= last; ++i)
             if (roofline_title(report(), canvas->data().points[static_cast<size_t>(i)]) == QLatin1String("QKV projection")) clickRow(view<ComputeView>()->rooflineTable(), last - i);
         }},
        {"collectives row", [this] {
           show(kCommunication);
           session_->setStage(kStage);
           for (size_t i = 0; i < stage().collectives.size(); ++i)
             if (stage().collectives[i].op == "reduce_scatter" && stage().collectives[i].phase == Phase::Forward) return clickRow(view<CommunicationView>()->table(), static_cast<int>(i));
         }},
        {"communication bar", [this] {
           show(kCommunication);
           clickSegment(view<CommunicationView>()->chart(), series(view<CommunicationView>()->chart(), "Data parallel (dp)"));
         }},
        {"mesh group", [this] {
           show(kCommunication);
           session_->setStage(kStage);
           view<CommunicationView>()->setMeshShown(true);
           for (QPushButton* chip : view<MeshView>()->chips())
             if (chip->property("group").toString() == "pp") QTest::mouseClick(chip, Qt::LeftButton);
         }},
    };
  }

  // What a view marks, in words.
  std::map<QString, std::function<QString()>> targets() {
    return {
        {"graph", [this] {
           show(kGraph);
           GraphView* graph = view<GraphView>();
           const Outline& outline = *graph->scene()->outline();
           const NodeId& selected = graph->canvas()->selected();
           QStringList out, ops;
           if (selected.level == NodeLevel::Op) out << op_title(outline.segment(outline.segment_of(selected.unit)).op(selected.op));
           else if (selected.level == NodeLevel::Unit) out << outline.unit_name(selected.unit, 1);
           const PickedOps& marks = graph->canvas()->pickedOps();
           for (int s = 0; s < static_cast<int>(outline.graph().segments.size()); ++s)
             for (OpId id = 0; id < static_cast<OpId>(outline.segment(s).ops.size()); ++id)
               if (marks.ops.has_op(s, id)) ops << op_title(outline.segment(s).op(id));
           if (!ops.isEmpty()) {
             const QString where = marks.stage < 0 ? QString("all stages") : QString("stage %1").arg(marks.stage);
             out << QString("ops: %1 (%2%3)").arg(few(ops), where, marks.first_unit < 0 ? QString() : QString(", units %1 to %2").arg(marks.first_unit).arg(marks.end_unit - 1));
           }
           return out.join("; ");
         }},
        {"timeline", [this] {
           show(kTimeline);
           const TimelineView* timeline = view<TimelineView>();
           const GanttCanvas* canvas = timeline->canvas();
           if (canvas->selected().valid()) return "box: " + item_title(*timeline->lanes(), canvas->selected());
           std::map<QString, int> boxes;
           for (const ItemRef& ref : timeline->boxesPicked()) ++boxes[QString("stage %1 %2").arg(ref.stage).arg(pass_label(timeline->lanes()->item(ref)))];
           if (boxes.size() > 4) return QString("%1 kinds of boxes").arg(boxes.size());
           QStringList out;
           for (const auto& [name, count] : boxes) out << QString("%1 %2").arg(count).arg(name);
           return out.join(", ");
         }},
        {"timeline table", [this] {
           show(kTimeline);
           const TimelineView* timeline = view<TimelineView>();
           QStringList out;
           const auto rows = timeline->table()->selectedSourceRows();
           for (const int row : rows) out << pass_label(timeline->lanes()->item(timeline->model()->at(row)));
           return out.isEmpty() ? QString() : QString("%1 rows: %2").arg(rows.size()).arg(few(out));
         }},
        {"breakdown", [this] {
           show(kTimeline);
           QStringList out;
           for (const int c : view<TimelineView>()->breakdown()->marked()) out << QString::fromUtf8(time_category_name(static_cast<TimeCategory>(c)).data());
           return few(out);
         }},
        {"memory bars", [this] {
           show(kMemory);
           return labels(view<MemoryView>()->chart());
         }},
        {"memory curve", [this] {
           show(kMemory);
           const MemoryCurve* curve = view<MemoryView>()->curve();
           if (const MemoryPoint* at = curve->marked()) {
             if (at->span < 0) return QString("between passes");
             const Span& span = session_->estimate()->simulation->stages[kStage].spans[static_cast<size_t>(at->span)];
             return QString("%1 of microbatch %2").arg(QString::fromUtf8(span_kind_label(span.kind).data())).arg(span.microbatch);
           }
           return curve->when().empty() ? QString() : QString("%1 times").arg(curve->when().size());
         }},
        {"FLOPs bars", [this] {
           show(kCompute);
           view<ComputeView>()->setRooflineShown(false);
           return labels(view<ComputeView>()->chart());
         }},
        {"FLOPs rows", [this] {
           show(kCompute);
           QStringList out;
           for (const int row : view<ComputeView>()->table()->selectedSourceRows()) {
             const FlopsValue& of = stage().flops[static_cast<size_t>(row)];
             out << QString("%1 %2").arg(QString::fromStdString(of.name()), QString::fromUtf8(phase_name(of.phase).data()));
           }
           return few(out);
         }},
        {"roofline", [this] {
           show(kCompute);
           view<ComputeView>()->setRooflineShown(true);
           const RooflineCanvas* canvas = view<ComputeView>()->roofline();
           QStringList out;
           for (const int i : canvas->marked()) out << roofline_title(report(), canvas->data().points[static_cast<size_t>(i)]);
           if (canvas->marked().size() == 1 && canvas->picked() != canvas->marked().front()) out << "not picked";
           if (view<ComputeView>()->rooflineTable()->selectedSourceRows().size() != canvas->marked().size()) out << "the table has others";
           return few(out);
         }},
        {"collectives", [this] {
           show(kCommunication);
           QStringList out;
           for (const int row : view<CommunicationView>()->table()->selectedSourceRows()) {
             const CollectiveValue& of = stage().collectives[static_cast<size_t>(row)];
             out << QString("%1 %2 %3").arg(QString::fromStdString(of.op), QString::fromStdString(of.group), QString::fromUtf8(phase_name(of.phase).data()));
           }
           return few(out);
         }},
        {"communication bars", [this] {
           show(kCommunication);
           view<CommunicationView>()->setMeshShown(false);
           return labels(view<CommunicationView>()->chart());
         }},
        {"mesh", [this] {
           show(kCommunication);
           view<CommunicationView>()->setMeshShown(true);
           QCoreApplication::processEvents();
           const QString group = view<MeshView>()->group();
           return session_->picked().group(kStage, group.toStdString()) ? group : QString();
         }},
    };
  }

  static QString labels(const StageChart* chart) {
    QStringList out;
    for (const int series : chart->marked()) out << chart->data().series[static_cast<size_t>(series)].label;
    return few(out);
  }

 private Q_SLOTS:
  void init() {
    Theme::instance().setMode(Theme::Mode::Light);
    session_ = std::make_unique<Session>();
    session_->applyPreset("llama3-8b");
    set(*session_, {{"tp", "2"}, {"pp", "4"}, {"dp", "2"}, {"batch", "16"}, {"microbatch", "1"}, {"sequence_parallel", "true"}});
    window_ = std::make_unique<MainWindow>(session_.get());
    window_->resize(1440, 900);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    QVERIFY(session_->estimated());
    session_->setStage(kStage);
  }
  void cleanup() {
    session_->undoStack()->setClean();
    window_.reset();
    session_.reset();
  }

  void whatIsSelectedIsMarkedEverywhere_data() {
    QTest::addColumn<Marks>("marks");  // by view; the others mark nothing
    QTest::newRow("FLOPs bar") << Marks{
        {"FLOPs bars", "Attention, scan, forward"}, {"FLOPs rows", "attention forward"}, {"breakdown", "attention"},
        {"graph", "ops: Attention (stage 1)"}, {"memory bars", "Activations"}, {"memory curve", "8 times"},
        {"roofline", "Attention"}, {"timeline", "8 stage 1 Forward"}, {"timeline table", "8 rows: Forward"}};
    QTest::newRow("FLOPs row") << Marks{
        {"FLOPs bars", "Matrix products, backward"}, {"FLOPs rows", "matmul backward"}, {"breakdown", "products"},
        {"graph", "ops: 14 names (stage 1)"}, {"memory bars", "Parameters, Gradients, Buffers"}, {"memory curve", "8 times"},
        {"roofline", "8 names"}, {"timeline", "8 stage 1 Backward"}, {"timeline table", "8 rows: Backward"}};
    QTest::newRow("breakdown") << Marks{
        {"breakdown", "tensor_comm"},
        {"collectives", "all_gather tp forward, reduce_scatter tp forward, all_gather tp backward, reduce_scatter tp backward"},
        {"communication bars", "Tensor parallel (tp)"}, {"graph", "ops: reduce-scatter tp, all-gather tp, all-reduce tp (all stages)"},
        {"memory curve", "11 times"}, {"timeline", "8 kinds of boxes"}, {"timeline table", "16 rows: Forward, Backward"},
        {"mesh", "tp"}};
    QTest::newRow("breakdown by keys") << Marks{
        {"FLOPs bars", "Attention, scan, forward, Attention, scan, backward"}, {"FLOPs rows", "attention forward, attention backward"},
        {"breakdown", "attention"}, {"graph", "ops: Attention, Attention, gradient (all stages)"}, {"memory bars", "Activations"},
        {"memory curve", "11 times"}, {"roofline", "Attention, Attention, gradient"}, {"timeline", "8 kinds of boxes"},
        {"timeline table", "16 rows: Forward, Backward"}};
    QTest::newRow("collectives row") << Marks{
        {"breakdown", "tensor_comm"}, {"collectives", "reduce_scatter tp forward"}, {"communication bars", "Tensor parallel (tp)"},
        {"graph", "reduce-scatter tp; ops: reduce-scatter tp (stage 1)"}, {"memory curve", "8 times"},
        {"timeline", "8 stage 1 Forward"}, {"timeline table", "8 rows: Forward"},
        {"mesh", "tp"}};
    QTest::newRow("communication bar") << Marks{
        {"breakdown", "data_comm"}, {"collectives", "all_reduce dp grad_reduce"}, {"communication bars", "Data parallel (dp)"},
        {"memory bars", "Gradients"}, {"memory curve", "1 times"}, {"mesh", "dp"}, {"timeline", "1 stage 1 Collective"},
        {"timeline table", "1 rows: Collective"}};
    QTest::newRow("graph layer") << Marks{
        {"FLOPs bars", "8 names"}, {"FLOPs rows", "12 names"}, {"breakdown", "products, attention, memory_bound, tensor_comm"},
        {"collectives", "all_gather tp forward, reduce_scatter tp forward, all_gather tp backward, reduce_scatter tp backward"},
        {"communication bars", "Tensor parallel (tp)"}, {"graph", "layer 8"}, {"memory bars", "Parameters, Gradients, Activations"},
        {"memory curve", "11 times"}, {"roofline", "24 names"}, {"timeline", "8 stage 1 Backward, 8 stage 1 Forward"},
        {"timeline table", "16 rows: Forward, Backward"},
        {"mesh", "tp"}};
    QTest::newRow("graph op") << Marks{
        {"FLOPs bars", "Attention, scan, forward"}, {"FLOPs rows", "attention forward"}, {"breakdown", "attention"},
        {"graph", "Attention"}, {"memory bars", "Activations"}, {"memory curve", "8 times"}, {"roofline", "Attention"},
        {"timeline", "8 stage 1 Forward"}, {"timeline table", "8 rows: Forward"}};
    QTest::newRow("memory bar") << Marks{
        {"FLOPs bars", "Matrix products, forward, Attention, scan, forward, Activation functions, forward, Norms and pointwise, forward"},
        {"FLOPs rows", "matmul forward, rms_norm forward, rope forward, attention forward, swiglu forward"},
        {"breakdown", "products, attention, memory_bound"}, {"graph", "ops: 9 names (stage 1)"}, {"memory bars", "Activations"},
        {"memory curve", "8 times"}, {"roofline", "9 names"}, {"timeline", "8 stage 1 Forward"},
        {"timeline table", "8 rows: Forward"}};
    QTest::newRow("memory bar by keys") << Marks{
        {"FLOPs bars", "Matrix products, backward, Norms and pointwise, backward"}, {"FLOPs rows", "matmul backward, rms_norm backward"},
        {"breakdown", "products, memory_bound, data_comm"}, {"collectives", "all_reduce dp grad_reduce, all_reduce tp grad_reduce"},
        {"communication bars", "Tensor parallel (tp), Data parallel (dp)"}, {"graph", "ops: 8 names (stage 1)"},
        {"memory bars", "Gradients"}, {"memory curve", "8 times"},
        {"roofline", "RMS norm, gradient, Output projection, weight gradient, QKV projection, weight gradient, Down projection, weight gradient, Gate and up projection, weight gradient"},
        {"timeline", "8 stage 1 Backward, 2 stage 1 Collective"}, {"timeline table", "10 rows: Backward, Collective"},
        {"mesh", "tp"}};
    QTest::newRow("memory curve") << Marks{
        {"FLOPs bars", "Matrix products, forward, Attention, scan, forward, Activation functions, forward, Norms and pointwise, forward"},
        {"FLOPs rows", "6 names"}, {"breakdown", "products, attention, memory_bound, tensor_comm"},
        {"collectives", "all_gather tp forward, reduce_scatter tp forward"}, {"communication bars", "Tensor parallel (tp)"},
        {"graph", "ops: 15 names (stage 1, units 9 to 16)"}, {"memory bars", "Parameters, Activations"},
        {"memory curve", "forward of microbatch 0"}, {"roofline", "10 names"}, {"timeline", "box: Forward, microbatch 0"},
        {"timeline table", "1 rows: Forward"},
        {"mesh", "tp"}};
    QTest::newRow("mesh group") << Marks{
        {"breakdown", "pipeline_comm"}, {"collectives", "recv pp pipeline, send pp pipeline"}, {"communication bars", "Pipeline (pp)"},
        {"memory curve", "29 times"}, {"mesh", "pp"}, {"timeline", "16 stage 1 Receive, 16 stage 1 Send"},
        {"timeline table", "32 rows: Receive, Send"}};
    QTest::newRow("roofline point") << Marks{
        {"FLOPs bars", "Attention, scan, backward"}, {"FLOPs rows", "attention backward"}, {"breakdown", "attention"},
        {"graph", "Attention, gradient; ops: Attention, gradient (stage 1, units 9 to 16)"}, {"memory curve", "8 times"},
        {"roofline", "Attention, gradient"}, {"timeline", "8 stage 1 Backward"}, {"timeline table", "8 rows: Backward"}};
    QTest::newRow("roofline row") << Marks{
        {"FLOPs bars", "Matrix products, forward"}, {"FLOPs rows", "matmul forward"}, {"breakdown", "products"},
        {"graph", "Q projection; ops: Q projection, K projection, V projection (stage 1, units 9 to 16)"},
        {"memory bars", "Parameters, Activations"}, {"memory curve", "8 times"}, {"roofline", "QKV projection"},
        {"timeline", "8 stage 1 Forward"}, {"timeline table", "8 rows: Forward"}};
    QTest::newRow("timeline box") << Marks{
       
        {"FLOPs bars", "Matrix products, backward, Attention, scan, backward, Activation functions, backward, Norms and pointwise, backward"},
        {"FLOPs rows", "6 names"}, {"breakdown", "products, attention, memory_bound, tensor_comm"},
        {"collectives", "all_gather tp backward, reduce_scatter tp backward"}, {"communication bars", "Tensor parallel (tp)"},
        {"graph", "ops: 22 names (stage 1, units 9 to 16)"}, {"memory bars", "Parameters, Gradients, Buffers"},
        {"memory curve", "backward of microbatch 3"}, {"roofline", "14 names"},
        {"timeline", "box: Backward, microbatch 3"}, {"timeline table", "1 rows: Backward"},
        {"mesh", "tp"}};
    QTest::newRow("timeline row") << Marks{
        {"breakdown", "pipeline_comm"}, {"collectives", "recv pp pipeline"}, {"communication bars", "Pipeline (pp)"},
        {"memory curve", "1 times"}, {"mesh", "pp"}, {"timeline", "box: Receive, microbatch 0"}, {"timeline table", "1 rows: Receive"}};
  }
  void whatIsSelectedIsMarkedEverywhere() {
    QFETCH(Marks, marks);
    const QString source = QTest::currentDataTag();
    sources().at(source)();
    QVERIFY(session_->pick().kind != PickKind::Nothing);
    QStringList wrong;
    for (const auto& [target, told] : targets())
      if (const QString is = told(); is != marks.value(target)) wrong << QString("%1: \"%2\", not \"%3\"").arg(target, is, marks.value(target));
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
  }

  // Things are found again by what they are: the op in the layer, though the graph has other ops before it and the layer is on another stage.
  void anEditKeepsWhatIsStillThere() {
    show(kGraph);
    clickNode(node("Attention"));
    const int unit = session_->pick().unit;
    set(*session_, {{"pp", "2"}, {"sequence_parallel", "false"}, {"batch", "32"}});
    view<GraphView>()->waitForGraph();
    QCOMPARE(session_->pick().kind, PickKind::Op);
    QCOMPARE(session_->pick().unit, unit);
    QCOMPARE(session_->pick().stage, 0);
    QCOMPARE(session_->stage(), 0);
    const Segment& layer = report().graph().segments[1];
    QCOMPARE(QString::fromStdString(layer.op(session_->pick().op).label), QString("Attention"));
    QCOMPARE(view<GraphView>()->canvas()->selected(), view<GraphView>()->scene()->outline()->op_node(unit, session_->pick().op, 0));
    QCOMPARE(session_->inspection().title, QString("Attention"));
    show(kCompute);
    QCOMPARE(view<ComputeView>()->table()->selectedSourceRows().size(), size_t{1});
  }

  void anEditDropsWhatIsGone() {
    show(kGraph);
    clickNode(node("reduce-scatter tp"));
    QCOMPARE(session_->pick().kind, PickKind::Op);
    set(*session_, {{"tp", "1"}});
    view<GraphView>()->waitForGraph();
    QCOMPARE(session_->pick().kind, PickKind::Nothing);
    QCOMPARE(view<GraphView>()->canvas()->selected().level, NodeLevel::Root);
    QVERIFY(session_->inspection().isEmpty());
  }

  // Rows and segments of what a change of the mode leaves, and of what it takes away; the inspector goes with them.
  void aChangeOfTheModeDropsWhatIsGone() {
    show(kMemory);
    clickSegment(view<MemoryView>()->chart(), series(view<MemoryView>()->chart(), "Gradients"));
    QCOMPARE(session_->inspection().title, QString("Gradients, stage 1"));
    set(*session_, {{"mode", "prefill"}});
    QVERIFY(session_->current());
    QCOMPARE(session_->pick().kind, PickKind::Nothing);
    QCOMPARE(session_->inspection().title, QString("Memory of stage 1"));
    QCOMPARE(view<MemoryView>()->chart()->pickedSeries(), int(StageChart::kWholeStage));
    clickSegment(view<MemoryView>()->chart(), series(view<MemoryView>()->chart(), "KV cache"));
    const QString cache = session_->inspection().title;
    QVERIFY(cache.endsWith(", stage 1") && cache != "Memory of stage 1");
    set(*session_, {{"mode", "decode"}});
    QCOMPARE(session_->inspection().title, cache);  // decode has one too
    set(*session_, {{"mode", "train"}});
    QCOMPARE(session_->pick().kind, PickKind::Nothing);
    QCOMPARE(session_->inspection().title, QString("Memory of stage 1"));
    show(kCompute);
    clickSegment(view<ComputeView>()->chart(), series(view<ComputeView>()->chart(), "Matrix products, backward"));
    set(*session_, {{"mode", "prefill"}});
    QCOMPARE(session_->pick().kind, PickKind::Nothing);
    QCOMPARE(session_->inspection().title, QString("Compute of stage 1"));
  }

  void aBoxOfTheTimelineIsFoundInTheNextStep() {
    sources().at("timeline box")();
    const QString title = session_->inspection().title;
    QVERIFY(title.contains("microbatch 3"));
    set(*session_, {{"batch", "32"}});
    QCOMPARE(session_->pick().kind, PickKind::Span);
    QCOMPARE(session_->inspection().title, title);
    QCOMPARE(targets().at("timeline")(), "box: " + title);
    set(*session_, {{"batch", "4"}});  // two microbatches
    QCOMPARE(session_->pick().kind, PickKind::Nothing);
    QCOMPARE(targets().at("timeline")(), QString());
    QVERIFY(session_->inspection().title.startsWith("One step"));
    set(*session_, {{"batch", "16"}});
    sources().at("breakdown")();
    set(*session_, {{"tp", "1"}});  // no exposed tp communication
    QCOMPARE(session_->pick().kind, PickKind::Nothing);
  }

  // Rows go with the stage where it has the same; what has its own place in the model stays there.
  void anotherStage() {
    sources().at("collectives row")();
    const Pick row = session_->pick();
    session_->setStage(3);
    QCOMPARE(session_->pick().stage, 3);
    QCOMPARE(session_->pick().collective, row.collective);
    show(kCommunication);
    QCOMPARE(view<CommunicationView>()->table()->selectedSourceRows().size(), size_t{1});
    sources().at("graph op")();
    session_->setStage(0);
    QCOMPARE(session_->pick().stage, kStage);
    show(kCompute);
    QVERIFY(view<ComputeView>()->table()->selectedSourceRows().empty());
    session_->setStage(kStage);
    QCOMPARE(view<ComputeView>()->table()->selectedSourceRows().size(), size_t{1});
  }

  // Selecting in one stage of the graph is selecting the stage; another document has nothing selected.
  void theStageGoesWithIt() {
    session_->setStage(3);
    sources().at("graph op")();
    QCOMPARE(session_->stage(), kStage);
    session_->reset(session_->design());
    QCOMPARE(session_->pick().kind, PickKind::Nothing);
  }

  // The window says what is marked, whatever view is shown, and lets go of it.
  void theWindowSaysWhatIsMarked() {
    auto* bar = window_->findChild<QWidget*>("pick_bar");
    const auto words = [&] { return bar->isVisible() ? window_->findChild<QLabel*>("pick_words")->text() : QString(); };
    QCOMPARE(words(), QString());
    for (const auto& [source, said] : {std::pair{"graph layer", "Layer 8"}, {"graph op", "Attention, layer 8"}, {"breakdown", "Tensor-parallel communication"}, {"timeline box", "Backward of microbatch 3, stage 1"},
                                       {"memory bar", "Activations, stage 1"}, {"FLOPs row", "Matmul, backward, stage 1"}, {"FLOPs bar", "Attention, scan, forward, stage 1"}, {"roofline row", "QKV projection, layers 8 … 15"},
                                       {"collectives row", "Reduce-scatter over tp, forward, stage 1"}, {"communication bar", "Data parallel (dp), stage 1"}}) {
      sources().at(source)();
      QCOMPARE(words(), QString("Marked: %1").arg(QString::fromUtf8(said)));
    }
    QTest::mouseClick(window_->findChild<QPushButton*>("pick_clear"), Qt::LeftButton);
    QCOMPARE(words(), QString());
    QCOMPARE(session_->pick().kind, PickKind::Nothing);
    QVERIFY(view<CommunicationView>()->chart()->marked().empty());
  }

  // Every row of every table is of something in the graph, or of what a step has besides.
  void everyRowHasItsOps() {
    for (const StageReport& of : report().stages) {
      for (const FlopsValue& row : of.flops) {
        Pick pick;
        pick.kind = PickKind::Flops;
        pick.stage = of.stage;
        pick.phase = row.phase;
        pick.flops = flops_group(row.kind);
        pick.row = {row.kind, row.compute};
        const Picked picked(pick, session_->report(), session_->estimate());
        QVERIFY2(picked.anyOps() || row.kind == OpKind::Optimizer, row.name().c_str());
        for (const FlopsValue& other : of.flops) QCOMPARE(picked.flops(of.stage, other), &other == &row);
        QVERIFY(!picked.flops((of.stage + 1) % 4, row));
      }
      for (const CollectiveValue& row : of.collectives) {
        const Picked picked(pick_of_row(of, row), session_->report(), session_->estimate());
        for (const CollectiveValue& other : of.collectives) QCOMPARE(picked.collective(of.stage, other), &other == &row);
        const std::vector<Span>& spans = session_->estimate()->simulation->stages[static_cast<size_t>(of.stage)].spans;
        bool runs = false;
        for (size_t i = 0; i < spans.size(); ++i) runs = runs || picked.span(of.stage, static_cast<int>(i));
        QVERIFY2(runs, (row.op + " over " + row.group).c_str());
      }
    }
  }
};

QTEST_MAIN(PicksTest)
#include "picks_test.moc"
