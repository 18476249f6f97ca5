// Lines of the scaling page: the best layout at each size, other networks and accelerators.
#include <QAction>
#include <QMenu>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTest>
#include <algorithm>

#include "explore_window.h"
#include "offscreen.h"
#include "support/longest_run.h"
#include "ui/plot/chart_table.h"
#include "ui/toolkit/theme.h"
#include "ui/views/explore/sensitivity_page.h"

using namespace shardscape;
using namespace shardscape::ui;

class ScalingLinesTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  void linesOfTheScalingPage() {
    ExploreWindow w;
    w.view().showPage(ExploreView::Scaling);
    SensitivityPage& page = *w.view().scaling();
    ScalingChart& chart = *page.chart();
    QTRY_VERIFY_WITH_TIMEOUT(page.linesReady(), test::kLongestRun);
    QCOMPARE(chart.extraLines().size(), size_t{1});
    QVERIFY(chart.extraLines()[0].best);
    const auto& strong = chart.points(ScalingChart::Strong);
    const auto& best = chart.extraLines()[0].points;
    QCOMPARE(best.size(), strong.size());
    int faster = 0;
    for (size_t i = 0; i < best.size(); ++i) {
      QCOMPARE(best[i].gpus, strong[i].gpus);
      if (strong[i].evaluation.feasibility != Feasibility::Fits || !strong[i].evaluation.timed()) continue;
      QVERIFY(per_gpu(best[i]) >= per_gpu(strong[i]) * 0.9999);
      faster += per_gpu(best[i]) > per_gpu(strong[i]) * 1.001;
    }
    QVERIFY(faster > 0);
    // The tip names the line; a double click on a row makes the layout the current design.
    const auto at = std::find_if(best.begin(), best.end(),
                                 [](const ScalePoint& p) { return per_gpu(p) > 0; });
    const int point = static_cast<int>(at - best.begin());
    QVERIFY(chart.tipAt(chart.placeOf(0, point)).contains("efficiency"));
    const auto before = static_cast<int>(strong.size() + chart.points(ScalingChart::Weak).size());
    QCOMPARE(page.table()->sorted()->rowCount(), before + static_cast<int>(best.size()));

    // Another domain and another network, by the menu.
    Q_EMIT page.linesMenu()->aboutToShow();
    page.linesMenu()->findChild<QAction*>("best_layouts")->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(page.linesReady(), test::kLongestRun);
    QVERIFY(chart.extraLines().empty());
    for (const char* name : {"scaleup_domain=72", "scaleup_domain=64"}) {
      Q_EMIT page.linesMenu()->aboutToShow();
      auto* action = page.linesMenu()->findChild<QAction*>(name);
      QVERIFY2(action, name);
      action->trigger();
      QTRY_VERIFY_WITH_TIMEOUT(page.linesReady(), test::kLongestRun);
    }
    QCOMPARE(chart.extraLines().size(), size_t{2});
    Design wide = w.session.design();
    wide.cluster.scaleup_domain = 64;
    const auto expected = scaling(wide, {});
    const auto& shown = chart.extraLines()[1];
    QVERIFY2(shown.label.contains("64"), qPrintable(shown.label));
    QCOMPARE(shown.points.size(), expected->size());
    for (size_t i = 0; i < expected->size(); ++i) QCOMPARE(per_gpu(shown.points[i]), per_gpu((*expected)[i]));
    for (const Theme::Mode mode : {Theme::Mode::Light, Theme::Mode::Dark}) {
      Theme::instance().setMode(mode);
      QVERIFY(!chart.grab().isNull());
    }
    // Lines follow the design.
    w.session.setKnob("microbatch", "2");
    QTRY_VERIFY_WITH_TIMEOUT(page.ready() && page.linesReady(), test::kLongestRun);
    QCOMPARE(chart.extraLines().size(), size_t{2});
    Q_EMIT page.linesMenu()->aboutToShow();
    page.linesMenu()->findChild<QAction*>("scaleup_domain=72")->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(page.linesReady(), test::kLongestRun);
    QCOMPARE(chart.extraLines().size(), size_t{1});
  }
};

QTEST_MAIN(ScalingLinesTest)
#include "scaling_lines_test.moc"
