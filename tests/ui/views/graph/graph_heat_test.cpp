// Times in the graph: what the inspector says first, and colours of nodes by time or bytes with their legend.
#include <QComboBox>
#include <QTest>
#include <cmath>

#include "graph_window.h"
#include "timing/op_bound.h"
#include "ui/toolkit/contrast.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

QString figure(const Inspection& inspection, const char* name) {
  for (const auto& [label, text] : inspection.figures)
    if (label == QLatin1String(name)) return text;
  return {};
}

}  // namespace

class GraphHeatTest : public GraphTest {
  Q_OBJECT

 private Q_SLOTS:
  void init() { openView(); }
  void cleanup() { closeView(); }

  // Time and bound are the first two lines of every node, with the numbers behind them.
  void theInspectorBeginsWithTime() {
    const GraphTree& tree = *view_->scene()->tree();
    const Segment& layer = tree.segment(1);
    int kernels = 0, collectives = 0;
    for (OpId id = 0; id < layer.backward_begin; ++id) {  // the graph shows forwards
      const Inspection of = inspect(tree.op_node(1, id));
      const auto bound = op_bound(*session_->report(), simulation(), 1, timed_op(layer, id));
      if (!bound) continue;
      QVERIFY(of.figures.size() >= 2);
      QVERIFY(of.figures[0].first.startsWith("Time"));
      QCOMPARE(of.figures[1].first, QString("Bound by"));
      const std::string_view label = bound_label(bound->by);
      QCOMPARE(of.figures[1].second, QString::fromUtf8(label.data(), static_cast<qsizetype>(label.size())));
      (bound->collective() ? collectives : kernels) += 1;
      if (bound->collective())
        QVERIFY(figure(of, "Level").contains("2 ranks in 1 scale-up domain"));
      else if (bound->by == BoundBy::Compute)
        QVERIFY2(figure(of, "Peak").contains("TFLOP/s"), qPrintable(of.title));
      else if (bound->by == BoundBy::Memory)
        QVERIFY2(figure(of, "Memory").contains("GB/s"), qPrintable(of.title));
    }
    QVERIFY(kernels > 5 && collectives > 3);
    for (const NodeId& node : {tree.stage_node(0), tree.unit_node(1), tree.parent(tree.op_node(1, 3))}) {
      const Inspection of = inspect(node);
      QCOMPARE(of.figures[0].first, QString("Time"));
      QCOMPARE(of.figures[1].first, QString("Bound by"));
      QVERIFY(of.figures[1].second.contains('%'));
    }
  }

  // The time of a layer is that of its ops in the shown direction; a folded run has the time of all layers.
  void aLayerAddsUpItsOps() {
    const GraphTree& tree = *view_->scene()->tree();
    const GraphHeat heat(view_->scene()->sharedTree(), simulation().ops.get(), HeatOf::Time, Passes::Forward);
    double sum = 0;
    const Segment& layer = tree.segment(1);
    for (OpId id = 0; id < layer.backward_begin; ++id)
      sum += simulation().ops->ops[1][static_cast<size_t>(id)].seconds;
    QVERIFY(sum > 0 && std::fabs(heat.value(tree.unit_node(1)) - sum) < 1e-9 * sum);
    double stage = 0;
    for (const auto& [first, end] : tree.units_of(0))
      for (int unit = first; unit < end; ++unit) stage += heat.value(tree.unit_node(unit, 0));
    QVERIFY(std::fabs(heat.value(tree.stage_node(0)) - stage) < 1e-9 * stage);
    Piece run;
    run.id = tree.unit_node(1);
    run.units = 16;
    QVERIFY(std::fabs(*heat.share(run, run.id) - 16 * sum / stage) < 1e-9);
    Piece stages;
    stages.id = tree.stage_node(0);
    stages.units = 2;  // a folded run of stages has the share of all of them
    QVERIFY(std::fabs(*heat.share(stages, stages.id) - 1) < 1e-9);
  }

  void theChoiceColoursNodes() {
    QComboBox* choice = view_->heatChoice();
    GraphCanvas* canvas = view_->canvas();
    const QImage by_kind = canvas->grab().toImage();
    QVERIFY(!canvas->heat());
    choice->setFocus();
    QTest::keyClick(choice, Qt::Key_Down);
    QVERIFY(canvas->heat() && canvas->heat()->of() == HeatOf::Time);
    const QImage by_time = canvas->grab().toImage();
    QVERIFY(by_time != by_kind);
    // The card of the layers has the colour of its share.
    const NodeId layers = view_->scene()->tree()->unit_node(1);
    Piece run;
    run.id = layers;
    run.units = 16;
    const QColor fill = heat_color(*canvas->heat()->share(run, layers));
    const QRectF card = canvas->nodeRect(layers);
    const auto shows = [&](const QPoint& at, const QColor& color) {
      const QColor pixel = by_time.pixelColor(at);
      return std::abs(pixel.red() - color.red()) + std::abs(pixel.green() - color.green()) +
                 std::abs(pixel.blue() - color.blue()) <
             12;
    };
    QVERIFY(shows((card.bottomRight() - QPointF(6, 6)).toPoint(), fill));
    // The legend is part of the picture: its ramp ends in the colour of 100 %.
    bool legend = false;
    for (int y = canvas->height() - 90; y < canvas->height() && !legend; ++y)
      for (int x = 0; x < canvas->width() && !legend; ++x) legend = shows({x, y}, heat_color(0.99));
    QVERIFY(legend);
    QTest::keyClick(choice, Qt::Key_Down);
    QCOMPARE(canvas->heat()->of(), HeatOf::Bytes);
    QVERIFY(canvas->grab().toImage() != by_time);
    QTest::keyClick(choice, Qt::Key_Home);
    QVERIFY(!canvas->heat());
    QCOMPARE(canvas->grab().toImage(), by_kind);
  }

  // The view fits between form and inspector of a window of 1280 x 800.
  void theBarFitsASmallWindow() { QVERIFY(view_->minimumSizeHint().width() <= 726); }

  // Colours follow an edit: shares are those of the new design.
  void coloursFollowEdits() {
    view_->heatChoice()->setCurrentIndex(1);
    const GraphHeat* before = view_->canvas()->heat();
    QVERIFY(before);
    QVERIFY(!session_->setKnob("seq", "2048"));
    session_->waitForEstimate();
    view_->waitForGraph();
    const GraphHeat* now = view_->canvas()->heat();
    QVERIFY(now);
    const NodeId layer = view_->scene()->tree()->unit_node(1);
    const GraphHeat expected(view_->scene()->sharedTree(), simulation().ops.get(), HeatOf::Time,
                             Passes::Forward);
    QCOMPARE(now->value(layer), expected.value(layer));
  }

  // Lightness changes evenly, away from the ground; text on every colour is readable.
  void theRampIsEven() {
    for (const Theme::Mode mode : {Theme::Mode::Light, Theme::Mode::Dark}) {
      Theme::instance().setMode(mode);
      const QColor panel = Theme::instance().colors().panel;
      double before = 0;
      for (int i = 0; i <= 20; ++i) {
        const double t = i / 20.0;
        const QColor color = heat_color(t * t);
        QVERIFY(contrast(heat_ink(color), color) >= 4.5);
        const double distance = contrast(color, panel);
        QVERIFY2(distance > before, qPrintable(QString("%1 at %2").arg(distance).arg(t)));
        before = distance;
      }
      QVERIFY(before > 6);
    }
  }

 private:
  const Simulation& simulation() const { return *session_->estimate()->simulation; }
  Inspection inspect(const NodeId& id) {
    view_->canvas()->reveal(id);
    view_->waitForGraph();
    return state_->inspection();
  }
};

QTEST_MAIN(GraphHeatTest)
#include "graph_heat_test.moc"
