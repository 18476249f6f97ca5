// Unsaved studies survive kill -9 at any moment, and the window offers to restore them.
#include <QDir>
#include <QLabel>
#include <QMessageBox>
#include <QProcess>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>

#include "explore/recovery.h"
#include "offscreen.h"
#include "support/longest_run.h"
#include "ui/session/comparisons.h"
#include "ui/session/page_settings.h"
#include "ui/session/session.h"
#include "ui/shell/autosave.h"
#include "ui/shell/document.h"
#include "ui/shell/main_window.h"
#include "ui/shell/recovery_bar.h"
#include "ui/shell/windows.h"
#include "ui/views/timeline/gantt_canvas.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

std::shared_ptr<const SearchResult> a_search() {
  SpaceSpec spec;
  spec.base = default_design();
  spec.dimensions = {{"tp", "1,2"}};
  const auto space = Space::make(spec);
  return std::make_shared<const SearchResult>(ResultCollector(std::get<0>(space), {}).result());
}

// Edit number k of a person whom `random` decides; the same for the same seed.
void edit(Session& session, std::mt19937& random, int k) {
  session.endEdit();
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  if (k == 10) return session.setSearch(a_search());
  if (k % 11 == 3) {
    session.comparisons()->add(session.design(), QString("pin %1").arg(k));
    return;
  }
  if (k % 7 == 5) return session.undoStack()->undo();
  static const char* const ids[] = {"tp", "pp", "dp", "microbatch", "layers"};
  session.setKnob(ids[below(5)], QString::number(1 + below(32)));
}

// The child process: edits without end, and says so.
int edit_for_ever(const QString& folder, unsigned seed, bool whole_window) {
  Windows windows(folder);
  std::unique_ptr<Session> own;
  std::unique_ptr<Document> document;
  std::unique_ptr<Autosave> autosave;
  Session* session = nullptr;
  Autosave* saves = nullptr;
  if (whole_window) {
    MainWindow* window = windows.open();
    session = window->session();
    saves = window->autosave();
  } else {
    own = std::make_unique<Session>();
    document = std::make_unique<Document>(own.get(), new PageSettings(own.get()), nullptr);
    autosave = std::make_unique<Autosave>(own.get(), document.get(), folder, nullptr);
    session = own.get();
    saves = autosave.get();
  }
  saves->setPause(5);
  std::mt19937 random(seed);
  int k = 0;
  const auto say = [](const char* what, int number) {
    std::printf("%s %d\n", what, number);
    std::fflush(stdout);
  };
  QObject::connect(saves, &Autosave::written, saves, [&] { say("saved", k); });
  QTimer timer;
  QObject::connect(&timer, &QTimer::timeout, &timer, [&] {
    edit(*session, random, k);
    say("edit", ++k);
  });
  timer.start(2);
  return QApplication::exec();
}

Recovery example(int64_t tp, const char* view = "Memory") {
  Recovery recovery;
  recovery.history.first = default_design();
  Design design = default_design();
  design.parallel.tp = tp;
  recovery.history.steps = {{"set tp", design}};
  recovery.history.done = 1;
  recovery.study.design = design;
  recovery.view = view;
  recovery.saved_at = 1'800'000'000 + tp;
  return recovery;
}

QPushButton* button(const QWidget* in, const char* name) { return in->findChild<QPushButton*>(name); }

}  // namespace

class AutosaveTest : public QObject {
  Q_OBJECT
  std::unique_ptr<QTemporaryDir> folder_;
  std::unique_ptr<Windows> windows_;

  QString folder() const { return folder_->path(); }
  QStringList files() const { return QDir(folder()).entryList(QDir::Files | QDir::Hidden); }
  QStringList studies() const { return QDir(folder()).entryList({"*.json"}, QDir::Files); }
  // A file whose process is gone.
  void leave(const std::string& text) const {
    const auto file = StudyFile::create(folder());
    QVERIFY(!std::get<0>(file)->write(text));
  }
  MainWindow* opened() {
    MainWindow* window = windows_->open();
    window->autosave()->setPause(5);
    return window;
  }

  // One round: a process that edits is killed `milliseconds` after its first edit. Returns whether it had
  // saved.
  void killed(unsigned seed, int milliseconds, bool whole_window, bool& saved) const;

 private Q_SLOTS:
  void init() {
    QApplication::setQuitOnLastWindowClosed(false);
    folder_ = std::make_unique<QTemporaryDir>();
    windows_ = std::make_unique<Windows>(folder());
  }
  void cleanup() {
    windows_.reset();
    folder_.reset();
  }

  void killedAtAnyMoment();
  void restoredWithUndo();
  void pagesAreKept();
  void severalStudies();
  void aStudyGetsAWindowOfItsOwn();
  void goodEndsLeaveNothing();
  void runningWindowsAreNotOffered();
  void aFolderThatCannotBeWritten();
};

void AutosaveTest::killed(unsigned seed, int milliseconds, bool whole_window, bool& saved) const {
  QProcess child;
  child.start(QCoreApplication::applicationFilePath(),
              {"--edit", folder(), QString::number(seed), whole_window ? "window" : "session"});
  QVERIFY(child.waitForReadyRead(120'000));
  QTest::qSleep(milliseconds);
  child.kill();  // SIGKILL
  QVERIFY(child.waitForFinished(60'000));
  // A save starts after the message of the one before. So the file has at least the edits before that.
  int edits = 0, at_last = 0, at_least = 0;
  for (const QByteArray& line : child.readAllStandardOutput().split('\n')) {
    if (line.startsWith("edit ")) edits = line.mid(5).toInt();
    if (line.startsWith("saved ")) at_least = std::exchange(at_last, edits);
  }
  auto left = StudyFile::abandoned(folder());
  saved = !left.empty();
  if (!saved) {
    QCOMPARE(at_last, 0);
    QVERIFY2(files().isEmpty(), qPrintable(files().join(' ')));
    return;
  }
  QCOMPARE(left.size(), size_t{1});
  const auto read = load_recovery(left.front()->path().toStdString());
  const auto* problem = std::get_if<Problem>(&read);
  QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
  const Recovery& recovery = std::get<Recovery>(read);
  QVERIFY(!recovery.study.lost);

  // The file is the state after some edit, not before those that were surely saved.
  Session replayed;
  std::mt19937 random(seed);
  bool found = false;
  for (int k = 0; k < edits + 50 && !found; ++k) {
    edit(replayed, random, k);
    found = k + 1 >= at_least && replayed.design() == recovery.study.design &&
            replayed.history() == recovery.history &&
            replayed.comparisons()->named() == recovery.study.compared &&
            !replayed.search() == !recovery.study.search;
  }
  QVERIFY2(found, qPrintable(QString("%1 edits, at least %2").arg(edits).arg(at_least)));

  Session session;
  PageSettings pages;
  Document document(&session, &pages, nullptr);
  document.restore(recovery);
  QVERIFY(session.design() == recovery.study.design);
  QVERIFY(session.history() == recovery.history);
  QVERIFY(document.modified());
  left.front()->remove();
  QVERIFY2(files().isEmpty(), qPrintable(files().join(' ')));
}

void AutosaveTest::killedAtAnyMoment() {
  std::mt19937 random(5);
  int saved = 0;
  for (int round = 0; round < 36; ++round) {
    bool had = false;
    killed(static_cast<unsigned>(round), static_cast<int>(random() % 300), round % 12 == 0, had);
    if (QTest::currentTestFailed()) return;
    saved += had;
  }
  QVERIFY2(saved >= 12, qPrintable(QString::number(saved)));
}

void AutosaveTest::restoredWithUndo() {
  leave(to_json(example(4)));
  MainWindow* window = opened();
  window->offerUnsaved(folder());
  QVERIFY(window->recoveryBar()->isVisible());
  const QString text = window->recoveryBar()->findChild<QLabel*>("recovery_text")->text();
  QVERIFY2(text.contains("Llama 3 8B · tp 4") && text.contains("1 change"), qPrintable(text));
  QTest::mouseClick(button(window->recoveryBar(), "recovery_restore"), Qt::LeftButton);
  QTRY_COMPARE(window->session()->design().parallel.tp, 4);
  QVERIFY(!window->recoveryBar()->isVisible());
  QCOMPARE(window->tabs()->tabText(window->tabs()->currentIndex()), QString("Memory"));
  QVERIFY(window->isWindowModified());
  window->session()->undoStack()->undo();
  QVERIFY(window->session()->design() == default_design());
  window->session()->undoStack()->redo();
  // The study stays in its file until it is saved.
  QCOMPARE(studies().size(), 1);
  QVERIFY(window->document()->savePath(folder_->filePath("mine.txt")));
  QTRY_COMPARE(studies().size(), 0);
}

// Bookmarks of the timeline and limits of Serving are a part of the study.
void AutosaveTest::pagesAreKept() {
  Recovery left = example(4, "Timeline");
  left.study.pages = {{std::nullopt, 0.05}, {0.25, 0.5}};
  leave(to_json(left));
  MainWindow* window = opened();
  window->offerUnsaved(folder());
  QTest::mouseClick(button(window->recoveryBar(), "recovery_restore"), Qt::LeftButton);
  QTRY_VERIFY(window->document()->pages()->pages() == left.study.pages);
  auto* canvas = window->findChild<GanttCanvas*>();
  QTRY_COMPARE_WITH_TIMEOUT(canvas->bookmarks().size(), size_t{2}, test::kLongestRun);
  QVERIFY(std::abs(canvas->bookmarks()[0] / canvas->stepSeconds() - 0.25) < 1e-9);
  // B removes and sets bookmarks. The document notices, and autosave writes them.
  const QString path = folder_->filePath("mine.txt");
  QVERIFY(window->document()->savePath(path));
  QVERIFY(!window->isWindowModified());
  QTRY_COMPARE(studies().size(), 0);
  canvas->setFocus();
  QTest::keyClick(canvas, Qt::Key_Escape);
  canvas->setBookmarks({});
  QTest::keyClick(canvas, Qt::Key_B);  // in the middle
  QCOMPARE(window->document()->pages()->pages().bookmarks.size(), size_t{1});
  QVERIFY(window->isWindowModified());
  QTRY_COMPARE(studies().size(), 1);
  const auto kept = load_recovery(folder_->filePath(studies().front()).toStdString());
  QVERIFY(std::get<Recovery>(kept).study.pages == window->document()->pages()->pages());
  // A saved file has them, too, and a new design has none.
  QVERIFY(std::get<Study>(load_study(path.toStdString())).pages == left.study.pages);
  QVERIFY(window->document()->savePath(path));
  window->document()->newDesign();
  QVERIFY(window->document()->pages()->pages() == StudyPages());
  QTRY_VERIFY_WITH_TIMEOUT(canvas->bookmarks().empty(), test::kLongestRun);
  QVERIFY(window->document()->openPath(path));
  QTRY_COMPARE_WITH_TIMEOUT(canvas->bookmarks().size(), size_t{1}, test::kLongestRun);
  QVERIFY(!window->isWindowModified());
}

void AutosaveTest::severalStudies() {
  for (const int64_t tp : {2, 4}) leave(to_json(example(tp)));
  leave("{\"shardscape_recovery\": 1, \"stu");
  MainWindow* window = opened();
  window->offerUnsaved(folder());
  RecoveryBar* bar = window->recoveryBar();
  QCOMPARE(bar->count(), 3);
  QCOMPARE(bar->findChildren<QPushButton*>("recovery_restore").size(), 2);  // one cannot be read
  QCOMPARE(bar->findChildren<QPushButton*>("recovery_discard").size(), 3);
  for (int left = 2; left >= 0; --left) {
    QTest::mouseClick(button(bar, "recovery_discard"), Qt::LeftButton);
    QTRY_COMPARE(bar->count(), left);
  }
  QVERIFY(!bar->isVisible());
  QVERIFY(studies().isEmpty());
  QVERIFY(window->session()->design() == default_design());
}

void AutosaveTest::aStudyGetsAWindowOfItsOwn() {
  leave(to_json(example(4)));
  MainWindow* window = opened();
  window->offerUnsaved(folder());
  window->session()->setKnob("tp", "8");
  QTest::mouseClick(button(window->recoveryBar(), "recovery_restore"), Qt::LeftButton);
  QTRY_COMPARE(windows_->count(), 2);
  QCOMPARE(window->session()->design().parallel.tp, 8);
}

void AutosaveTest::goodEndsLeaveNothing() {
  MainWindow* window = opened();
  window->session()->setKnob("tp", "4");
  QTRY_COMPARE(studies().size(), 1);
  window->session()->undoStack()->undo();  // back to what is saved
  QTRY_COMPARE(studies().size(), 0);
  window->session()->setKnob("tp", "4");
  QTRY_COMPARE(studies().size(), 1);
  QTimer::singleShot(0, [] {
    auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
    if (box) box->button(QMessageBox::Discard)->click();
  });
  window->close();
  QVERIFY2(files().isEmpty(), qPrintable(files().join(' ')));
  QTRY_COMPARE(windows_->count(), 0);
}

void AutosaveTest::runningWindowsAreNotOffered() {
  MainWindow* window = opened();
  window->session()->setKnob("tp", "4");
  QTRY_COMPARE(studies().size(), 1);
  // In this process: flock knows open files, not processes.
  QVERIFY(StudyFile::abandoned(folder()).empty());
  MainWindow* other = opened();
  other->offerUnsaved(folder());
  QVERIFY(!other->recoveryBar()->isVisible());
}

void AutosaveTest::aFolderThatCannotBeWritten() {
  Session session;
  PageSettings pages;
  Document document(&session, &pages, nullptr);
  Autosave autosave(&session, &document, "/proc/nowhere", nullptr);
  autosave.setPause(5);
  QSignalSpy failed(&autosave, &Autosave::failed);
  session.setKnob("tp", "4");
  QTRY_COMPARE(failed.count(), 1);
  QVERIFY(failed.front().front().toString().contains("/proc/nowhere"));
  session.setKnob("tp", "2");
  QTest::qWait(100);
  QCOMPARE(failed.count(), 1);
}

int main(int argc, char** argv) {
  go_offscreen();
  QApplication app(argc, argv);
  const QStringList words = QApplication::arguments();
  if (words.size() == 5 && words[1] == "--edit")
    return edit_for_ever(words[2], words[3].toUInt(), words[4] == "window");
  AutosaveTest test;
  return QTest::qExec(&test, argc, argv);
}

#include "autosave_test.moc"
