// Several designs of a search at once: in the table, among the points, as an area, and in the comparison.
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTest>
#include <algorithm>

#include "explore_window.h"
#include "offscreen.h"
#include "support/longest_run.h"
#include "ui/plot/chart_table.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/theme.h"
#include "ui/views/explore/compare_page.h"
#include "ui/views/explore/designs_model.h"
#include "ui/views/explore/filter_strips.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

void clickRow(ChartTable& table, int row, Qt::KeyboardModifiers held = {}) {
  QTest::mouseClick(table.viewport(), Qt::LeftButton, held,
                    table.visualRect(table.sorted()->index(row, 0)).center());
}

using Rows = std::vector<int>;

}  // namespace

class SeveralDesignsTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  void rowsByMouse() {
    ExploreWindow w;
    w.searchSmall();
    ChartTable& table = *w.page().table();
    clickRow(table, 0);
    QCOMPARE(w.page().chosenRows(), Rows{0});
    clickRow(table, 2, Qt::ControlModifier);
    QCOMPARE(w.page().chosenRows(), (Rows{0, 2}));
    QCOMPARE(w.scatter().chosen(), (Rows{0, 2}));
    clickRow(table, 4, Qt::ShiftModifier);
    QCOMPARE(w.page().chosenRows(), (Rows{0, 2, 3, 4}));
    clickRow(table, 3, Qt::ControlModifier);
    QCOMPARE(w.page().chosenRows(), (Rows{0, 2, 4}));
    clickRow(table, 1);
    QCOMPARE(w.page().chosenRows(), Rows{1});
    QCOMPARE(w.scatter().selected(), 1);
  }

  void rowsByKeys() {
    ExploreWindow w;
    w.searchSmall();
    ChartTable& table = *w.page().table();
    table.setFocus();
    clickRow(table, 0);
    QTest::keyClick(&table, Qt::Key_Down, Qt::ShiftModifier);
    QTest::keyClick(&table, Qt::Key_Down, Qt::ShiftModifier);
    QCOMPARE(w.page().chosenRows(), (Rows{0, 1, 2}));
    QTest::keyClick(&table, Qt::Key_Down);
    QCOMPARE(w.page().chosenRows(), Rows{3});
    QTest::keyClick(&table, Qt::Key_A, Qt::ControlModifier);
    QCOMPARE(static_cast<int>(w.page().chosenRows().size()), w.page().rows()->rows());
  }

  void pointsByMouse() {
    ExploreWindow w;
    w.searchSmall();
    QCoreApplication::processEvents();
    w.scatter().grab();
    const int first = w.scatter().rowAt(w.scatter().place(w.scatter().front().front()));
    const int last = w.scatter().rowAt(w.scatter().place(w.scatter().front().back()));
    QVERIFY(first >= 0 && last >= 0 && first != last);
    QTest::mouseClick(&w.scatter(), Qt::LeftButton, {}, w.scatter().place(first).toPoint());
    QTest::mouseClick(&w.scatter(), Qt::LeftButton, Qt::ControlModifier, w.scatter().place(last).toPoint());
    QCOMPARE(w.page().chosenRows(), (Rows{std::min(first, last), std::max(first, last)}));
    std::vector<int> rows;
    for (const int row : w.page().table()->selectedSourceRows())
      rows.push_back(w.page().model()->designAt(row));
    std::sort(rows.begin(), rows.end());
    QCOMPARE(rows, w.page().chosenRows());
    QTest::mouseClick(&w.scatter(), Qt::LeftButton, Qt::ControlModifier, w.scatter().place(first).toPoint());
    QCOMPARE(w.page().chosenRows(), Rows{last});
  }

  // Shift+drag, or a drag after "Select area", selects the points inside. "Only these" hides the others.
  void anAreaOfPoints() {
    ExploreWindow w;
    w.searchSmall();
    QCoreApplication::processEvents();
    w.scatter().grab();
    const QRectF plot = w.scatter().plot();
    const auto brush = [&](QPointF from, QPointF to, Qt::KeyboardModifiers held) {
      QTest::mousePress(&w.scatter(), Qt::LeftButton, held, from.toPoint());
      for (const double share : {0.3, 1.0}) {
        const QPointF at = from + share * (to - from);
        QMouseEvent move(QEvent::MouseMove, at, w.scatter().mapToGlobal(at), Qt::NoButton, Qt::LeftButton,
                         held);
        QCoreApplication::sendEvent(&w.scatter(), &move);
      }
      QTest::mouseRelease(&w.scatter(), Qt::LeftButton, held, to.toPoint());
    };
    const auto inside = [&](const QRectF& area) {
      Rows out;
      for (int row = 0; row < w.page().rows()->rows(); ++row)
        if (area.contains(w.scatter().place(row))) out.push_back(row);
      return out;
    };
    const QRectF left(plot.topLeft().toPoint(), QPointF(plot.center().x(), plot.bottom()).toPoint());
    brush(left.topLeft(), left.bottomRight(), Qt::ShiftModifier);
    QVERIFY(w.scatter().atHome());
    const Rows wanted = inside(left);
    QVERIFY(!wanted.empty() && static_cast<int>(wanted.size()) < w.page().rows()->rows());
    QCOMPARE(w.page().chosenRows(), wanted);
    auto* only = w.page().findChild<QPushButton*>("keep_area");
    QVERIFY(only->isVisible());
    QTest::mouseClick(only, Qt::LeftButton);
    for (int row = 0; row < w.page().rows()->rows(); ++row)
      QCOMPARE(w.scatter().passes(row), std::find(wanted.begin(), wanted.end(), row) != wanted.end());
    QCOMPARE(w.page().model()->rowCount(), static_cast<int>(wanted.size()));
    QTest::mouseClick(w.page().findChild<QPushButton*>("clear_filters"), Qt::LeftButton);
    QCOMPARE(w.page().model()->rowCount(), w.page().rows()->rows());
    // With the button, a plain drag draws. Ctrl adds to the selection.
    QTest::mouseClick(w.page().findChild<QPushButton*>("draw_area"), Qt::LeftButton);
    brush(left.topLeft(), left.bottomRight(), {});
    QCOMPARE(w.page().chosenRows(), wanted);
    brush(QPointF(left.right(), plot.top()), plot.bottomRight(), Qt::ControlModifier);
    QCOMPARE(static_cast<int>(w.page().chosenRows().size()), w.page().rows()->rows());
  }

  void severalAreCompared() {
    ExploreWindow w;
    w.searchSmall();
    Comparisons& pinned = *w.session.comparisons();
    ChartTable& table = *w.page().table();
    auto* compare = w.page().findChild<QPushButton*>("compare_design");
    auto* show = w.page().findChild<QPushButton*>("show_pinned");
    QVERIFY(!show->isVisible());
    clickRow(table, 0);
    QCOMPARE(compare->text(), QString("Compare"));
    clickRow(table, 2, Qt::ShiftModifier);
    QCOMPARE(compare->text(), QString("Compare 3"));
    QTest::mouseClick(compare, Qt::LeftButton);
    QCOMPARE(pinned.size(), 3);
    for (int i = 0; i < 3; ++i) QCOMPARE(pinned.all()[size_t(i)].design, w.page().rows()->design(i));
    // The page stays, and a hint leads on.
    QVERIFY(w.page().isVisible());
    QVERIFY(show->isVisible());
    QCOMPARE(show->text(), QString("3 pinned, show"));
    // There is room for one more.
    clickRow(table, 3);
    clickRow(table, 5, Qt::ShiftModifier);
    QCOMPARE(compare->text(), QString("Compare 1"));
    table.setFocus();
    QTest::keyClick(&table, Qt::Key_C);
    QCOMPARE(pinned.size(), 4);
    QVERIFY(!compare->isEnabled());
    QTest::mouseClick(show, Qt::LeftButton);
    QVERIFY(w.view().compare()->isVisible());
  }

  // A person pins a design, then edits. The pinned design is the baseline A, and a gain shows as a gain.
  void aGainOfTheEditIsAGain() {
    ExploreWindow w;
    w.session.waitForEstimate();
    const double before = w.session.estimate()->simulation->step_seconds;
    QTest::keyClick(&w.main, Qt::Key_D, Qt::ControlModifier);
    w.session.setKnob("batch", QString::number(w.session.design().workload.batch / 2));
    w.session.waitForEstimate();
    const double after = w.session.estimate()->simulation->step_seconds;
    QVERIFY(after < before);
    w.main.actions().side_by_side->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(w.session.comparisons()->ready(), test::kLongestRun);
    ComparePage& page = *w.view().compare();
    const auto step = std::find_if(page.figures().begin(), page.figures().end(),
                                   [](const ComparedFigure& f) { return f.id == "step_seconds"; });
    QVERIFY(step != page.figures().end());
    const auto cell = [&](int column) {
      return page.model()->index(static_cast<int>(step - page.figures().begin()), column);
    };
    QCOMPARE(cell(ComparisonModel::Baseline).data(TableModel::SortRole).toDouble(), before);
    QCOMPARE(cell(ComparisonModel::Present).data(TableModel::SortRole).toDouble(), after);
    QCOMPARE(cell(ComparisonModel::difference(1)).data(TableModel::SortRole).toDouble(), after - before);
    const QString text = cell(ComparisonModel::difference(1)).data().toString();
    QVERIFY2(text.startsWith("✓ -"), qPrintable(text));
    QVERIFY(page.findChild<QWidget*>("member_B")->findChild<QPushButton*>("pin_now"));  // the present design
  }
};

QTEST_MAIN(SeveralDesignsTest)
#include "several_designs_test.moc"
