// A selection in one view is marked in all others: every way to select, by mouse and keys, checked in every
// view. Also: selections after an edit of the design.
#include <QElapsedTimer>
#include <QPushButton>
#include <QTest>
#include <algorithm>
#include <set>

#include "graph/chunk_layers.h"
#include "offscreen.h"
#include "plan/report.h"
#include "selection_window.h"
#include "support/designs.h"
#include "ui/selection/collective_selection.h"
#include "ui/selection/step_relations.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

// The marks of each selection, by view. Views that are not listed mark nothing.
void add_rows_of_bars_and_tables() {
  QTest::newRow("FLOPs bar") << Marks{{"FLOPs bars", "Attention, scan, forward"},
                                      {"FLOPs rows", "attention forward"},
                                      {"breakdown", "attention"},
                                      {"graph", "ops: Attention (stage 1)"},
                                      {"memory bars", "Activations"},
                                      {"memory curve", "8 times"},
                                      {"roofline", "Attention"},
                                      {"timeline", "8 stage 1 Forward"},
                                      {"timeline table", "8 rows: Forward"}};
  QTest::newRow("FLOPs row") << Marks{{"FLOPs bars", "Matrix products, backward"},
                                      {"FLOPs rows", "matmul backward"},
                                      {"breakdown", "products"},
                                      {"graph", "ops: 14 names (stage 1)"},
                                      {"memory bars", "Parameters, Gradients, Buffers"},
                                      {"memory curve", "8 times"},
                                      {"roofline", "8 names"},
                                      {"timeline", "8 stage 1 Backward"},
                                      {"timeline table", "8 rows: Backward"}};
  QTest::newRow("breakdown") << Marks{
      {"breakdown", "tensor_comm"},
      {"collectives",
       "all_gather tp forward, reduce_scatter tp forward, all_gather tp backward, reduce_scatter tp "
       "backward"},
      {"communication bars", "Tensor parallel (tp)"},
      {"graph", "ops: reduce-scatter tp, all-gather tp, all-reduce tp (all stages)"},
      {"memory curve", "11 times"},
      {"timeline", "8 kinds of boxes"},
      {"timeline table", "16 rows: Forward, Backward"},
      {"mesh", "tp"}};
  QTest::newRow("breakdown by keys") << Marks{
      {"FLOPs bars", "Attention, scan, forward, Attention, scan, backward"},
      {"FLOPs rows", "attention forward, attention backward"},
      {"breakdown", "attention"},
      {"graph", "ops: Attention, Attention, gradient (all stages)"},
      {"memory bars", "Activations"},
      {"memory curve", "11 times"},
      {"roofline", "Attention, Attention, gradient"},
      {"timeline", "8 kinds of boxes"},
      {"timeline table", "16 rows: Forward, Backward"}};
  // All matrix products of a kernel that computes several of them.
  QTest::newRow("breakdown, products")
      << Marks{{"FLOPs bars", "Matrix products, forward, Matrix products, backward"},
               {"FLOPs rows", "matmul forward, matmul backward"},
               {"breakdown", "products"},
               {"graph", "ops: 21 names (all stages)"},
               {"memory bars", "Parameters, Gradients, Activations, Logits and loss, Buffers"},
               {"memory curve", "11 times"},
               {"roofline", "12 names"},
               {"timeline", "8 kinds of boxes"},
               {"timeline table", "16 rows: Forward, Backward"}};
  QTest::newRow("collectives row") << Marks{{"breakdown", "tensor_comm"},
                                            {"collectives", "reduce_scatter tp forward"},
                                            {"communication bars", "Tensor parallel (tp)"},
                                            {"graph", "reduce-scatter tp; ops: reduce-scatter tp (stage 1)"},
                                            {"memory curve", "8 times"},
                                            {"timeline", "8 stage 1 Forward"},
                                            {"timeline table", "8 rows: Forward"},
                                            {"mesh", "tp"}};
  QTest::newRow("communication bar") << Marks{{"breakdown", "data_comm"},
                                              {"collectives", "all_reduce dp grad_reduce"},
                                              {"communication bars", "Data parallel (dp)"},
                                              {"memory bars", "Gradients"},
                                              {"memory curve", "1 times"},
                                              {"mesh", "dp"},
                                              {"timeline", "1 stage 1 Collective"},
                                              {"timeline table", "1 rows: Collective"}};
}

void add_rows_of_graph_and_memory() {
  QTest::newRow("graph layer") << Marks{{"FLOPs bars", "8 names"},
                                        {"FLOPs rows", "12 names"},
                                        {"breakdown", "products, attention, memory_bound, tensor_comm"},
                                        {"collectives",
                                         "all_gather tp forward, reduce_scatter tp forward, all_gather tp "
                                         "backward, reduce_scatter tp backward"},
                                        {"communication bars", "Tensor parallel (tp)"},
                                        {"graph", "layer 8"},
                                        {"memory bars", "Parameters, Gradients, Activations"},
                                        {"memory curve", "11 times"},
                                        {"roofline", "24 names"},
                                        {"timeline", "8 stage 1 Backward, 8 stage 1 Forward"},
                                        {"timeline table", "16 rows: Forward, Backward"},
                                        {"mesh", "tp"}};
  QTest::newRow("graph op") << Marks{{"FLOPs bars", "Attention, scan, forward"},
                                     {"FLOPs rows", "attention forward"},
                                     {"breakdown", "attention"},
                                     {"graph", "Attention"},
                                     {"memory bars", "Activations"},
                                     {"memory curve", "8 times"},
                                     {"roofline", "Attention"},
                                     {"timeline", "8 stage 1 Forward"},
                                     {"timeline table", "8 rows: Forward"}};
  QTest::newRow("memory bar") << Marks{
      {"FLOPs bars",
       "Matrix products, forward, Attention, scan, forward, Activation functions, forward, Norms and "
       "pointwise, forward"},
      {"FLOPs rows", "matmul forward, rms_norm forward, rope forward, attention forward, swiglu forward"},
      {"breakdown", "products, attention, memory_bound"},
      {"graph", "ops: 9 names (stage 1)"},
      {"memory bars", "Activations"},
      {"memory curve", "8 times"},
      {"roofline", "9 names"},
      {"timeline", "8 stage 1 Forward"},
      {"timeline table", "8 rows: Forward"}};
  QTest::newRow("memory bar by keys")
      << Marks{{"FLOPs bars", "Matrix products, backward, Norms and pointwise, backward"},
               {"FLOPs rows", "matmul backward, rms_norm backward"},
               {"breakdown", "products, memory_bound, data_comm"},
               {"collectives", "all_reduce dp grad_reduce, all_reduce tp grad_reduce"},
               {"communication bars", "Tensor parallel (tp), Data parallel (dp)"},
               {"graph", "ops: 8 names (stage 1)"},
               {"memory bars", "Gradients"},
               {"memory curve", "8 times"},
               {"roofline",
                "RMS norm, gradient, Output projection, weight gradient, QKV projection, weight gradient, "
                "Down projection, weight gradient, Gate and up projection, weight gradient"},
               {"timeline", "8 stage 1 Backward, 2 stage 1 Collective"},
               {"timeline table", "10 rows: Backward, Collective"},
               {"mesh", "tp"}};
}

void add_rows_of_curve_mesh_roofline_and_timeline() {
  QTest::newRow("memory curve") << Marks{
      {"FLOPs bars",
       "Matrix products, forward, Attention, scan, forward, Activation functions, forward, Norms and "
       "pointwise, forward"},
      {"FLOPs rows", "6 names"},
      {"breakdown", "products, attention, memory_bound, tensor_comm"},
      {"collectives", "all_gather tp forward, reduce_scatter tp forward"},
      {"communication bars", "Tensor parallel (tp)"},
      {"graph", "ops: 15 names (stage 1, units 9 to 16)"},
      {"memory bars", "Parameters, Activations"},
      {"memory curve", "forward of microbatch 0"},
      {"roofline", "10 names"},
      {"timeline", "box: Forward, microbatch 0"},
      {"timeline table", "1 rows: Forward"},
      {"mesh", "tp"}};
  QTest::newRow("mesh group") << Marks{{"breakdown", "pipeline_comm"},
                                       {"collectives", "recv pp pipeline, send pp pipeline"},
                                       {"communication bars", "Pipeline (pp)"},
                                       {"memory curve", "29 times"},
                                       {"mesh", "pp"},
                                       {"timeline", "16 stage 1 Receive, 16 stage 1 Send"},
                                       {"timeline table", "32 rows: Receive, Send"}};
  QTest::newRow("roofline point") << Marks{
      {"FLOPs bars", "Attention, scan, backward"},
      {"FLOPs rows", "attention backward"},
      {"breakdown", "attention"},
      {"graph", "Attention, gradient; ops: Attention, gradient (stage 1, units 9 to 16)"},
      {"memory curve", "8 times"},
      {"roofline", "Attention, gradient"},
      {"timeline", "8 stage 1 Backward"},
      {"timeline table", "8 rows: Backward"}};
  QTest::newRow("roofline row") << Marks{
      {"FLOPs bars", "Matrix products, forward"},
      {"FLOPs rows", "matmul forward"},
      {"breakdown", "products"},
      {"graph", "Q projection; ops: Q projection, K projection, V projection (stage 1, units 9 to 16)"},
      {"memory bars", "Parameters, Activations"},
      {"memory curve", "8 times"},
      {"roofline", "QKV projection"},
      {"timeline", "8 stage 1 Forward"},
      {"timeline table", "8 rows: Forward"}};
  QTest::newRow("timeline box") << Marks{

      {"FLOPs bars",
       "Matrix products, backward, Attention, scan, backward, Activation functions, backward, Norms and "
       "pointwise, backward"},
      {"FLOPs rows", "6 names"},
      {"breakdown", "products, attention, memory_bound, tensor_comm"},
      {"collectives", "all_gather tp backward, reduce_scatter tp backward"},
      {"communication bars", "Tensor parallel (tp)"},
      {"graph", "ops: 22 names (stage 1, units 9 to 16)"},
      {"memory bars", "Parameters, Gradients, Buffers"},
      {"memory curve", "backward of microbatch 3"},
      {"roofline", "14 names"},
      {"timeline", "box: Backward, microbatch 3"},
      {"timeline table", "1 rows: Backward"},
      {"mesh", "tp"}};
  QTest::newRow("timeline row") << Marks{{"breakdown", "pipeline_comm"},
                                         {"collectives", "recv pp pipeline"},
                                         {"communication bars", "Pipeline (pp)"},
                                         {"memory curve", "1 times"},
                                         {"mesh", "pp"},
                                         {"timeline", "box: Receive, microbatch 0"},
                                         {"timeline table", "1 rows: Receive"}};
}

}  // namespace

class SelectionTest : public SelectionWindow {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() {
    begin();
    set(*session_, {{"tp", "2"},
                    {"pp", "4"},
                    {"dp", "2"},
                    {"batch", "16"},
                    {"microbatch", "1"},
                    {"sequence_parallel", "true"}});
    open();
  }
  void cleanup() { close(); }

  void selectionsAreMarkedInAllViews_data() {
    QTest::addColumn<Marks>("marks");
    add_rows_of_bars_and_tables();
    add_rows_of_graph_and_memory();
    add_rows_of_curve_mesh_roofline_and_timeline();
  }
  void selectionsAreMarkedInAllViews() {
    QFETCH(Marks, marks);
    const QString source = QTest::currentDataTag();
    sources().at(source)();
    QVERIFY(window_->selection()->selection().kind != SelectionKind::Nothing);
    QStringList wrong;
    for (const auto& [target, told] : targets())
      if (const QString is = told(); is != marks.value(target))
        wrong << QString("%1: \"%2\", not \"%3\"").arg(target, is, marks.value(target));
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
  }

  // An edit remaps the selection to the same op of the same layer, although the index of the op and the stage
  // of the layer change.
  void anEditRemapsTheSelection() {
    show(kGraph);
    clickNode(node("Attention"));
    const int unit = window_->selection()->selection().unit;
    set(*session_, {{"pp", "2"}, {"sequence_parallel", "false"}, {"batch", "32"}});
    view<GraphView>()->waitForGraph();
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Op);
    QCOMPARE(window_->selection()->selection().unit, unit);
    QCOMPARE(window_->selection()->selection().stage, 0);
    QCOMPARE(window_->selection()->stage(), 0);
    const Segment& layer = report().graph().segments[1];
    QCOMPARE(QString::fromStdString(layer.op(window_->selection()->selection().op).label),
             QString("Attention"));
    QCOMPARE(view<GraphView>()->canvas()->selected(),
             view<GraphView>()->scene()->tree()->op_node(unit, window_->selection()->selection().op, 0));
    QCOMPARE(window_->selection()->inspection().title, QString("Attention"));
    show(kCompute);
    QCOMPARE(view<ComputeView>()->table()->selectedSourceRows().size(), size_t{1});
  }

  void anEditClearsASelectionThatIsGone() {
    show(kGraph);
    clickNode(node("reduce-scatter tp"));
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Op);
    set(*session_, {{"tp", "1"}});
    view<GraphView>()->waitForGraph();
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Nothing);
    QCOMPARE(view<GraphView>()->canvas()->selected().level, NodeLevel::Root);
    QVERIFY(window_->selection()->inspection().isEmpty());
  }

  // A change of the mode keeps selected rows and segments that still exist, and clears others. The inspector
  // follows.
  void aChangeOfTheModeClearsASelectionThatIsGone() {
    show(kMemory);
    clickSegment(view<MemoryView>()->chart(), series(view<MemoryView>()->chart(), "Gradients"));
    QCOMPARE(window_->selection()->inspection().title, QString("Gradients, stage 1"));
    set(*session_, {{"mode", "prefill"}});
    QVERIFY(session_->current());
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Nothing);
    QCOMPARE(window_->selection()->inspection().title, QString("Memory of stage 1"));
    QCOMPARE(view<MemoryView>()->chart()->selectedSeries(), int(StageChart::kWholeStage));
    clickSegment(view<MemoryView>()->chart(), series(view<MemoryView>()->chart(), "KV cache"));
    const QString cache = window_->selection()->inspection().title;
    QVERIFY(cache.endsWith(", stage 1") && cache != "Memory of stage 1");
    set(*session_, {{"mode", "decode"}});
    QCOMPARE(window_->selection()->inspection().title, cache);  // decode has a KV cache too
    set(*session_, {{"mode", "train"}});
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Nothing);
    QCOMPARE(window_->selection()->inspection().title, QString("Memory of stage 1"));
    show(kCompute);
    clickSegment(view<ComputeView>()->chart(),
                 series(view<ComputeView>()->chart(), "Matrix products, backward"));
    set(*session_, {{"mode", "prefill"}});
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Nothing);
    QCOMPARE(window_->selection()->inspection().title, QString("Compute of stage 1"));
  }

  void aBoxOfTheTimelineIsRemappedToTheNextStep() {
    sources().at("timeline box")();
    const QString title = window_->selection()->inspection().title;
    QVERIFY(title.contains("microbatch 3"));
    set(*session_, {{"batch", "32"}});
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Span);
    QCOMPARE(window_->selection()->inspection().title, title);
    QCOMPARE(targets().at("timeline")(), "box: " + title);
    set(*session_, {{"batch", "4"}});  // two microbatches
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Nothing);
    QCOMPARE(targets().at("timeline")(), QString());
    QVERIFY(window_->selection()->inspection().title.startsWith("One step"));
    set(*session_, {{"batch", "16"}});
    sources().at("breakdown")();
    set(*session_, {{"tp", "1"}});  // no exposed tp communication
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Nothing);
  }

  // A selected table row moves to the new stage if that stage has the row. A selected op stays on its stage.
  void anotherStage() {
    sources().at("collectives row")();
    const Selection row = window_->selection()->selection();
    window_->selection()->setStage(3);
    QCOMPARE(window_->selection()->selection().stage, 3);
    QVERIFY(window_->selection()->selection().collective == row.collective);
    show(kCommunication);
    QCOMPARE(view<CommunicationView>()->table()->selectedSourceRows().size(), size_t{1});
    sources().at("graph op")();
    window_->selection()->setStage(0);
    QCOMPARE(window_->selection()->selection().stage, kStage);
    show(kCompute);
    QVERIFY(view<ComputeView>()->table()->selectedSourceRows().empty());
    window_->selection()->setStage(kStage);
    QCOMPARE(view<ComputeView>()->table()->selectedSourceRows().size(), size_t{1});
  }

  // A selection in the graph also selects its stage. Another document begins without a selection.
  void aSelectedNodeSelectsItsStage() {
    window_->selection()->setStage(3);
    sources().at("graph op")();
    QCOMPARE(window_->selection()->stage(), kStage);
    session_->reset(session_->design());
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Nothing);
  }

  // Selections in a step with 616,000 ops and 128 microbatches.
  void aLargeStepIsMarked() {
    session_->applyPreset("llama3.1-405b");
    set(*session_, {{"tp", "8"},
                    {"pp", "16"},
                    {"dp", "8"},
                    {"batch", "1024"},
                    {"account_for_embedding_in_pipeline_split", "true"},
                    {"account_for_loss_in_pipeline_split", "true"},
                    {"virtual_stages", "8"}});
    QVERIFY2(session_->estimated() && session_->estimate()->simulation,
             session_->problems().empty() ? "" : to_string(session_->problems()[0]).c_str());
    for (const int tab : {kGraph, kMemory, kCompute, kCommunication, kTimeline}) {
      show(tab);
      for (const TimeCategory category : {TimeCategory::MatrixProducts, TimeCategory::PipelineComm}) {
        Selection selection;
        selection.kind = SelectionKind::Time;
        selection.time = category;
        QElapsedTimer timer;
        timer.start();
        window_->selection()->selectInAllViews(selection, this);
        QCoreApplication::processEvents();
        qInfo("view %d, %s: %lld ms", tab, std::string(time_category_name(category)).c_str(),
              static_cast<long long>(timer.elapsed()));
        QVERIFY(window_->selection()->selection() == selection &&
                !window_->selection()->resolvedSelection().nothing());
      }
    }
  }

  // Every view shows the name of the selection, with a button that clears the selection.
  void theWindowSaysWhatIsMarked() {
    auto* bar = window_->findChild<QWidget*>("selection_bar");
    const auto words = [&] {
      return bar->isVisible() ? window_->findChild<QLabel*>("selection_words")->text() : QString();
    };
    QCOMPARE(words(), QString());
    for (const auto& [source, said] : {std::pair{"graph layer", "Layer 8"},
                                       {"graph op", "Attention, layer 8"},
                                       {"breakdown", "Tensor-parallel communication"},
                                       {"timeline box", "Backward of microbatch 3, stage 1"},
                                       {"memory bar", "Activations, stage 1"},
                                       {"FLOPs row", "Matmul, backward, stage 1"},
                                       {"FLOPs bar", "Attention, scan, forward, stage 1"},
                                       {"roofline row", "QKV projection, layers 8 … 15"},
                                       {"collectives row", "Reduce-scatter over tp, forward, stage 1"},
                                       {"communication bar", "Data parallel (dp), stage 1"}}) {
      sources().at(source)();
      QCOMPARE(words(), QString("Selected: %1").arg(QString::fromUtf8(said)));
    }
    QTest::mouseClick(window_->findChild<QPushButton*>("selection_clear"), Qt::LeftButton);
    QCOMPARE(words(), QString());
    QCOMPARE(window_->selection()->selection().kind, SelectionKind::Nothing);
    QVERIFY(view<CommunicationView>()->chart()->marked().empty());
  }

  // The first units are the instances of a vision tower in order; a segment has the unit of its first.
  void theUnitsOfAVisionTower() {
    Design design = test::tower_design();
    design.model.vision_layers = 5;
    const auto made = make_report(design);
    QVERIFY2(made && made->valid(), made && !made->problems.empty() ? made->problems[0].what.c_str() : "");
    const std::vector<TowerInstance> tower = tower_instances(made->graph(), design.model);
    QVERIFY(tower.size() > 5);
    QCOMPARE(embedding_unit(*made), static_cast<int>(tower.size()));
    std::set<int> segments;
    for (int unit = 0; unit < static_cast<int>(tower.size()); ++unit) {
      const int segment = tower[static_cast<size_t>(unit)].segment;
      QCOMPARE(segment_of_unit(*made, unit), segment);
      if (segments.insert(segment).second) QCOMPARE(unit_of(*made, segment, -1), unit);
    }
    QCOMPARE(segment_of_unit(*made, embedding_unit(*made)), 0);
    segments.insert(0);
    const std::set<int> first = segments_of(*made, 0, 0);
    QVERIFY(std::includes(first.begin(), first.end(), segments.begin(), segments.end()));
  }

  // Every table row resolves to ops of the graph or to spans of the step.
  void everyRowHasItsOps() {
    for (const StageReport& of : report().stages) {
      for (const FlopsValue& row : of.flops) {
        Selection selection;
        selection.kind = SelectionKind::Flops;
        selection.stage = of.stage;
        selection.phase = row.phase;
        selection.flops = flops_group(row.kind);
        selection.row = {row.kind, row.compute};
        const ResolvedSelection resolved(selection, session_->report(), session_->estimate()->simulation);
        QVERIFY2(resolved.anyOps() || row.kind == OpKind::Optimizer, row.name().c_str());
        for (const FlopsValue& other : of.flops) QCOMPARE(resolved.flops(of.stage, other), &other == &row);
        QVERIFY(!resolved.flops((of.stage + 1) % 4, row));
      }
      for (const CollectiveValue& row : of.collectives) {
        const ResolvedSelection resolved(selectionOfCollective(of, row), session_->report(),
                                         session_->estimate()->simulation);
        for (const CollectiveValue& other : of.collectives)
          QCOMPARE(resolved.collective(of.stage, other), &other == &row);
        const std::vector<Span>&
            spans = session_->estimate()->simulation->stages[static_cast<size_t>(of.stage)].spans;
        bool runs = false;
        for (size_t i = 0; i < spans.size(); ++i) runs = runs || resolved.span(of.stage, static_cast<int>(i));
        QVERIFY2(runs, (std::string(row.op.name()) + " over " + row.group).c_str());
      }
    }
  }
};

QTEST_MAIN(SelectionTest)
#include "selection_test.moc"
