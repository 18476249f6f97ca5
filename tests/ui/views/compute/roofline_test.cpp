// The roofline: points below the roof, the table, selection by mouse and keys.
#include <QAbstractItemModelTester>
#include <QTest>

#include "offscreen.h"
#include "timeline_parts.h"
#include "ui/plot/chart_export.h"
#include "ui/plot/stage_chart.h"
#include "ui/toolkit/theme.h"
#include "ui/views/compute/compute_view.h"
#include "ui/views/compute/roofline_canvas.h"
#include "ui/views/compute/roofline_model.h"

using namespace shardscape;
using namespace shardscape::ui;

class RooflineTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  void pointsStayBelowTheRoof() {
    Session session;
    pipelined(session);
    RooflineModel model;
    QAbstractItemModelTester roofline_tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    const Roofline data = roofline(*session.report(), 0);
    QVERIFY(data.points.size() > 10);
    const auto kind = [&](const RooflinePoint& point) {
      return session.report()->graph().segments[static_cast<size_t>(point.segment)].op(point.op).kind;
    };
    for (const RooflinePoint& point : data.points)  // fused ops move fewer bytes than single ops
      if (kind(point) == OpKind::Einsum || kind(point) == OpKind::Attention)
        QVERIFY2(point.rate() <= data.attainable(point) * 1.02,
                 qPrintable(QString("%1: %2 of %3 TFLOP/s")
                                .arg(roofline_title(*session.report(), point))
                                .arg(point.rate() * 1e-12)
                                .arg(data.attainable(point) * 1e-12)));
    // The tip of a point above the memory roof gives the reason. Only fused ops exceed their roof.
    QVERIFY(data.cache_bytes > 0);
    RooflineCanvas canvas;
    canvas.resize(900, 600);
    canvas.setRoofline(session.report(), data);
    int cached = 0;
    for (size_t i = 0; i < data.points.size(); ++i) {
      const RooflinePoint& point = data.points[i];
      if (point.rate() <= point.intensity() * data.bandwidth) continue;
      const QString tip = canvas.describe(*session.report(), data, point);
      cached += tip.contains("the cache");
      QVERIFY2(tip.contains("the cache") || tip.contains("fused with another op"), qPrintable(tip));
    }
    QVERIFY(cached > 0);
    model.setRoofline(*session.report(), data, UnitSystem::Binary);
    QCOMPARE(static_cast<size_t>(model.rowCount()), data.points.size());
  }

  void rooflineByMouseAndKeys() {
    Session session;
    SelectionState state(&session);
    pipelined(session);
    ComputeView view(&state);
    open(view);
    view.setAlternativeShown(true);
    QCoreApplication::processEvents();
    QVERIFY(view.roofline()->isVisible() && !view.chart()->isVisible());
    const int last = static_cast<int>(view.roofline()->data().points.size()) - 1;
    QTest::mouseClick(view.roofline(), Qt::LeftButton, {}, view.roofline()->place(last).toPoint());
    QVERIFY(view.roofline()->selected() >= 0);
    QCOMPARE(state.selection().kind, SelectionKind::Op);
    QVERIFY(!row_of(state.inspection(), "share of the roof").isEmpty());
    view.roofline()->setFocus();
    const double
        before = view.roofline()->data().points[static_cast<size_t>(view.roofline()->selected())].intensity();
    QTest::keyClick(view.roofline(), Qt::Key_Left);
    QVERIFY(view.roofline()->data().points[static_cast<size_t>(view.roofline()->selected())].intensity() <=
            before);
    QVERIFY(std::holds_alternative<QByteArray>(encoded(view.picture(), SaveFormat::Pdf)));
    view.setAlternativeShown(false);
    QVERIFY(view.chart()->isVisible());
  }
};

QTEST_MAIN(RooflineTest)
#include "roofline_test.moc"
