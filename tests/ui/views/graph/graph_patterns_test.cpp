// Layers of several kinds, and equal stages, in the graph view.
#include <QTest>

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

  // Wherever a drag moves the graph, the overview lies over no card, or is hidden.
  void theOverviewCoversNoNode() {
    Opened o("llama3-8b", {{"tp", "1"}, {"pp", "8"}, {"dp", "1"}}, {900, 700});
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
};

QTEST_MAIN(GraphPatternsTest)
#include "graph_patterns_test.moc"
