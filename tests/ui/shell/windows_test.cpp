// Several windows, recent files, and what a start opens.
#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QScreen>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <memory>
#include <new>

#include "design/document.h"
#include "design/knobs/command_flags.h"
#include "offscreen.h"
#include "ui/session/session.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/commands.h"
#include "ui/shell/document.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/settings.h"
#include "ui/shell/verdict_strip.h"
#include "ui/shell/windows.h"
#include "ui/toolkit/newest_job.h"
#include "ui/toolkit/screen_room.h"

using namespace shardscape;
using namespace shardscape::ui;

class WindowsTest : public QObject {
  Q_OBJECT
  std::unique_ptr<Windows> windows_;
  QTemporaryDir folder_;

  static QAction* entry(QMenu* menu, const QString& name) {
    Q_EMIT menu->aboutToShow();
    for (QAction* action : menu->actions())
      if (action->text().contains(name)) return action;
    return nullptr;
  }
  // Answers the next questions about unsaved changes; counts them.
  static void answer(QMessageBox::StandardButton which, int* asked) {
    QTimer::singleShot(0, [which, asked] {
      auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
      if (!box) return;
      ++*asked;
      if (which == QMessageBox::Discard) answer(which, asked);
      box->button(which)->click();
    });
  }

 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void init() {
    QApplication::setQuitOnLastWindowClosed(false);
    settings::clearRecentFiles();
    settings::setLastDocument({});
    windows_ = std::make_unique<Windows>(QString());
  }
  void cleanup() { windows_.reset(); }

  // The first window has room for its frame and for the panels of the desktop.
  void theFirstWindowFitsTheScreen() {
    Session session;
    MainWindow window(&session);
    window.actions().reset_layout->trigger();
    const QSize room = roomOnScreen(&window);
    QVERIFY(room.width() < window.screen()->geometry().width());
    QCOMPARE(window.size(), QSize(1440, 900).boundedTo(room));
  }

  void windowsAreIndependent() {
    MainWindow* first = windows_->open();
    QVERIFY(first->actions().new_window->isVisible());
    first->actions().new_window->trigger();
    QCOMPARE(windows_->count(), 2);
    MainWindow* second = nullptr;
    for (QWidget* widget : QApplication::topLevelWidgets())
      if (auto* window = qobject_cast<MainWindow*>(widget); window && window != first) second = window;
    QVERIFY(second && second->isVisible());
    second->session()->setKnob("tp", "4");
    QVERIFY(first->session()->design() == default_design());
    QVERIFY(second->isWindowModified() && !first->isWindowModified());
    first->close();
    QTRY_COMPARE(windows_->count(), 1);
    QCOMPARE(second->session()->design().parallel.tp, 4);
    second->session()->waitForReport();
    QCOMPARE(second->verdictStrip()->verdict().isEmpty(), false);
    second->session()->undoStack()->setClean();
  }

  // Only the window whose page, or whose session, runs the job shows why it failed.
  void aFailureIsShownInItsOwnWindow_data() {
    QTest::addColumn<bool>("of_session");
    QTest::newRow("a page") << false;
    QTest::newRow("the session") << true;
  }
  void aFailureIsShownInItsOwnWindow() {
    QFETCH(bool, of_session);
    MainWindow *other = windows_->open(), *own = windows_->open();
    NewestJob job(of_session ? static_cast<QObject*>(own->session()) : own->tabs()->currentWidget());
    job.start([](const NewestJob::Post&, std::stop_token) { throw std::bad_alloc(); });
    QTRY_VERIFY2(own->messageBar()->text().contains("no more memory"), qPrintable(own->messageBar()->text()));
    QCOMPARE(other->messageBar()->text(), QString());
  }

  void quitAsksForEachModifiedWindow() {
    for (int i = 0; i < 3; ++i) {
      MainWindow* window = windows_->open();
      if (i > 0) window->session()->setKnob("tp", "4");
    }
    int asked = 0;
    answer(QMessageBox::Discard, &asked);
    QApplication::closeAllWindows();
    QCOMPARE(asked, 2);
    QTRY_COMPARE(windows_->count(), 0);
  }

  void quitStopsAtARefusal() {
    MainWindow* window = windows_->open();
    window->session()->setKnob("tp", "4");
    int asked = 0;
    answer(QMessageBox::Cancel, &asked);
    window->actions().quit->trigger();
    QCOMPARE(asked, 1);
    QCOMPARE(windows_->count(), 1);
    QVERIFY(window->isVisible());
    window->session()->undoStack()->setClean();
  }

  void recentFiles() {
    MainWindow* window = windows_->open();
    QMenu* menu = window->actions().open_recent->menu<QMenu*>();
    QVERIFY(entry(menu, "No design was opened"));
    const QString one = folder_.filePath("one & only.json"), two = folder_.filePath("two.json");
    QVERIFY(window->document()->savePath(one));
    window->session()->setKnob("tp", "4");
    QVERIFY(window->document()->savePath(two));
    QCOMPARE(settings::recentFiles(), (QStringList{two, one}));
    entry(menu, "one && only.json")->trigger();
    QTRY_COMPARE(window->document()->path(), one);
    QVERIFY(window->session()->design() == default_design());
    QCOMPARE(settings::recentFiles(), (QStringList{one, two}));
    bool in_palette = false;
    for (const Command& command : paletteCommands(window->actions(), window->session(), window->form()))
      in_palette |= command.title == "two.json";
    QVERIFY(in_palette);
    QVERIFY(QFile::remove(two));
    QVERIFY(!entry(menu, "two.json")->isEnabled());
    QVERIFY(entry(menu, "two.json")->text().contains("no longer"));
    entry(menu, "Clear this list")->trigger();
    QVERIFY(settings::recentFiles().isEmpty());
  }

  void atMostTenRecentFiles() {
    for (int i = 0; i < 14; ++i) settings::addRecentFile(QString("/x/%1.json").arg(i));
    settings::addRecentFile("/x/9.json");
    QCOMPARE(settings::recentFiles().size(), 10);
    QCOMPARE(settings::recentFiles().front(), QString("/x/9.json"));
    QCOMPARE(settings::recentFiles().count("/x/9.json"), 1);
  }

  void theLastDocumentAndViewComeBack() {
    MainWindow* window = windows_->open();
    window->session()->setKnob("tp", "4");
    const QString path = folder_.filePath("last.json");
    QVERIFY(window->document()->savePath(path));
    window->showView(QStringLiteral("Timeline"));
    window->close();
    QTRY_COMPARE(windows_->count(), 0);
    for (const bool reopen : {false, true}) {
      settings::setReopensLast(reopen);
      MainWindow* next = windows_->make();
      next->reopenLast();
      next->restoreLayout();
      QCOMPARE(next->document()->path(), reopen ? path : QString());
      QCOMPARE(next->session()->design().parallel.tp == 4, reopen);
      QCOMPARE(next->tabs()->tabText(next->tabs()->currentIndex()), QString("Timeline"));
    }
    QVERIFY(QFile::remove(path));
    MainWindow* next = windows_->make();
    next->reopenLast();
    QVERIFY(next->document()->path().isEmpty());
  }

  // A document that ends the program would end every start.
  void aDocumentThatEndedTheProgramIsNotReopened() {
    MainWindow* window = windows_->open();
    const QString path = folder_.filePath("heavy.json");
    QVERIFY(window->document()->savePath(path));
    settings::setReopensLast(true);
    settings::setOpeningDocument(path);  // as a start that ended before its first estimate leaves it
    MainWindow* next = windows_->make();
    next->reopenLast();
    QVERIFY(next->document()->path().isEmpty());
    QVERIFY(next->messageBar()->text().contains(path));
    next = windows_->make();
    next->reopenLast();
    QCOMPARE(next->document()->path(), path);
    QCOMPARE(settings::openingDocument(), path);
    next->session()->waitForEstimate();
    QVERIFY(settings::openingDocument().isEmpty());
    QVERIFY(QFile::remove(path));
  }

  void theVerdictCopiesTheCommandLine() {
    MainWindow* window = windows_->open();
    QVERIFY(window->verdictStrip()->actions().contains(window->actions().copy_command));
    window->actions().copy_command->trigger();
    QCOMPARE(QApplication::clipboard()->text(),
             QString::fromStdString(command_line(window->session()->design())));
  }

  void theVerdictCopiesTheDesignAsJson() {
    MainWindow* window = windows_->open();
    window->session()->setKnob("tp", "4");
    QVERIFY(window->verdictStrip()->actions().contains(window->actions().copy_json));
    window->actions().copy_json->trigger();
    const std::string text = QApplication::clipboard()->text().toStdString();
    const auto read = design_from_json(text, "clipboard");
    QVERIFY(std::holds_alternative<Design>(read));
    QVERIFY(std::get<Design>(read) == window->session()->design());
    QCOMPARE(text, to_json(window->session()->design()));
  }

  // One key, one action.
  void shortcutsAreDistinct() {
    MainWindow* window = windows_->open();
    QMap<QString, QString> taken;
    for (const Actions::Group& group : window->actions().groups())
      for (const QAction* action : group.actions)
        for (const QKeySequence& keys : action->shortcuts()) {
          const QString text = keys.toString();
          QVERIFY2(!taken.contains(text), qPrintable(text + ": " + action->text() + ", " + taken[text]));
          taken[text] = action->text();
        }
  }
};

QTEST_MAIN(WindowsTest)
#include "windows_test.moc"
