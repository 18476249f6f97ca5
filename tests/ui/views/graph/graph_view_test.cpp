// The graph view, driven by clicks and keys on a real design.
#include <QApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>
#include <algorithm>

#include "graph_window.h"
#include "ui/inspector/saved_edges.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

QPushButton* button(QWidget* in, const QString& text) {
  for (auto* candidate : in->findChildren<QPushButton*>())
    if (candidate->text() == text) return candidate;
  return nullptr;
}

OpId op_named(const Segment& segment, const std::string& label, bool backward = false) {
  for (size_t i = 0; i < segment.ops.size(); ++i)
    if (segment.ops[i].label == label && (static_cast<OpId>(i) >= segment.backward_begin) == backward)
      return static_cast<OpId>(i);
  return -1;
}

OpId op_of_kind(const Segment& segment, OpKind kind) {
  for (size_t i = 0; i < segment.ops.size(); ++i)
    if (segment.ops[i].kind == kind) return static_cast<OpId>(i);
  return -1;
}

// The number of overlapping pieces, and of lines without an end, in a sheet.
int faults(const Sheet& sheet) {
  int count = 0;
  for (size_t i = 0; i < sheet.pieces.size(); ++i) {
    for (size_t j = i + 1; j < sheet.pieces.size(); ++j)
      count += sheet.pieces[i].rect.intersects(sheet.pieces[j].rect);
    if (sheet.pieces[i].inside) count += faults(*sheet.pieces[i].inside);
  }
  for (const Wire& wire : sheet.wires) count += wire.path.isEmpty() || (wire.upper < 0 && wire.lower < 0);
  return count;
}

}  // namespace

class GraphViewTest : public GraphTest {
  Q_OBJECT

 private Q_SLOTS:
  void init() { openView(); }
  void cleanup() { closeView(); }

  void opensFolded() {
    const Sheet& root = *view_->scene()->sheet();
    QCOMPARE(root.pieces.size(), size_t{2});
    QVERIFY(root.pieces[0].inside);
    const auto& units = root.pieces[0].inside->pieces;
    QCOMPARE(units.size(), size_t{2});
    QCOMPARE(units[0].title.text, QString("Embedding"));
    QCOMPARE(units[1].title.text, QString("layers 0 … 15"));
    QVERIFY(units[1].detail.text.startsWith("16 × the same"));
    QVERIFY(!canvas()->nodeRect(unit(1)).isEmpty());
    QVERIFY(canvas()->grab().toImage().pixelColor(2, 2).isValid());
  }

  void unfoldsByClicking() {
    const QRectF before = canvas()->nodeRect(unit(1));
    canvas()->select(unit(1));
    QCOMPARE(state_->inspection().title, QString("Layers 0 … 15"));
    click(unit(1));
    QCOMPARE(state_->inspection().title, QString("Layer 0"));
    QVERIFY(view_->scene()->isExpanded(unit(1)));
    const QRectF frame = canvas()->nodeRect(unit(1));
    QVERIFY(frame.height() > before.height());
    // The other layers of the run stay folded below this layer.
    QVERIFY(canvas()->nodeRect(unit(2)).top() > frame.bottom());
    const NodeId attention = tree().parent(op("Q projection"));
    QCOMPARE(attention.level, NodeLevel::Block);
    const QPointF top(canvas()->nodeRect(attention).center().x(), canvas()->nodeRect(attention).top());
    click(attention);
    QVERIFY(!canvas()->nodeRect(op("Q projection")).isEmpty());
    QVERIFY(qAbs(canvas()->nodeRect(attention).top() - top.y()) < 2);  // unfolding does not move the block
    QVERIFY(qAbs(canvas()->nodeRect(attention).center().x() - top.x()) < 2);
    QCOMPARE(faults(*view_->scene()->sheet()), 0);
    click(op("Q projection"));
    QCOMPARE(state_->inspection().title, QString("Q projection"));
    QCOMPARE(state_->inspection().subtitle, QString("layer 0, forward, stage 0"));
    // The triangle in the corner of the block folds it.
    const QRectF open = canvas()->nodeRect(attention);
    QTest::mouseClick(canvas(), Qt::LeftButton, {}, (open.topLeft() + QPointF(18, 15)).toPoint());
    view_->waitForGraph();
    QVERIFY(canvas()->nodeRect(op("Q projection")).isEmpty());
  }

  void inspectorIsFilled() {
    canvas()->reveal(op("Q projection"));
    view_->waitForGraph();
    const Inspection shown = state_->inspection();
    QStringList labels;
    for (const InspectedValue& value : shown.values) {
      labels << value.label;
      QVERIFY2(!value.formula.isEmpty() && !value.value.isEmpty(), qPrintable(value.label));
    }
    QVERIFY(labels.first().startsWith("FLOPs"));
    QVERIFY(labels.contains("Bytes read") && labels.contains("Bytes written") &&
            labels.contains("Saved for backward"));
    QCOMPARE(shown.values.first().formula, QString("2·b·S·D·H·E/tp"));
    QVERIFY(std::any_of(shown.rows.begin(), shown.rows.end(),
                        [](const auto& row) { return row.second.startsWith("[b, S, H/tp, E]"); }));
  }

  void collectiveSaysWhy() {
    const Segment& layer = tree().segment(1);
    const OpId gather = op_of_kind(layer, OpKind::AllGather);
    QVERIFY(gather >= 0);
    canvas()->reveal(tree().op_node(1, gather));
    view_->waitForGraph();
    click(tree().op_node(1, gather));
    const Inspection shown = state_->inspection();
    QCOMPARE(shown.title, QString("All-gather tp"));
    QCOMPARE(shown.why_title, QString("Why is this collective here?"));
    // The text names tensors without their block, like the rows.
    QCOMPARE(shown.why, QString::fromStdString(redistribution(layer.op(gather)).why)
                            .replace(" leaves n1.y as ", " leaves y as "));
    QVERIFY(std::any_of(shown.rows.begin(), shown.rows.end(),
                        [](const auto& row) { return row.first == "reads y"; }));
    QVERIFY(std::any_of(shown.values.begin(), shown.values.end(),
                        [](const auto& v) { return v.label == "Bytes of the full buffer"; }));
  }

  void clickOnALineShowsTheTensor() {
    click(unit(1));
    const Segment& layer = tree().segment(1);
    const TensorId tensor = layer.op(op_named(layer, "RMS norm")).outputs.front();
    const QPointF at = canvas()->wirePoint(1, tensor);
    QVERIFY(!at.isNull());
    QTest::mouseClick(canvas(), Qt::LeftButton, {}, at.toPoint());
    QCOMPARE(state_->inspection().title, QString::fromStdString(layer.tensor(tensor).name));
    QVERIFY(std::any_of(state_->inspection().rows.begin(), state_->inspection().rows.end(),
                        [](const auto& row) { return row.first == "placement"; }));
  }

  void placementsOnLines() {
    click(unit(1));
    QStringList labels;
    const auto collect = [&](const auto& self, const Sheet& sheet) -> void {
      for (const Wire& wire : sheet.wires) labels << wire.label.text;
      for (const Piece& piece : sheet.pieces)
        if (piece.inside) self(self, *piece.inside);
    };
    collect(collect, *view_->scene()->sheet());
    QVERIFY(labels.contains("Shard(seq) on tp"));
    QVERIFY(labels.contains("Replicate"));
    QVERIFY(labels.contains("Partial(sum) on tp"));
    QVERIFY(labels.contains("send [b, S/tp, D]"));
  }

  void walksByKeys() {
    canvas()->setFocus();
    canvas()->select(unit(0));
    key(Qt::Key_Down);
    QCOMPARE(canvas()->selected(), unit(1));
    key(Qt::Key_Right);  // unfolds
    QVERIFY(view_->scene()->isExpanded(unit(1)));
    key(Qt::Key_Right);  // selects the first op inside
    QCOMPARE(canvas()->selected(), op("RMS norm"));
    QCOMPARE(state_->inspection().title, QString("RMS norm"));
    for (const auto& row : state_->inspection().rows) QVERIFY(row.first != "einsum");
    key(Qt::Key_Down);
    QVERIFY(canvas()->selected().op >= 0 &&
            tree().segment(1).op(canvas()->selected().op).kind == OpKind::AllGather);
    key(Qt::Key_Down);
    const NodeId attention = tree().parent(op("Q projection"));
    QCOMPARE(canvas()->selected(), attention);
    key(Qt::Key_Return);
    QVERIFY(view_->scene()->isExpanded(attention));
    canvas()->select(op("K projection"));
    key(Qt::Key_Left);
    QCOMPARE(canvas()->selected(), op("Q projection"));
    key(Qt::Key_Right);
    QCOMPARE(canvas()->selected(), op("K projection"));
    key(Qt::Key_Up);  // leaves the block, to the op before it
    QVERIFY(tree().segment(1).op(canvas()->selected().op).kind == OpKind::AllGather);
    key(Qt::Key_Left);  // no neighbour, so the container is selected
    QCOMPARE(canvas()->selected(), unit(1));
    key(Qt::Key_Left);
    QVERIFY(!view_->scene()->isExpanded(unit(1)));
    QVERIFY(!canvas()->accessibleDescription().isEmpty());
    key(Qt::Key_Escape);
    QCOMPARE(canvas()->selected(), NodeId());
    QVERIFY(state_->inspection().isEmpty());
  }

  void zoomsAndFits() {
    canvas()->setFocus();
    const double zoom = canvas()->zoom();
    key(Qt::Key_Plus);
    QVERIFY(canvas()->zoom() > zoom);
    key(Qt::Key_Minus);
    key(Qt::Key_Minus);
    QVERIFY(canvas()->zoom() < zoom);
    QTest::mouseClick(button(view_.get(), "+"), Qt::LeftButton);
    click(unit(1));
    key(Qt::Key_Asterisk);  // unfolds everything inside
    view_->waitForGraph();
    QVERIFY(!canvas()->nodeRect(op("Down projection")).isEmpty());
    QTest::mouseClick(button(view_.get(), "Fit"), Qt::LeftButton);
    QVERIFY(QRectF(canvas()->rect()).contains(canvas()->nodeRect(tree().stage_node(0))));
    QVERIFY(QRectF(canvas()->rect()).contains(canvas()->nodeRect(tree().stage_node(1))));
  }

  void wheelZoomsAtTheCursor() {
    const QRectF before = canvas()->nodeRect(unit(0));
    const QPointF at = before.center();
    QWheelEvent wheel(at, canvas()->mapToGlobal(at), {}, {0, -240}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(canvas(), &wheel);
    const QRectF after = canvas()->nodeRect(unit(0));
    QVERIFY(after.width() < before.width());
    QVERIFY((after.center() - at).manhattanLength() < 4);
  }

  void draggingPans() {
    const QPointF before = canvas()->nodeRect(unit(0)).topLeft();
    const QPoint from(40, 600);
    QTest::mousePress(canvas(), Qt::LeftButton, {}, from);
    QTest::mouseMove(canvas(), from + QPoint(30, -20));
    QTest::mouseMove(canvas(), from + QPoint(60, -50));
    QTest::mouseRelease(canvas(), Qt::LeftButton, {}, from + QPoint(60, -50));
    QCOMPARE(canvas()->nodeRect(unit(0)).topLeft(), before + QPointF(60, -50));
  }

  void searchFindsAndUnfolds() {
    canvas()->setFocus();
    QTest::keyClick(canvas(), Qt::Key_F, Qt::ControlModifier);
    auto* field = view_->findChild<QLineEdit*>("graph_search");
    QCOMPARE(view_->focusWidget(), field);
    QTest::keyClicks(field, "down proj");
    auto* count = view_->findChild<QLabel*>("match_count");
    QCOMPARE(count->text(), QString("2 matches"));  // one per run of equal layers
    QTest::keyClick(field, Qt::Key_Return);
    view_->waitForGraph();
    QCOMPARE(count->text(), QString("1 of 2"));
    QCOMPARE(canvas()->selected(), op("Down projection"));
    QVERIFY(QRectF(canvas()->rect()).contains(canvas()->nodeRect(op("Down projection"))));
    QTest::keyClick(field, Qt::Key_Return);
    view_->waitForGraph();
    QCOMPARE(canvas()->selected(), tree().op_node(17, op("Down projection").op));
    QTest::keyClick(field, Qt::Key_Return, Qt::ShiftModifier);
    view_->waitForGraph();
    QCOMPARE(canvas()->selected(), op("Down projection"));
    field->clear();
    QTest::keyClicks(field, "no such op");
    QCOMPARE(count->text(), QString("no match"));
    QTest::keyClick(field, Qt::Key_Escape);
    QVERIFY(field->text().isEmpty());
    QCOMPARE(view_->focusWidget(), canvas());
  }

  void matchesTakeNoRoomFromTheBar() {
    view_->resize(660, 600);
    auto* field = view_->findChild<QLineEdit*>("graph_search");
    auto* count = view_->findChild<QLabel*>("match_count");
    const int least = view_->minimumSizeHint().width(), width = field->width();
    field->setText("proj");
    QTest::qWait(1);
    QVERIFY(count->isVisible());
    QVERIFY(field->rect().contains(count->geometry()));
    QCOMPARE(view_->minimumSizeHint().width(), least);
    QCOMPARE(field->width(), width);
    QVERIFY(
        view_->rect().contains(QRect(button(view_.get(), "Fit")->mapTo(view_.get(), QPoint()), QSize(1, 1))));
  }

  // Under DualPipe two stages hold the same layers. Both show the layers. A selection on a stage is shown on
  // that stage.
  void mirroredStagesShowWhatTheyHold() {
    for (const auto& [knob, text] : {std::pair{"pp", "4"}, {"batch", "32"}, {"schedule", "dualpipe"}})
      QVERIFY(!session_->setKnob(knob, text));
    session_->waitForReport();
    QVERIFY2(session_->current(),
             session_->problems().empty() ? "" : to_string(session_->problems()[0]).c_str());
    view_->waitForGraph();
    const GraphTree& tree = *view_->scene()->tree();
    for (int stage = 0; stage < 4; ++stage) QCOMPARE(tree.units_of(stage), tree.units_of(3 - stage));
    for (int stage = 0; stage < 4; ++stage) {
      const Piece& piece = view_->scene()->sheet()->pieces[static_cast<size_t>(stage)];
      QVERIFY(piece.inside && !piece.inside->pieces.empty());
      QVERIFY(piece.detail.text.contains(QString("as on stage %1").arg(3 - stage)));
    }
    const NodeId there = tree.unit_node(1, 3);
    QCOMPARE(there.stage, 3);
    QVERIFY(there != tree.unit_node(1));
    view_->scene()->expand(there);
    view_->waitForGraph();
    QVERIFY(view_->scene()->isExpanded(there) && !view_->scene()->isExpanded(tree.unit_node(1)));
    Selection selection;
    selection.kind = SelectionKind::Op;
    selection.stage = 3;
    selection.unit = 1;
    selection.op = op("Down projection").op;
    state_->selectInAllViews(selection, this);
    view_->waitForGraph();
    QCOMPARE(canvas()->selected().stage, 3);
    QCOMPARE(faults(*view_->scene()->sheet()), 0);
  }

  // Another view sets the inspector while this view is hidden. When shown, this view sets it back.
  void theInspectorIsTakenBackWhenTheViewReturns() {
    canvas()->select(unit(1));
    const QString title = state_->inspection().title;
    Inspection other;
    other.title = "other";
    view_->hide();
    state_->inspect(other);
    session_->setUnits(UnitSystem::Decimal);
    QCOMPARE(state_->inspection().title, QString("other"));
    view_->show();
    QCOMPARE(state_->inspection().title, title);
    canvas()->clearSelection();
    view_->hide();
    state_->inspect(other);
    view_->show();
    QVERIFY(state_->inspection().isEmpty());
  }

  void searchKnowsShapesAndGroups() {
    auto* field = view_->findChild<QLineEdit*>("graph_search");
    auto* count = view_->findChild<QLabel*>("match_count");
    field->setText("[b, S, F/tp]");
    QVERIFY(count->text().endsWith("matches"));
    field->setText("all_gather tp");
    QVERIFY(count->text().endsWith("matches"));
  }

  void bothDirectionsAndSavedEdges() {
    QTest::mouseClick(button(view_.get(), "Both"), Qt::LeftButton);
    view_->waitForGraph();
    canvas()->select(unit(1));
    canvas()->setFocus();
    key(Qt::Key_Asterisk);
    const Segment& layer = tree().segment(1);
    const OpId attention = op_of_kind(layer, OpKind::Attention);
    const auto edges = saved_edges(layer, attention);
    QVERIFY(!edges.empty());
    for (const SavedEdge& edge : edges) {
      QCOMPARE(edge.from, attention);
      QVERIFY(edge.to >= layer.backward_begin);
      QVERIFY(!canvas()->nodeRect(tree().op_node(1, edge.to)).isEmpty());
    }
    QCOMPARE(faults(*view_->scene()->sheet()), 0);
    // Selecting the attention draws its saved tensors as edges.
    canvas()->fit();
    const QImage without = canvas()->grab().toImage();
    canvas()->select(tree().op_node(1, attention));
    QVERIFY(canvas()->grab().toImage() != without);
    // Every op of the layer is on the sheet.
    for (OpId id = 0; id < static_cast<OpId>(layer.ops.size()); ++id)
      QVERIFY(!canvas()->nodeRect(tree().op_node(1, id)).isEmpty());
  }

  void backwardFlowsUp() {
    QTest::mouseClick(button(view_.get(), "Backward"), Qt::LeftButton);
    view_->waitForGraph();
    for (const Wire& wire : view_->scene()->sheet()->wires) QVERIFY(wire.up);
    canvas()->select(unit(1));
    canvas()->setFocus();
    key(Qt::Key_Right);
    QVERIFY(view_->scene()->isExpanded(unit(1)));
    QCOMPARE(faults(*view_->scene()->sheet()), 0);
  }

  void numbersReplaceSymbols() {
    click(unit(1));
    QTest::mouseClick(button(view_.get(), "Numbers"), Qt::LeftButton);
    view_->waitForGraph();
    const auto spot = locate(*view_->scene()->sheet(), op("RMS norm"));
    QVERIFY(spot && spot->id == op("RMS norm"));
    QVERIFY2(spot->piece->detail.text.contains("4,096"), qPrintable(spot->piece->detail.text));
  }

  void keepsWhatIsUnfoldedUnderANewDesign() {
    click(unit(1));
    canvas()->select(op("RMS norm"));
    QVERIFY(!session_->setKnob("seq", "4096"));
    session_->waitForReport();
    view_->waitForGraph();
    QVERIFY(view_->scene()->isExpanded(unit(1)));
    QCOMPARE(state_->inspection().title, QString("RMS norm"));
    // With fewer layers and stages, unfolded things that no longer exist are forgotten.
    QVERIFY(!session_->setKnob("pp", "1"));
    session_->waitForReport();
    view_->waitForGraph();
    QCOMPARE(view_->scene()->sheet()->pieces.size(), size_t{1});
    QCOMPARE(view_->scene()->tree()->stages(), 1);
  }

  void virtualStagesShowTheirLayers() {
    QVERIFY(!session_->setKnob("virtual_stages", "2"));
    session_->waitForReport();
    view_->waitForGraph();
    const GraphTree& tree = *view_->scene()->tree();
    QCOMPARE(tree.stages(), 2);
    QCOMPARE(tree.units_of(0), (std::vector<std::pair<int, int>>{{0, 9}, {17, 25}}));
    QCOMPARE(tree.units_of(1), (std::vector<std::pair<int, int>>{{9, 17}, {25, 34}}));
    for (int stage = 0; stage < 2; ++stage)
      for (const auto& [first, end] : tree.units_of(stage))
        for (int unit = first; unit < end; ++unit) QCOMPARE(tree.stage_of(unit), stage);
    // The open stage has the embedding and a card for each run of layers. A line leads from the first run,
    // through the other stage, to the second run.
    const Piece& open = view_->scene()->sheet()->pieces[0];
    QCOMPARE(open.detail.text, QString("layers 0 … 7 | 16 … 23"));
    QVERIFY(open.inside);
    QCOMPARE(open.inside->pieces.size(), size_t{3});
    QCOMPARE(open.inside->pieces[2].title.text, QString("layers 16 … 23"));
    int round = 0;
    for (const Wire& wire : open.inside->wires) round += wire.transfer && wire.upper == 1 && wire.lower == 2;
    QCOMPARE(round, 1);
    QCOMPARE(faults(*view_->scene()->sheet()), 0);
  }

  void anInvalidDesignSaysSo() {
    session_->setKnob("tp", "5");
    session_->waitForReport();
    QTRY_VERIFY(!session_->computing());
    QVERIFY(view_->scene()->sheet());  // the last graph stays visible
    QPushButton* fix = nullptr;
    QTRY_VERIFY((fix = canvas()->findChild<QPushButton*>()) && fix->isVisible());
    QTest::mouseClick(fix, Qt::LeftButton);
    session_->waitForReport();
    QVERIFY(!has_errors(session_->problems()));
  }

  void themeChangesLive() {
    const QImage light = canvas()->grab().toImage();
    Theme::instance().setMode(Theme::Mode::Dark);
    const QImage dark = canvas()->grab().toImage();
    Theme::instance().setMode(Theme::Mode::Light);
    QCOMPARE(dark.pixelColor(8, 700), Theme::colors(Theme::Mode::Dark).ground);
    QCOMPARE(light.pixelColor(8, 700), Theme::colors(Theme::Mode::Light).ground);
  }

  void manyRequestsEndInTheLast() {
    for (int i = 0; i < 20; ++i) view_->scene()->setPasses(static_cast<Passes>(i % 3));
    view_->scene()->expandAll({});
    view_->scene()->setPasses(Passes::Forward);
    view_->waitForGraph();
    QVERIFY(!view_->scene()->pending());
    for (const Wire& wire : view_->scene()->sheet()->wires) QVERIFY(!wire.up);
    QVERIFY(!canvas()->nodeRect(tree().op_node(30, op("Down projection").op)).isEmpty());
  }

 private:
  GraphCanvas* canvas() { return view_->canvas(); }
  const GraphTree& tree() { return *view_->scene()->tree(); }
  NodeId unit(int index) { return tree().unit_node(index); }
  NodeId op(const std::string& label) { return tree().op_node(1, op_named(tree().segment(1), label)); }
  void click(const NodeId& id) {
    const QRectF rect = canvas()->nodeRect(id);
    QVERIFY2(!rect.isEmpty(), "the node to click is not on the sheet");
    const QPointF at(rect.center().x(), rect.top() + std::min(rect.height() / 2, 14.0));
    QTest::mouseClick(canvas(), Qt::LeftButton, {}, at.toPoint());
    view_->waitForGraph();
  }
  void key(Qt::Key key) {
    QTest::keyClick(canvas(), key);
    view_->waitForGraph();
  }
};

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  Theme::instance().setMode(Theme::Mode::Light);
  GraphViewTest test;
  return QTest::qExec(&test, argc, argv);
}

#include "graph_view_test.moc"
