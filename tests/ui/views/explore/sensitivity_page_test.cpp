// The page "Sensitivity" of the Explore view: bars, the table of changes, and applying them.
#include <QAction>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTest>

#include "explore_window.h"
#include "offscreen.h"
#include "support/longest_run.h"
#include "ui/plot/chart_table.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"
#include "ui/views/explore/sensitivity_page.h"

using namespace shardscape;
using namespace shardscape::ui;

class SensitivityPageTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  void showsTheSensitivity() {
    ExploreWindow w;
    auto pages = w.view().pages()->findChildren<QPushButton*>();
    QTest::mouseClick(pages[ExploreView::SensitivityTab], Qt::LeftButton);
    SensitivityPage& page = *w.view().sensitivity();
    QTRY_VERIFY_WITH_TIMEOUT(page.ready(), test::kLongestRun);
    const auto expected = sensitivity(w.session.design());
    QVERIFY(expected);
    Tornado& tornado = *page.tornado();
    QVERIFY(tornado.rows().size() > 3);
    double before = 1e9;
    for (const Tornado::Row& row : tornado.rows()) {
      QCOMPARE(row.high, expected->knobs[static_cast<size_t>(row.knob)].fastest);
      QCOMPARE(row.low, expected->knobs[static_cast<size_t>(row.knob)].slowest);
      const double swing = std::max(row.high, -row.low);
      QVERIFY(swing <= before);
      before = swing;
    }
    // Enter applies the best change that fits in memory.
    tornado.setFocus();
    QTest::keyClick(&tornado, Qt::Key_Home);
    while (!tornado.best(tornado.selected()) && tornado.selected() + 1 < tornado.shown())
      QTest::keyClick(&tornado, Qt::Key_Down);
    QVERIFY(tornado.best(tornado.selected()));
    const Design wanted = tornado.best(tornado.selected())->design, was = w.session.design();
    QTest::keyClick(&tornado, Qt::Key_Return);
    QCOMPARE(w.session.design(), wanted);
    w.session.undoStack()->undo();
    QCOMPARE(w.session.design(), was);
    w.session.waitForReport();
    QTRY_VERIFY_WITH_TIMEOUT(page.ready(), test::kLongestRun);
    QTest::mouseClick(page.findChild<QWidget*>("sensitivity_what")->findChildren<QPushButton*>()[1],
                      Qt::LeftButton);
    for (const Tornado::Row& row : tornado.rows())
      QCOMPARE(row.high, static_cast<double>(expected->knobs[static_cast<size_t>(row.knob)].most_memory));
  }

  // A row of the table applies its change, as one undo step: by double click, by Enter and in the context
  // menu.
  void rowsOfTheSensitivityApply() {
    ExploreWindow w;
    w.view().showPage(ExploreView::SensitivityTab);
    SensitivityPage& page = *w.view().sensitivity();
    QTRY_VERIFY_WITH_TIMEOUT(page.ready(), test::kLongestRun);
    ChartTable& table = *page.table();
    table.sortByColumn(0, Qt::DescendingOrder);  // rows of the table and of the model differ
    const Design was = w.session.design();
    const auto expected = sensitivity(was);
    std::vector<Design> changes;
    for (const KnobSensitivity& knob : expected->knobs)
      for (const Neighbour& change : knob.neighbours) changes.push_back(change.design);
    QCOMPARE(table.model()->rowCount(), static_cast<int>(changes.size()));
    auto* action = page.findChild<QAction*>("apply_change");
    QVERIFY(action && table.actions().contains(action));
    const int steps = w.session.undoStack()->index();
    for (const int way : {0, 1, 2}) {
      const QModelIndex index = table.model()->index(1 + way, 0);
      const Design& wanted = changes[static_cast<size_t>(table.sorted()->mapToSource(index).row())];
      table.setFocus();
      table.setCurrentIndex(index);
      table.scrollTo(index);
      const QPoint at = table.visualRect(index).center();
      if (way == 0) {
        QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, at);  // as the first click of a person
        QTest::mouseDClick(table.viewport(), Qt::LeftButton, {}, at);
      }
      if (way == 1) QTest::keyClick(&table, Qt::Key_Return);
      if (way == 2) action->trigger();
      QVERIFY2(w.session.design() == wanted, qPrintable(QString("way %1").arg(way)));
      QCOMPARE(w.session.undoStack()->index(), steps + 1);
      w.session.undoStack()->undo();
      QCOMPARE(w.session.design(), was);
      w.session.waitForReport();
      QTRY_VERIFY_WITH_TIMEOUT(page.ready(), test::kLongestRun);
    }
  }

  void changesFillATallWindow() {
    Session session;
    session.waitForReport();
    SensitivityPage page(SensitivityPage::Kind::Sensitivity, &session);
    page.resize(900, 1400);
    page.show();
    QTRY_VERIFY_WITH_TIMEOUT(page.ready(), test::kLongestRun);
    const Tornado& bars = *page.tornado();
    // Every bar is visible, and the table takes the rest in whole rows.
    QTRY_VERIFY(bars.height() >= bars.fullHeight() && bars.height() - bars.fullHeight() < 32);
    page.resize(900, 500);
    QTRY_VERIFY(bars.shown() < static_cast<int>(bars.rows().size()));
    QTRY_VERIFY2(page.table()->height() <= 180, qPrintable(QString::number(page.table()->height())));
  }
};

QTEST_MAIN(SensitivityPageTest)
#include "sensitivity_page_test.moc"
