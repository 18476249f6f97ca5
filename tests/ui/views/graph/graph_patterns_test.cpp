// Layers of several kinds, and equal stages, in the graph view.
#include <QFontMetricsF>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QTest>
#include <algorithm>

#include "offscreen.h"
#include "ui/selection/layer_sequence.h"
#include "ui/session/session.h"
#include "ui/toolkit/graph_text.h"
#include "ui/views/graph/graph_view.h"
#include "ui/views/graph/sheet_walk.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

struct Opened {
  explicit Opened(const char* preset, std::initializer_list<std::pair<const char*, const char*>> knobs,
                  QSize size = {1100, 800})
      : state(&session), view(&state) {
    session.applyPreset(QString::fromLatin1(preset));
    for (const auto& [knob, text] : knobs)
      if (const auto problem = session.setKnob(QString::fromLatin1(knob), QString::fromLatin1(text)))
        qWarning("%s", to_string(*problem).c_str());
    session.waitForReport();
    view.resize(size);
    view.show();
    static_cast<void>(QTest::qWaitForWindowExposed(&view));
    view.waitForGraph();
  }
  const Sheet& root() { return *view.scene()->sheet(); }
  QStringList stages() {
    QStringList names;
    for (const Piece& piece : root().pieces) names << piece.title.text;
    return names;
  }
  void click(const NodeId& card) {
    QTest::mouseClick(view.canvas(), Qt::LeftButton, {}, view.canvas()->nodeRect(card).center().toPoint());
    view.waitForGraph();
  }

  Session session;
  SelectionState state;
  GraphView view;
};

}  // namespace

class GraphPatternsTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void sequencesInWords_data() {
    QTest::addColumn<QStringList>("kinds");
    QTest::addColumn<QString>("text");
    const QStringList l{"local"}, g{"global"};
    QTest::newRow("one kind") << l + l + l + l << "4 × local";
    QTest::newRow("a pattern") << l + l + l + g + l + l + l + g << "2 × (local, local, local, global)";
    QTest::newRow("a long run") << l + l + l + l + l + g + l + l + l + l + l + g << "2 × (5 × local, global)";
    QTest::newRow("a rest") << l + g + l + g + l << "2 × (local, global), local";
    QTest::newRow("no pattern") << l + g + g + g + g << "local, 4 × global";
  }
  void sequencesInWords() {
    QFETCH(QStringList, kinds);
    QFETCH(QString, text);
    QCOMPARE(layer_sequence_text(kinds), text);
  }

  // Gemma 2 alternates windowed and global attention. The folded run names the pattern, and the inspector has
  // the figures of each kind and of all layers.
  void aFoldedPatternSpeaksForAllKinds() {
    Opened o("gemma2-9b", {{"tp", "2"}, {"pp", "1"}, {"dp", "4"}, {"seq", "16384"}});
    const GraphTree& tree = *o.view.scene()->tree();
    const int first = 1;
    QVERIFY(tree.segment_of(first) != tree.segment_of(first + 1));
    const QString kinds[] = {qtext(tree.segment(tree.segment_of(first)).name),
                             qtext(tree.segment(tree.segment_of(first + 1)).name)};
    const NodeId run = tree.unit_node(first, 0);
    const auto spot = locate(o.root(), run);
    QVERIFY(spot && spot->piece->units == 42);
    QCOMPARE(spot->piece->detail.text, QString("21 × (%1, %2)").arg(kinds[0], kinds[1]));
    const QRectF card = o.view.canvas()->nodeRect(run);
    QTest::mouseClick(o.view.canvas(), Qt::LeftButton, {},
                      QPoint(static_cast<int>(card.center().x()) + 20, static_cast<int>(card.center().y())));
    const Inspection& text = o.state.inspection();
    QVERIFY2(text.subtitle.contains(spot->piece->detail.text), qPrintable(text.subtitle));
    QString flops[3];
    for (const InspectedValue& value : text.values)
      for (int i = 0; i < 3; ++i)
        if (value.label.startsWith(i < 2 ? kinds[i] + ": FLOPs, useful"
                                         : QString("All 42 layers: FLOPs, useful")) &&
            flops[i].isEmpty())
          flops[i] = value.value;
    QVERIFY(!flops[0].isEmpty() && !flops[1].isEmpty() && !flops[2].isEmpty());
    QVERIFY(flops[0] != flops[1]);  // a window needs fewer FLOPs
    QVERIFY(flops[2] != flops[0]);
  }

  // Cards of attention name the width of their window: that of the kind, else that of the model.
  void attentionNamesItsWindow() {
    Opened o("gemma2-9b", {{"tp", "1"}, {"pp", "1"}, {"dp", "1"}, {"seq", "8192"}});
    const auto cards = [&](int unit, bool numbers) {
      const GraphTree& tree = *o.view.scene()->tree();
      const Report& report = tree.report();
      const NodeText text(report.binding, numbers, UnitSystem::Binary);
      const Segment& segment = tree.segment(tree.segment_of(unit));
      QStringList out;
      for (const Op& op : segment.ops)
        if (attention_of(op)) out << text.detail(segment, op);
      return out;
    };
    QVERIFY(cards(1, true).size() >= 2);  // forward and backward
    for (const QString& card : cards(1, true)) QVERIFY2(card.startsWith("window 4,096 ["), qPrintable(card));
    for (const QString& card : cards(1, false)) QVERIFY2(card.startsWith("window W ["), qPrintable(card));
    for (const QString& card : cards(2, true)) QVERIFY2(card.startsWith("causal ["), qPrintable(card));
    // The folded block of attention says so too.
    const NodeId local = o.view.scene()->tree()->unit_node(1, 0);
    o.view.scene()->expand(local);
    o.view.waitForGraph();
    const auto spot = locate(o.root(), local);
    QVERIFY(spot && spot->piece->inside);
    const auto& blocks = spot->piece->inside->pieces;
    QVERIFY(std::any_of(blocks.begin(), blocks.end(),
                        [](const Piece& block) { return block.detail.text.contains(" · window "); }));
    // A window of one kind of layers.
    QVERIFY(!o.session.setKnob("variants", "local: local window=1024"));
    o.session.waitForReport();
    o.view.waitForGraph();
    for (const QString& card : cards(1, true)) QVERIFY2(card.startsWith("window 1,024 ["), qPrintable(card));
    for (const QString& card : cards(1, false))
      QVERIFY2(card.startsWith("window W_local ["), qPrintable(card));
  }

  // Wherever a drag moves the graph, the overview lies over no card, or is hidden.
  void theOverviewCoversNoNode() {
    Opened o("llama3-8b", {{"tp", "1"}, {"pp", "8"}, {"dp", "1"}}, {900, 700});
    for (int stage = 1; stage < 7; ++stage) o.view.scene()->expand({NodeLevel::Stage, stage});
    o.view.waitForGraph();
    GraphCanvas& canvas = *o.view.canvas();
    auto* map = canvas.findChild<QWidget*>("mini_map");
    int shown = 0;
    const QPoint middle = canvas.rect().center();
    const auto check = [&] {
      if (map->isHidden()) return;
      ++shown;
      for (const QPoint corner :
           {map->geometry().topLeft(), map->geometry().topRight(), map->geometry().bottomLeft(),
            map->geometry().bottomRight(), map->geometry().center()}) {
        const auto spot = spot_at(o.root(),
                                  (QPointF(corner) - canvas.nodeRect({NodeLevel::Stage, 0}).topLeft()) +
                                      locate(o.root(), {NodeLevel::Stage, 0})->rect.topLeft());
        QVERIFY(!spot || spot->piece->inside);
      }
    };
    check();
    QVERIFY(shown > 0);
    for (const QPoint by :
         {QPoint(200, 0), QPoint(150, 0), QPoint(0, -150), QPoint(-300, 0), QPoint(-300, -80)}) {
      QTest::mousePress(&canvas, Qt::MiddleButton, {}, middle);
      QTest::mouseMove(&canvas, middle + by / 2);
      QTest::mouseMove(&canvas, middle + by);
      QTest::mouseRelease(&canvas, Qt::MiddleButton, {}, middle + by);
      check();
    }
    QVERIFY(shown > 2);
  }

  void equalStagesFoldIntoOneCard() {
    Opened o("llama3-8b", {{"tp", "1"}, {"pp", "8"}, {"dp", "1"}}, {900, 700});
    QCOMPARE(o.stages(), (QStringList{"Stage 0", "Stages 1 to 6", "Stage 7"}));
    QVERIFY2(o.root().pieces[1].detail.text.startsWith("equal: 6 × 4 layers"),
             qPrintable(o.root().pieces[1].detail.text));
    QVERIFY(o.root().pieces[0].inside && o.root().pieces[2].inside);
    // A click unfolds the first of the stages. The inspector had named all of them.
    const NodeId run{NodeLevel::Stage, 1};
    o.view.canvas()->select(run);
    QCOMPARE(o.state.inspection().title, QString("Stages 1 to 6"));
    QVERIFY(o.state.inspection().subtitle.startsWith("each of 6 equal stages"));
    const auto& rows = o.state.inspection().rows;
    QVERIFY(std::any_of(rows.begin(), rows.end(), [](const auto& row) {
      return row.first == "microbatches in flight" && row.second == "2 to 7";
    }));
    o.click(run);
    QCOMPARE(o.stages(), (QStringList{"Stage 0", "Stage 1", "Stages 2 to 6", "Stage 7"}));
    QCOMPARE(o.state.inspection().title, QString("Stage 1"));
    // The stage that is folded again joins the others.
    o.view.canvas()->setFocus();
    QTest::keyClick(o.view.canvas(), Qt::Key_Left);
    o.view.waitForGraph();
    QCOMPARE(o.stages().size(), 3);
    QTest::keyClick(o.view.canvas(), Qt::Key_Asterisk);  // unfolds all six
    o.view.waitForGraph();
    QCOMPARE(o.stages().size(), 8);
    // The same stages stay unfolded after an edit.
    QVERIFY(!o.session.setKnob("seq", "4096"));
    o.session.waitForReport();
    o.view.waitForGraph();
    QCOMPARE(o.stages().size(), 8);
  }

  void twoEqualStagesStayUnfolded() {
    Opened o("llama3-8b", {{"tp", "1"}, {"pp", "4"}, {"dp", "1"}});
    QCOMPARE(o.stages(), (QStringList{"Stage 0", "Stage 1", "Stage 2", "Stage 3"}));
  }

  // A stage with fewer layers ends the run.
  void otherStagesEndTheRun() {
    Opened o("llama3-8b", {{"tp", "1"}, {"pp", "8"}, {"dp", "1"}, {"stage_layers", "4,4,4,3,5,4,4,4"}});
    QVERIFY(o.session.report()->valid());
    const GraphTree& tree = *o.view.scene()->tree();
    QVERIFY(tree.equal_stages(1, 2) && tree.equal_stages(5, 6) && tree.equal_stages(1, 6));
    QVERIFY(!tree.equal_stages(2, 3) && !tree.equal_stages(3, 4) && !tree.equal_stages(0, 1));
    QCOMPARE(o.stages().size(), 8);  // no run has three stages
  }

  void aSelectionUnfoldsItsStage() {
    Opened o("llama3-8b", {{"tp", "1"}, {"pp", "8"}, {"dp", "1"}});
    const GraphTree& tree = *o.view.scene()->tree();
    Selection selection;
    selection.kind = SelectionKind::Unit;
    selection.stage = 4;
    selection.unit = tree.units_of(4).front().first + 2;
    selection.units = 1;
    o.state.selectInAllViews(selection, this);
    o.view.waitForGraph();
    QCOMPARE(o.stages(), (QStringList{"Stage 0", "Stages 1 to 3", "Stage 4", "Stages 5 and 6", "Stage 7"}));
    QCOMPARE(o.view.canvas()->selected().unit, selection.unit);
    QVERIFY(
        o.view.canvas()->rect().contains(o.view.canvas()->nodeRect(o.view.canvas()->selected()).toRect()));
    QVERIFY2(o.state.inspection().subtitle.startsWith("stage 4"), qPrintable(o.state.inspection().subtitle));
  }

  void aSearchStopsOnceInEqualStages() {
    Opened o("llama3-8b", {{"tp", "1"}, {"pp", "8"}, {"dp", "1"}});
    const NodeId run{NodeLevel::Stage, 1};
    const auto card = [&] {
      return o.view.canvas()->grab(o.view.canvas()->nodeRect(run).adjusted(-2, -2, 2, 2).toRect()).toImage();
    };
    const QImage before = card();
    auto* field = o.view.findChild<QLineEdit*>("graph_search");
    field->setText("down proj");
    QCOMPARE(o.view.findChild<QLabel*>("match_count")->text(), QString("3 matches"));
    QVERIFY(card() != before);  // the folded stages have hits
    for (int i = 0; i < 2; ++i) QTest::keyClick(field, Qt::Key_Return);
    o.view.waitForGraph();
    QCOMPARE(o.view.canvas()->selected().stage, 1);
    QCOMPARE(o.stages(), (QStringList{"Stage 0", "Stage 1", "Stages 2 to 6", "Stage 7"}));
  }

  // A selection of a kind of op marks the folded stages that have the op, and only on the selected stage.
  void markedOpsOfFoldedStages() {
    Piece card;
    card.id = {NodeLevel::Stage, 1};
    card.units = 6;
    card.held = {{5, 29}};
    SelectedOps marks;
    QVERIFY(marks.has(card, card.id));
    marks.stage = 6;
    QVERIFY(marks.has(card, card.id));
    marks.stage = 7;
    QVERIFY(!marks.has(card, card.id));
    marks.stage = -1;
    marks.first_unit = 28;
    marks.end_unit = 29;
    QVERIFY(marks.has(card, card.id));
    marks.first_unit = 29;
    marks.end_unit = 30;
    QVERIFY(!marks.has(card, card.id));
  }

  void stagesRunFromLeftToRightInAWideView_data() {
    QTest::addColumn<int>("passes");
    QTest::newRow("forward") << 0;
    QTest::newRow("backward") << 1;
    QTest::newRow("both") << 2;
  }
  void stagesRunFromLeftToRightInAWideView() {
    QFETCH(int, passes);
    Opened o("llama3-8b", {{"tp", "1"}, {"pp", "8"}, {"dp", "1"}}, {1700, 900});
    o.view.scene()->setPasses(static_cast<Passes>(passes));
    o.view.scene()->expand({NodeLevel::Stage, 3});  // frames next to cards, cards next to frames
    o.view.waitForGraph();
    const Sheet& root = o.root();
    QCOMPARE(root.pieces.size(), size_t{5});
    const QRectF whole(QPointF(), root.size);
    for (size_t i = 0; i < root.pieces.size(); ++i) {
      QVERIFY(whole.contains(root.pieces[i].rect));
      if (i > 0) QVERIFY(root.pieces[i].rect.left() > root.pieces[i - 1].rect.right() + 20);
    }
    QCOMPARE(root.wires.size(), size_t{passes == 2 ? 8u : 4u});
    for (const Wire& wire : root.wires) {
      QVERIFY(whole.contains(wire.bounds));
      if (passes != 2) QVERIFY(!wire.label.text.isEmpty());
      for (double at = 0.02; at < 0.98; at += 0.005) {
        const QPointF point = wire.path.pointAtPercent(at);
        for (const Piece& piece : root.pieces) QVERIFY(!piece.rect.adjusted(2, 2, -2, -2).contains(point));
        for (const Wire& other : root.wires)  // lines of the two directions do not cross
          if (other.upper == wire.upper && other.up != wire.up)
            for (double there = 0.02; there < 0.98; there += 0.02)
              QVERIFY((other.path.pointAtPercent(there) - point).manhattanLength() > 3);
      }
    }
    for (const Wire& wire : root.wires)
      for (const Piece& piece : root.pieces)
        if (!wire.label.text.isEmpty()) {
          const QRectF text(wire.label.at,
                            QFontMetricsF(o.view.scene()->fonts().caption).size(0, wire.label.text));
          QVERIFY(!text.intersects(piece.rect));
        }
  }

  void theDirectionOfStagesCanBeChosen() {
    Opened o("llama3-8b", {{"tp", "1"}, {"pp", "8"}, {"dp", "1"}}, {1700, 900});
    const auto rightwards = [&] {
      o.view.waitForGraph();
      const QRectF a = o.root().pieces[0].rect, b = o.root().pieces[1].rect;
      return b.left() > a.right() && !(b.top() > a.bottom());
    };
    QTRY_VERIFY(rightwards());
    o.view.resize(900, 900);
    QTRY_VERIFY(!rightwards());
    auto* menu = o.view.findChild<QPushButton*>("flow")->menu();
    menu->actions()[2]->trigger();  // left to right
    QCOMPARE(o.view.flow(), FlowChoice::Right);
    QTRY_VERIFY(rightwards());
    o.view.resize(1700, 900);
    menu->actions()[1]->trigger();
    QTRY_VERIFY(!rightwards());
    menu->actions()[0]->trigger();
    QTRY_VERIFY(rightwards());
    // Keys follow the stages in either direction.
    o.view.canvas()->select({NodeLevel::Unit, 0, 1});
    o.view.canvas()->setFocus();
    QTest::keyClick(o.view.canvas(), Qt::Key_Down);
    QCOMPARE(o.view.canvas()->selected(), (NodeId{NodeLevel::Stage, 1}));
  }
};

QTEST_MAIN(GraphPatternsTest)
#include "graph_patterns_test.moc"
