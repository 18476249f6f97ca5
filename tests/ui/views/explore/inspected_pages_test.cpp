// The inspector next to the pages of Explore, and a selection when the model changes.
#include <QLabel>
#include <QPushButton>
#include <QTest>

#include "explore_window.h"
#include "offscreen.h"
#include "support/longest_run.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/plot/chart_table.h"
#include "ui/selection/selection_state.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/theme.h"
#include "ui/views/explore/compare_page.h"
#include "ui/views/explore/sensitivity_page.h"

using namespace shardscape;
using namespace shardscape::ui;

class InspectedPagesTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  // Only the page of designs has the set-up of a search beside it.
  void pagesOfTheDesignHaveTheInspector() {
    ExploreWindow w;
    auto* inspector = w.main.findChild<InspectorPanel*>();
    QVERIFY(inspector && !inspector->isVisible());
    for (const int page : {ExploreView::Compare, ExploreView::SensitivityTab, ExploreView::Scaling}) {
      w.view().showPage(page);
      QVERIFY2(inspector->isVisible() && !w.setup().isVisible(), qPrintable(QString::number(page)));
      QVERIFY(!inspector->shown().title.contains("Nothing computed"));
    }
    w.view().showPage(ExploreView::Designs);
    QVERIFY(w.setup().isVisible());
  }

  void barsAndPointsAreExplained() {
    ExploreWindow w;
    auto* inspector = w.main.findChild<InspectorPanel*>();
    w.view().showPage(ExploreView::SensitivityTab);
    SensitivityPage& bars = *w.view().sensitivity();
    QTRY_VERIFY_WITH_TIMEOUT(bars.ready(), test::kLongestRun);
    QTest::mouseClick(bars.tornado(), Qt::LeftButton, {}, bars.tornado()->rowRect(0).center().toPoint());
    const auto expected = sensitivity(w.session.design());
    const KnobSensitivity& first = expected->knobs[static_cast<size_t>(bars.tornado()->rows().front().knob)];
    QCOMPARE(inspector->shown().title, QString::fromStdString(first.knob->label));
    QCOMPARE(inspector->shown().rows.size(), static_cast<int>(first.neighbours.size()));
    w.view().showPage(ExploreView::Scaling);
    SensitivityPage& sizes = *w.view().scaling();
    QTRY_VERIFY_WITH_TIMEOUT(sizes.ready(), test::kLongestRun);
    sizes.chart()->setFocus();
    QTest::keyClick(sizes.chart(), Qt::Key_End);
    const int point = sizes.chart()->selected();
    QVERIFY(point >= 0);
    const ScalePoint& of = sizes.chart()->points(ScalingChart::Strong)[static_cast<size_t>(point)];
    QVERIFY2(inspector->shown().title.startsWith(QString::fromStdString(grouped(of.gpus))),
             qPrintable(inspector->shown().title));
    QTest::keyClick(sizes.table(), Qt::Key_Up);
    QVERIFY(!inspector->shown().rows.isEmpty());
  }

  // An op that is marked in other views stays explained on the page Compare.
  void aMarkedOpStaysExplained() {
    ExploreWindow w;
    auto* inspector = w.main.findChild<InspectorPanel*>();
    w.session.comparisons()->add(w.session.design(), "as it was");
    Selection selection;
    selection.kind = SelectionKind::Op;
    selection.stage = selection.unit = selection.op = 0;
    w.main.selection()->selectInAllViews(selection, this);
    Inspection text;
    text.title = "Output projection, layer 12";
    w.main.selection()->inspect(text);
    w.view().showPage(ExploreView::Compare);
    QCOMPARE(inspector->shown().title, text.title);
    auto* words = inspector->findChild<QLabel*>("selection_words");
    QVERIFY(words->text().startsWith("Selected:") || words->text().isEmpty());
  }

  // Parts of another model are not marked. An edit of the same model keeps the mark.
  void anotherModelDropsTheMark() {
    ExploreWindow w;
    Selection selection;
    selection.kind = SelectionKind::Time;
    selection.time = TimeCategory::MatrixProducts;
    w.main.selection()->selectInAllViews(selection, this);
    w.session.setKnob("microbatch", "2");
    w.session.waitForEstimate();
    QCOMPARE(w.main.selection()->selection().kind, SelectionKind::Time);
    w.session.applyPreset("qwen3-8b");
    w.session.waitForEstimate();
    QCOMPARE(w.main.selection()->selection().kind, SelectionKind::Nothing);
    auto* inspector = w.main.findChild<InspectorPanel*>();
    QVERIFY(!inspector->findChild<QWidget*>("selection_bar")->isVisible());
  }
};

QTEST_MAIN(InspectedPagesTest)
#include "inspected_pages_test.moc"
