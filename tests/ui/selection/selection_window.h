// Base of selection tests: a window, every way to select a thing in it, and the marks of every view as text.
#pragma once

#include <QLabel>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTabWidget>
#include <QTest>
#include <functional>
#include <map>
#include <memory>

#include "ui/plot/chart_table.h"
#include "ui/plot/stage_chart.h"
#include "ui/shell/main_window.h"
#include "ui/toolkit/graph_text.h"
#include "ui/toolkit/theme.h"
#include "ui/views/communication/collectives_model.h"
#include "ui/views/communication/communication_view.h"
#include "ui/views/communication/mesh_view.h"
#include "ui/views/compute/compute_view.h"
#include "ui/views/compute/roofline_canvas.h"
#include "ui/views/compute/roofline_model.h"
#include "ui/views/graph/graph_view.h"
#include "ui/views/memory/memory_curve.h"
#include "ui/views/memory/memory_view.h"
#include "ui/views/timeline/breakdown_bar.h"
#include "ui/views/timeline/gantt_canvas.h"
#include "ui/views/timeline/span_text.h"
#include "ui/views/timeline/spans_model.h"
#include "ui/views/timeline/timeline_view.h"

namespace shardscape::ui {

using Marks = QMap<QString, QString>;

inline constexpr int kGraph = 0, kMemory = 1, kCompute = 2, kCommunication = 3, kTimeline = 4;
inline constexpr int kStage = 1;  // the stage in which tests select

inline void set(Session& session, std::initializer_list<std::pair<const char*, const char*>> knobs) {
  for (const auto& [id, text] : knobs) {
    const std::optional<Problem> problem = session.setKnob(QString::fromLatin1(id),
                                                           QString::fromLatin1(text));
    QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
  }
  session.waitForEstimate();
}

// The different names, or only their number if there are more than five.
inline QString few(const QStringList& names) {
  QStringList different;
  for (const QString& name : names)
    if (!different.contains(name)) different << name;
  return different.size() <= 5 ? different.join(QStringLiteral(", "))
                               : QStringLiteral("%1 names").arg(different.size());
}

class SelectionWindow : public QObject {
 protected:
  std::unique_ptr<Session> session_;
  std::unique_ptr<MainWindow> window_;

  void begin() {
    Theme::instance().setMode(Theme::Mode::Light);
    session_ = std::make_unique<Session>();
    session_->applyPreset("llama3-8b");
  }
  // Opens the window with the present design of the session.
  void open() {
    window_ = std::make_unique<MainWindow>(session_.get());
    window_->resize(1440, 900);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    QVERIFY(session_->estimated());
    window_->selection()->setStage(kStage);
  }
  void close() {
    session_->undoStack()->setClean();
    window_.reset();
    session_.reset();
  }

  template <typename View>
  View* view() const {
    return window_->findChild<View*>();
  }
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
    QTest::mouseClick(chart, Qt::LeftButton, {}, chart->segmentRect(kStage, series).center().toPoint());
  }
  int series(const StageChart* chart, const QString& label) const {
    for (size_t i = 0; i < chart->data().series.size(); ++i)
      if (chart->data().series[i].label == label) return static_cast<int>(i);
    return -1;
  }
  // The op with this label in the first layer of the stage.
  NodeId node(const char* label) const {
    const GraphTree& tree = *view<GraphView>()->scene()->tree();
    const int unit = tree.units_of(kStage).front().first;
    const Segment& segment = tree.segment(tree.segment_of(unit));
    for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id)
      if (op_title(segment.op(id)) == QLatin1String(label)) return tree.op_node(unit, id, kStage);
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

  // Clicks the segment of a chart.
  template <typename Chart>
  std::function<void()> bar(int tab, Chart chart, const char* label) {
    return [this, tab, chart, label] {
      show(tab);
      clickSegment(chart(), series(chart(), QLatin1String(label)));
    };
  }

  // Every way to select, by name.
  std::map<QString, std::function<void()>> sources() {
    auto all = graphAndStepSources();
    all.merge(chartSources());
    return all;
  }
  std::map<QString, std::function<void()>> graphAndStepSources() {
    return {
        {"graph op",
         [this] {
           show(kGraph);
           clickNode(node("Attention"));
         }},
        {"graph layer",
         [this] {
           show(kGraph);
           const GraphTree& tree = *view<GraphView>()->scene()->tree();
           clickNode(tree.unit_node(tree.units_of(kStage).front().first, kStage));
         }},
        {"timeline box",
         [this] {
           show(kTimeline);
           GanttCanvas* canvas = view<TimelineView>()->canvas();
           QTest::mouseClick(canvas, Qt::LeftButton, {},
                             canvas->ganttLayout()
                                 .rect(view<TimelineView>()->lanes()->of_action(kStage, Pass::Backward, 3, 0))
                                 .center()
                                 .toPoint());
         }},
        {"timeline row",
         [this] {
           show(kTimeline);
           window_->selection()->setStage(kStage);
           ChartTable* table = view<TimelineView>()->table();
           clickRow(table, 0);
           table->setFocus();
           QTest::keyClick(table, Qt::Key_Down);
         }},
        {"breakdown",
         [this] {
           show(kTimeline);
           BreakdownBar* bar = view<TimelineView>()->breakdown();
           QTest::mouseClick(bar, Qt::LeftButton, {},
                             bar->segment(TimeCategory::TensorComm).center().toPoint());
         }},
        {"breakdown by keys",
         [this] {
           show(kTimeline);
           BreakdownBar* bar = view<TimelineView>()->breakdown();
           bar->setFocus();
           QTest::keyClick(bar, Qt::Key_Home);
           QTest::keyClick(bar, Qt::Key_Right);
         }},
        {"breakdown, products",
         [this] {
           show(kTimeline);
           BreakdownBar* bar = view<TimelineView>()->breakdown();
           QTest::mouseClick(bar, Qt::LeftButton, {},
                             bar->segment(TimeCategory::MatrixProducts).center().toPoint());
         }},
        {"memory bar", bar(
                           kMemory, [this] { return view<MemoryView>()->chart(); }, "Activations")},
        {"memory bar by keys",
         [this] {
           show(kMemory);
           StageChart* chart = view<MemoryView>()->chart();
           chart->setFocus();
           QTest::keyClick(chart, Qt::Key_Home);
           QTest::keyClick(chart, Qt::Key_Right);
           QTest::keyClick(chart, Qt::Key_Up);
           QTest::keyClick(chart, Qt::Key_Up);
         }},
    };
  }
  std::map<QString, std::function<void()>> chartSources() {
    return {
        {"memory curve",
         [this] {
           show(kMemory);
           window_->selection()->setStage(kStage);
           MemoryCurve* curve = view<MemoryView>()->curve();
           curve->setFocus();
           QTest::keyClick(curve, Qt::Key_Home);
         }},
        {"FLOPs bar",
         bar(
             kCompute, [this] { return view<ComputeView>()->chart(); }, "Attention, scan, forward")},
        {"FLOPs row",
         [this] {
           show(kCompute);
           window_->selection()->setStage(kStage);
           for (size_t i = 0; i < stage().flops.size(); ++i)
             if (stage().flops[i].kind == OpKind::Einsum && stage().flops[i].phase == Phase::Backward)
               return clickRow(view<ComputeView>()->table(), static_cast<int>(i));
         }},
        {"roofline point",
         [this] {
           show(kCompute);
           window_->selection()->setStage(kStage);
           view<ComputeView>()->setAlternativeShown(true);
           RooflineCanvas* canvas = view<ComputeView>()->roofline();
           QTest::mouseClick(canvas, Qt::LeftButton, {},
                             canvas->place(static_cast<int>(canvas->data().points.size()) - 1).toPoint());
         }},
        {"roofline row",
         [this] {
           show(kCompute);
           window_->selection()->setStage(kStage);
           view<ComputeView>()->setAlternativeShown(true);
           const RooflineCanvas* canvas = view<ComputeView>()->roofline();
           const int last = static_cast<int>(canvas->data().points.size()) - 1;
           for (int i = 0; i <= last; ++i)
             if (roofline_title(report(), canvas->data().points[static_cast<size_t>(i)]) ==
                 QLatin1String("QKV projection"))
               clickRow(view<ComputeView>()->rooflineTable(), last - i);
         }},
        {"collectives row",
         [this] {
           show(kCommunication);
           window_->selection()->setStage(kStage);
           for (size_t i = 0; i < stage().collectives.size(); ++i)
             if (stage().collectives[i].op == CollectiveKind::ReduceScatter &&
                 stage().collectives[i].phase == Phase::Forward)
               return clickRow(view<CommunicationView>()->table(), static_cast<int>(i));
         }},
        {"communication bar",
         [this] {
           show(kCommunication);
           clickSegment(view<CommunicationView>()->chart(),
                        series(view<CommunicationView>()->chart(), "Data parallel (dp)"));
         }},
        {"mesh group",
         [this] {
           show(kCommunication);
           window_->selection()->setStage(kStage);
           view<CommunicationView>()->setAlternativeShown(true);
           for (QPushButton* chip : view<MeshView>()->chips())
             if (chip->property("group").toString() == "pp") QTest::mouseClick(chip, Qt::LeftButton);
         }},
    };
  }

  // The marks of every view, as text.
  std::map<QString, std::function<QString()>> targets() {
    auto all = graphAndStepTargets();
    all.merge(memoryAndComputeTargets());
    all.merge(communicationTargets());
    return all;
  }
  std::map<QString, std::function<QString()>> graphAndStepTargets() {
    return {
        {"graph",
         [this] {
           show(kGraph);
           GraphView* graph = view<GraphView>();
           const GraphTree& tree = *graph->scene()->tree();
           const NodeId& selected = graph->canvas()->selected();
           QStringList out, ops;
           if (selected.level == NodeLevel::Op)
             out << op_title(tree.segment(tree.segment_of(selected.unit)).op(selected.op));
           else if (selected.level == NodeLevel::Unit)
             out << tree.unit_name(selected.unit, 1);
           const SelectedOps& marks = graph->canvas()->selectedOps();
           for (int s = 0; s < static_cast<int>(tree.graph().segments.size()); ++s)
             for (OpId id = 0; id < static_cast<OpId>(tree.segment(s).ops.size()); ++id)
               if (marks.ops.has_op(s, id)) ops << op_title(tree.segment(s).op(id));
           if (!ops.isEmpty()) {
             const QString where = marks.stage < 0 ? QString("all stages")
                                                   : QString("stage %1").arg(marks.stage);
             out << QString("ops: %1 (%2%3)")
                        .arg(few(ops), where,
                             marks.first_unit < 0
                                 ? QString()
                                 : QString(", units %1 to %2").arg(marks.first_unit).arg(marks.end_unit - 1));
           }
           return out.join("; ");
         }},
        {"timeline",
         [this] {
           show(kTimeline);
           const TimelineView* timeline = view<TimelineView>();
           const GanttCanvas* canvas = timeline->canvas();
           if (canvas->selected().valid())
             return "box: " + item_title(*timeline->lanes(), canvas->selected());
           std::map<QString, int> boxes;
           for (const ItemRef& ref : timeline->selectedBoxes())
             ++boxes[QString("stage %1 %2").arg(ref.stage).arg(pass_label(timeline->lanes()->item(ref)))];
           if (boxes.size() > 4) return QString("%1 kinds of boxes").arg(boxes.size());
           QStringList out;
           for (const auto& [name, count] : boxes) out << QString("%1 %2").arg(count).arg(name);
           return out.join(", ");
         }},
        {"timeline table",
         [this] {
           show(kTimeline);
           const TimelineView* timeline = view<TimelineView>();
           QStringList out;
           const auto rows = timeline->table()->selectedSourceRows();
           for (const int row : rows) out << pass_label(timeline->lanes()->item(timeline->model()->at(row)));
           return out.isEmpty() ? QString() : QString("%1 rows: %2").arg(rows.size()).arg(few(out));
         }},
        {"breakdown",
         [this] {
           show(kTimeline);
           QStringList out;
           for (const int c : view<TimelineView>()->breakdown()->marked())
             out << QString::fromUtf8(time_category_name(static_cast<TimeCategory>(c)).data());
           return few(out);
         }},
    };
  }
  std::map<QString, std::function<QString()>> memoryAndComputeTargets() {
    return {
        {"memory bars",
         [this] {
           show(kMemory);
           return labels(view<MemoryView>()->chart());
         }},
        {"memory curve",
         [this] {
           show(kMemory);
           const MemoryCurve* curve = view<MemoryView>()->curve();
           if (const MemoryPoint* at = curve->marked()) {
             if (at->span < 0) return QString("between passes");
             const Span&
                 span = session_->estimate()->simulation->stages[kStage].spans[static_cast<size_t>(at->span)];
             return QString("%1 of microbatch %2")
                 .arg(QString::fromUtf8(span_kind_label(span.kind).data()))
                 .arg(span.microbatch);
           }
           return curve->when().empty() ? QString() : QString("%1 times").arg(curve->when().size());
         }},
        {"FLOPs bars",
         [this] {
           show(kCompute);
           view<ComputeView>()->setAlternativeShown(false);
           return labels(view<ComputeView>()->chart());
         }},
        {"FLOPs rows",
         [this] {
           show(kCompute);
           QStringList out;
           for (const int row : view<ComputeView>()->table()->selectedSourceRows()) {
             const FlopsValue& of = stage().flops[static_cast<size_t>(row)];
             out << QString("%1 %2").arg(QString::fromStdString(of.name()),
                                         QString::fromUtf8(phase_name(of.phase).data()));
           }
           return few(out);
         }},
        {"roofline",
         [this] {
           show(kCompute);
           view<ComputeView>()->setAlternativeShown(true);
           const RooflineCanvas* canvas = view<ComputeView>()->roofline();
           QStringList out;
           for (const int i : canvas->marked())
             out << roofline_title(report(), canvas->data().points[static_cast<size_t>(i)]);
           if (canvas->marked().size() == 1 && canvas->selected() != canvas->marked().front())
             out << "not selected";
           if (view<ComputeView>()->rooflineTable()->selectedSourceRows().size() != canvas->marked().size())
             out << "the table has others";
           return few(out);
         }},
    };
  }
  std::map<QString, std::function<QString()>> communicationTargets() {
    return {
        {"collectives",
         [this] {
           show(kCommunication);
           QStringList out;
           for (const int row : view<CommunicationView>()->table()->selectedSourceRows()) {
             const CollectiveValue& of = stage().collectives[static_cast<size_t>(row)];
             out << QString("%1 %2 %3")
                        .arg(QString::fromUtf8(of.op.name()), QString::fromStdString(of.group),
                             QString::fromUtf8(phase_name(of.phase).data()));
           }
           return few(out);
         }},
        {"communication bars",
         [this] {
           show(kCommunication);
           view<CommunicationView>()->setAlternativeShown(false);
           return labels(view<CommunicationView>()->chart());
         }},
        {"mesh",
         [this] {
           show(kCommunication);
           view<CommunicationView>()->setAlternativeShown(true);
           QCoreApplication::processEvents();
           const QString group = view<MeshView>()->group();
           return window_->selection()->resolvedSelection().group(kStage, group.toStdString()) ? group
                                                                                               : QString();
         }},
    };
  }

  static QString labels(const StageChart* chart) {
    QStringList out;
    for (const int series : chart->marked()) out << chart->data().series[static_cast<size_t>(series)].label;
    return few(out);
  }
};

}  // namespace shardscape::ui
