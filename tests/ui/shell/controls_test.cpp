// Every control of every view and dialog, at the sizes that a screen of 1280x800 has at 100, 150 and 200 %.
#include <QApplication>
#include <QTabWidget>
#include <QTest>

#include "../controls_walk.h"
#include "model/huggingface/hf_files.h"
#include "offscreen.h"
#include "ui/help/help_window.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/export_dialog.h"
#include "ui/shell/import_dialog.h"
#include "ui/shell/main_window.h"
#include "ui/shell/settings.h"
#include "ui/views/explore/explore_view.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class ControlsTest : public WindowTest {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private:
  static void sizes() {
    QTest::addColumn<QSize>("size");
    QTest::addColumn<Theme::Mode>("mode");
    QTest::newRow("100 %, light") << QSize(1280, 800) << Theme::Mode::Light;
    QTest::newRow("100 %, dark") << QSize(1280, 800) << Theme::Mode::Dark;
    QTest::newRow("150 %") << QSize(853, 500) << Theme::Mode::Light;
    QTest::newRow("200 %") << QSize(640, 370) << Theme::Mode::Dark;
  }

  void take() {
    QFETCH(QSize, size);
    QFETCH(Theme::Mode, mode);
    Theme::instance().setMode(mode);
    resize(size);
    session_->waitForEstimate();
  }

  void resize(QSize size) {
    window_->resize(size);
    QTRY_COMPARE(window_->size(), size);
  }

  void look(QWidget* window, const QString& where) {
    QTest::qWait(60);  // layouts and labels settle
    ControlsWalk walk(window);
    walk.checkContrast();
    QVERIFY2(walk.count() > 0, qPrintable(where));
    for (const QString& complaint : walk.complaints()) complaints_ << where + ": " + complaint;
  }

  void report() {
    complaints_.removeDuplicates();
    const QString all = complaints_.join('\n');
    complaints_.clear();
    QVERIFY2(all.isEmpty(), qPrintable(all));
  }

  QStringList complaints_;

 private Q_SLOTS:
  void init() { openWindow(); }
  void cleanup() {
    closeWindow();
    Theme::instance().setMode(Theme::Mode::Light);
  }

  void theFirstWindowFitsTheScreen() {
    const MainWindow window(session_.get());
    const QSize screen = window.screen()->availableSize();
    QVERIFY2(window.width() < screen.width() && window.height() < screen.height() - 20,
             qPrintable(QStringLiteral("%1x%2").arg(window.width()).arg(window.height())));
    QVERIFY(window.minimumWidth() <= 640 && window.minimumHeight() <= 370);
  }

  // A person can show a hidden panel. The memory of the next start has what a wide window shows.
  void narrowWindowsHidePanels() {
    const auto shown = [&] {
      return std::pair(window_->form()->isVisible(), window_->inspector()->isVisible());
    };
    QCOMPARE(shown(), std::pair(true, true));
    resize({853, 500});
    QCOMPARE(shown(), std::pair(true, false));
    resize({640, 370});
    QCOMPARE(shown(), std::pair(false, false));
    press(Qt::Key_F7);
    QCOMPARE(shown(), std::pair(false, true));
    resize({650, 370});
    QCOMPARE(shown(), std::pair(false, true));
    window_->actions().reset_layout->trigger();
    QCOMPARE(shown(), std::pair(false, false));
    session_->undoStack()->setClean();
    window_->close();
    QVERIFY(settings::formVisible() && settings::inspectorVisible());
    window_->show();
    resize({1280, 800});
    QCOMPARE(shown(), std::pair(true, true));
  }

  void views_data() { sizes(); }
  void views() {
    take();
    for (int view = 0; view < viewNames().size(); ++view) {
      window_->showView(view);
      look(window_.get(), viewNames()[view]);
    }
    window_->showView(QStringLiteral("Explore"));
    for (int page = 0; page <= ExploreView::Serving; ++page) {
      window_->explore()->showPage(page);
      look(window_.get(), QStringLiteral("Explore, page %1").arg(page));
    }
    report();
  }

  void problems_data() { sizes(); }
  void problems() {
    take();
    session_->setKnob("tp", "5");
    session_->waitForReport();
    window_->actions().problems->setChecked(true);
    look(window_.get(), "problems");
    report();
  }

  void panels_data() { sizes(); }
  void panels() {
    take();
    for (QAction* panel : {window_->actions().form, window_->actions().inspector}) {
      panel->setChecked(true);
      look(window_.get(), panel->text());
    }
    report();
  }

  void dialogs_data() { sizes(); }
  void dialogs() {
    take();
    QFETCH(QSize, size);
    const Actions& actions = window_->actions();
    for (QAction* action : {actions.export_bundle, actions.machine, actions.examples, actions.shortcuts,
                            actions.about, actions.documentation, actions.find_layout}) {
      const QWidgetList before = QApplication::topLevelWidgets();
      action->trigger();
      QTest::qWait(50);
      int shown = 0;
      for (QWidget* top : QApplication::topLevelWidgets()) {
        if (!top->isVisible() || top == window_.get() || top->inherits("QTipLabel")) continue;
        ++shown;
        if (!top->windowFlags().testFlag(Qt::Popup)) top->resize(top->size().boundedTo(size));
        look(top, action->text());
        top->close();
      }
      QVERIFY2(shown > 0, qPrintable(action->text()));
    }
    actions.palette->trigger();
    look(window_.get(), "palette");
    window_->palette()->hide();
    report();
  }
};

QTEST_MAIN(ControlsTest)
#include "controls_test.moc"
