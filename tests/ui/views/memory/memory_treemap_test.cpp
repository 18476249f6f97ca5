// The treemap of the memory at the peak: its layout, its bytes, and selection by mouse, keys and table.
#include <QTest>
#include <algorithm>
#include <cmath>

#include "offscreen.h"
#include "timeline_parts.h"
#include "ui/plot/chart_export.h"
#include "ui/plot/chart_table.h"
#include "ui/plot/squarified.h"
#include "ui/plot/stage_chart.h"
#include "ui/selection/step_relations.h"
#include "ui/toolkit/theme.h"
#include "ui/views/memory/memory_treemap.h"
#include "ui/views/memory/memory_view.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

double area(const QRectF& rect) { return rect.width() * rect.height(); }

// The treemap of a pipelined design.
struct TreemapWindow {
  Session session;
  SelectionState state{&session};
  MemoryView view{&state};
  TreemapWindow() {
    pipelined(session);
    open(view);
    view.setAlternativeShown(true);
  }
};

}  // namespace

class MemoryTreemapTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  // The example of the paper: values 6, 6, 4, 3, 2, 2, 1 in 6 x 4.
  void theExampleOfThePaper() {
    const QRectF whole(0, 0, 6, 4);
    const std::vector<QRectF> rects = squarified({6, 6, 4, 3, 2, 2, 1}, whole);
    QCOMPARE(rects[0], QRectF(0, 0, 3, 2));
    QCOMPARE(rects[1], QRectF(0, 2, 3, 2));
    const std::vector<double> areas{6, 6, 4, 3, 2, 2, 1};
    for (size_t i = 0; i < rects.size(); ++i) {
      QVERIFY(std::abs(area(rects[i]) - areas[i]) < 1e-9);
      QVERIFY(whole.adjusted(-1e-9, -1e-9, 1e-9, 1e-9).contains(rects[i]));
      for (size_t j = 0; j < i; ++j) QVERIFY(area(rects[i].intersected(rects[j])) < 1e-9);
    }
    QVERIFY(squarified({}, whole).empty());
  }

  // Every byte of the peak is in one tile.
  void theTilesAddUpToThePeak() {
    TreemapWindow window;
    auto& [session, state, view] = window;
    const MemoryTreemap& treemap = *view.treemap();
    QVERIFY(treemap.isVisible() && !view.chart()->isVisible() && !view.curve()->isVisible());
    const MemoryTimeline& memory = *session.report()->memory;
    QCOMPARE(treemap.memory().stage, memory.peak_stage);
    int64_t sum = 0;
    for (const PeakTile& tile : treemap.tiles()) sum += tile.bytes;
    QCOMPARE(sum, memory.stages[static_cast<size_t>(memory.peak_stage)].in_use);
    QVERIFY(std::any_of(treemap.tiles().begin(), treemap.tiles().end(),
                        [](const PeakTile& tile) { return tile.layer >= 0; }));
    // Tiles do not overlap.
    const std::vector<QRectF> rects = treemap.tileRects(QRectF(treemap.rect()));
    QCOMPARE(rects.size(), treemap.tiles().size());
    for (size_t i = 0; i < rects.size(); ++i)
      for (size_t j = 0; j < i; ++j) QVERIFY(area(rects[i].intersected(rects[j])) < 1e-6);
    QCOMPARE(size_t(view.tensorsTable()->model()->rowCount()), treemap.tiles().size());
    view.setAlternativeShown(false);
    QVERIFY(!treemap.isVisible() && view.chart()->isVisible() && view.curve()->isVisible());
  }

  // A point has the tile that lies there, also after another size, report or picture.
  void everyPointHasItsTile() {
    TreemapWindow window;
    const MemoryTreemap& treemap = *window.view.treemap();
    const auto check = [&treemap] {
      const QRectF whole(treemap.rect());
      const std::vector<QRectF> rects = treemap.tileRects(whole);
      QCOMPARE(rects.size(), treemap.tiles().size());
      for (double x = 0; x < whole.width(); x += 7)
        for (double y = 0; y < whole.height(); y += 5) {
          const QPointF at(x + 0.3, y + 0.3);  // on no edge
          const auto there = std::find_if(rects.begin(), rects.end(),
                                          [&](const QRectF& rect) { return rect.contains(at); });
          const QString tip = treemap.tipAt(at);
          QCOMPARE(tip.isEmpty(), there == rects.end());
          if (there == rects.end()) continue;
          const PeakTile& tile = treemap.tiles()[static_cast<size_t>(there - rects.begin())];
          QVERIFY2(tip.startsWith(treemap.nameOf(tile) + u'\n'), qPrintable(tip));
        }
    };
    check();
    const std::vector<QRectF> small = treemap.tileRects(QRectF(0, 0, 200, 100));
    QVERIFY(std::all_of(small.begin(), small.end(), [](const QRectF& rect) { return rect.right() <= 201; }));
    check();
    const size_t before = treemap.tiles().size();
    window.session.setKnob("layers", "1024");  // tiles below a pixel
    window.session.waitForReport();
    QVERIFY(treemap.tiles().size() > before);
    check();
    QVERIFY(!window.view.grab().isNull());
  }

  void aClickSelectsTheLayer() {
    TreemapWindow window;
    auto& [session, state, view] = window;
    QCoreApplication::processEvents();
    MemoryTreemap& treemap = *view.treemap();
    const auto layered = std::find_if(treemap.tiles().begin(), treemap.tiles().end(),
                                      [](const PeakTile& tile) { return tile.layer >= 0; });
    const auto index = static_cast<size_t>(layered - treemap.tiles().begin());
    const QPointF at = treemap.tileRects(QRectF(treemap.rect()))[index].center();
    const QString tip = treemap.tipAt(at);
    QVERIFY2(tip.contains("layer ") && tip.contains("of the peak") && tip.contains("iB"), qPrintable(tip));
    QTest::mouseClick(&treemap, Qt::LeftButton, {}, at.toPoint());
    QCOMPARE(state.selection().kind, SelectionKind::Unit);
    QCOMPARE(layer_of_unit(*session.report(), state.selection().unit), int(layered->layer));
    QCOMPARE(state.selection().stage, treemap.memory().stage);
    const int chosen = treemap.selected();
    QVERIFY(treemap.marked()[static_cast<size_t>(chosen)]);
    QVERIFY(state.inspection().title.contains("layer"));
    QVERIFY(treemap.accessibleDescription().contains("of the peak"));
    // Keys: the largest tile, a neighbour, nothing.
    treemap.setFocus(Qt::TabFocusReason);
    QTest::keyClick(&treemap, Qt::Key_Home);
    const PeakTile largest = treemap.tiles()[static_cast<size_t>(treemap.selected())];
    for (const PeakTile& tile : treemap.tiles()) QVERIFY(tile.bytes <= largest.bytes);
    const int home = treemap.selected();
    QTest::keyClick(&treemap, Qt::Key_Right);
    QVERIFY(treemap.selected() != home);
    QTest::keyClick(&treemap, Qt::Key_Escape);
    QCOMPARE(treemap.selected(), -1);
    QCOMPARE(state.selection().kind, SelectionKind::Nothing);
    // A selection of another view marks tiles.
    Selection selection;
    selection.kind = SelectionKind::Memory;
    selection.stage = treemap.memory().stage;
    selection.memory = MemoryCategory::Optimizer;
    state.selectInAllViews(selection, this);
    for (size_t i = 0; i < treemap.tiles().size(); ++i) {
      const auto of = static_cast<size_t>(treemap.tiles()[i].contributor);
      QCOMPARE(bool(treemap.marked()[i]),
               treemap.memory().contributors[of].category == MemoryCategory::Optimizer);
    }
  }

  void picturesAndNumbers() {
    TreemapWindow window;
    auto& [session, state, view] = window;
    const Picture picture = view.picture();
    QVERIFY(picture.file_name.endsWith("memory-treemap"));
    QVERIFY(std::holds_alternative<QByteArray>(encoded(picture, SaveFormat::Png)));
    QVERIFY(std::get<QByteArray>(encoded(picture, SaveFormat::Svg)).contains("Optimizer"));
    const QStringList lines = picture.csv().split(u'\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.first(), QString("category,tensors,layer,bytes,share"));
    QCOMPARE(size_t(lines.size()), view.treemap()->tiles().size() + 1);
    // Another design with fewer stages while the treemap is shown.
    QVERIFY(!session.setKnob("pp", "1"));
    session.waitForReport();
    QCOMPARE(view.treemap()->memory().stage, 0);
    QCOMPARE(view.treemap()->memory().in_use, session.report()->memory->stages[0].in_use);
  }
};

QTEST_MAIN(MemoryTreemapTest)
#include "memory_treemap_test.moc"
