// The room of charts, filters and tables on the pages of Explore: dividers by mouse and keys, remembered.
#include <QPushButton>
#include <QSettings>
#include <QSplitterHandle>
#include <QTemporaryDir>
#include <QTest>

#include "explore_window.h"
#include "mouse.h"
#include "offscreen.h"
#include "support/longest_run.h"
#include "ui/plot/chart_table.h"
#include "ui/shell/settings.h"
#include "ui/toolkit/page_splitter.h"
#include "ui/toolkit/theme.h"
#include "ui/views/explore/compare_page.h"
#include "ui/views/explore/filter_strips.h"
#include "ui/views/explore/sensitivity_page.h"

using namespace shardscape;
using namespace shardscape::ui;

class PageLayoutTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() {
    Theme::instance().setMode(Theme::Mode::Light);
    settings::forgetLayout();
  }

  void theTableGetsTheRoomOfADrag() {
    ExploreWindow w;
    w.searchSmall();
    QCoreApplication::processEvents();
    PageSplitter& splitter = *w.page().splitter();
    QWidget* handle = splitter.handle(1);
    const int before = w.page().table()->height();
    QVERIFY2(before >= 6 * 26, qPrintable(QString::number(before)));  // rows that show before any drag
    drag_divider(handle, -120);
    QCOMPARE(w.page().table()->height(), before + 120);
    // A new size of the window keeps the divider that the person has moved.
    w.main.resize(1440, 1000);
    QCoreApplication::processEvents();
    QVERIFY(splitter.moved());
    QVERIFY(w.page().table()->height() >= before + 100);
  }

  void aDoubleClickMaximisesTheTable() {
    ExploreWindow w;
    w.searchSmall();
    QCoreApplication::processEvents();
    PageSplitter& splitter = *w.page().splitter();
    QWidget* handle = splitter.handle(1);
    const QList<int> before = splitter.sizes();
    QTest::mouseDClick(handle, Qt::LeftButton, {}, handle->rect().center());
    QVERIFY(splitter.maximised());
    QCOMPARE(splitter.sizes()[0], 0);
    QVERIFY(w.page().table()->height() > splitter.height() / 2);
    QTest::mouseDClick(handle, Qt::LeftButton, {}, handle->rect().center());
    QCOMPARE(splitter.sizes(), before);
    // The same by keys.
    handle->setFocus(Qt::TabFocusReason);
    QTest::keyClick(handle, Qt::Key_Return);
    QCOMPARE(splitter.sizes()[0], 0);
    QTest::keyClick(handle, Qt::Key_Return);
    QCOMPARE(splitter.sizes(), before);
    QTest::keyClick(handle, Qt::Key_Up);
    QVERIFY(splitter.sizes()[1] > before[1]);
    QTest::keyClick(handle, Qt::Key_Down);
    QCOMPARE(splitter.sizes(), before);
  }

  void filtersFold() {
    ExploreWindow w;
    w.searchSmall();
    QCoreApplication::processEvents();
    auto* fold = w.page().findChild<QPushButton*>("fold_filters");
    QVERIFY(fold->isVisible() && w.page().filters()->isVisible());
    const int before = w.scatter().height();
    QTest::mouseClick(fold, Qt::LeftButton);
    QVERIFY(!w.page().filters()->isVisible());
    QCoreApplication::processEvents();
    QVERIFY(w.scatter().height() > before);
    fold->setFocus();
    QTest::keyClick(fold, Qt::Key_Space);
    QVERIFY(w.page().filters()->isVisible());
  }

  void dividersAreRemembered() {
    QList<int> moved;
    {
      ExploreWindow w;
      w.searchSmall();
      QCoreApplication::processEvents();
      drag_divider(w.page().splitter()->handle(1), -100);
      moved = w.page().splitter()->sizes();
      settings::rememberPages(&w.main);
    }
    ExploreWindow w;
    settings::restorePages(&w.main);
    w.searchSmall();
    QCoreApplication::processEvents();
    QVERIFY(w.page().splitter()->moved());
    QVERIFY2(std::abs(w.page().splitter()->sizes()[1] - moved[1]) < 12,
             qPrintable(QString("%1 was %2").arg(w.page().splitter()->sizes()[1]).arg(moved[1])));
    settings::forgetLayout(&w.main);
    QVERIFY(!w.page().splitter()->moved());
    QVERIFY(w.page().splitter()->sizes()[1] < moved[1] - 50);
  }

  void everyPageHasADivider() {
    ExploreWindow w;
    w.session.comparisons()->add(w.session.design(), "as it was");
    w.session.setKnob("microbatch", "2");
    w.session.waitForEstimate();
    for (const int page : {ExploreView::Compare, ExploreView::SensitivityTab, ExploreView::Scaling}) {
      w.view().showPage(page);
      if (page == ExploreView::SensitivityTab)
        QTRY_VERIFY_WITH_TIMEOUT(w.view().sensitivity()->ready(), test::kLongestRun);
      if (page == ExploreView::Scaling)
        QTRY_VERIFY_WITH_TIMEOUT(w.view().scaling()->ready(), test::kLongestRun);
      QCoreApplication::processEvents();
      PageSplitter* splitter = nullptr;
      for (PageSplitter* of : w.view().findChildren<PageSplitter*>())
        if (of->isVisible()) splitter = of;
      QVERIFY2(splitter, qPrintable(QString::number(page)));
      const int last = splitter->count() - 1, before = splitter->sizes()[last];
      drag_divider(splitter->handle(last), -40);
      QCOMPARE(splitter->sizes()[last], before + 40);
      QTest::mouseDClick(splitter->handle(last), Qt::LeftButton, {}, splitter->handle(last)->rect().center());
      for (int part = 0; part < last; ++part) QCOMPARE(splitter->sizes()[part], 0);
      QTest::mouseDClick(splitter->handle(last), Qt::LeftButton, {}, splitter->handle(last)->rect().center());
      QCOMPARE(splitter->sizes()[last], before + 40);
    }
  }
};

QTEST_MAIN(PageLayoutTest)
#include "page_layout_test.moc"
