// A window with the least room for form, view and inspector: none of them is cut or scrolls sideways.
#include <QAction>
#include <QScrollArea>
#include <QScrollBar>
#include <QTabWidget>

#include "offscreen.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/shell/actions.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class NarrowWindowTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() { openWindow(); }
  void cleanup() { closeWindow(); }

  void allPanesFit_data() {
    QTest::addColumn<int>("width");
    for (const int width : {1080, 1100, 1280, 1920}) QTest::addRow("%d", width) << width;
  }
  void allPanesFit() {
    QFETCH(int, width);
    window_->resize(width, 700);
    window_->actions().reset_layout->trigger();
    session_->waitForEstimate();
    for (int view = 0; view < window_->tabs()->count(); ++view) {
      window_->tabs()->setCurrentIndex(view);
      QTest::qWait(30);
      QWidget* scrolled = window_->tabs();
      while (scrolled && !qobject_cast<QScrollArea*>(scrolled)) scrolled = scrolled->parentWidget();
      QVERIFY(scrolled);
      QCOMPARE(qobject_cast<QScrollArea*>(scrolled)->horizontalScrollBar()->maximum(), 0);
      if (!window_->inspector()->isVisible()) continue;  // Explore has its own side
      const auto* facts = window_->inspector()->findChild<QScrollArea*>();
      QVERIFY2(facts->widget()->width() <= facts->viewport()->width(),
               qPrintable(window_->tabs()->tabText(view)));
    }
  }
};

QTEST_MAIN(NarrowWindowTest)
#include "narrow_window_test.moc"
