// How long a person waits: from an input to its frame, and to the frame with the new figures.
#include <QFile>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTemporaryDir>

#include "offscreen.h"
#include "support/longest_run.h"
#include "ui/shell/frame_clock.h"
#include "window_test.h"

using namespace shardscape;
using namespace shardscape::ui;

class FrameClockTest : public WindowTest {
  Q_OBJECT
  QTemporaryDir folder_;

  FrameClock* clock() { return window_->frameClock(); }

 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:
  void initTestCase() { openWindow(); }
  void cleanupTestCase() { closeWindow(); }

  void anEditWaitsForItsFigures() {
    QLineEdit* field = focused("layers");
    field->selectAll();
    QSignalSpy waited(clock(), &FrameClock::waited);
    QTest::keyClicks(field, "48");
    press(Qt::Key_Return);
    QTRY_VERIFY(session_->design().model.layers == 48 && session_->estimated());
    QTRY_VERIFY(clock()->last() && clock()->last()->answer);
    QVERIFY(waited.count() > 0);
    QVERIFY(clock()->last()->frame > 0);
    QVERIFY(*clock()->last()->answer >= clock()->last()->frame);
    QTRY_VERIFY(labelSays(window_.get(), "shown in"));
  }

  // Typed text takes effect after a pause. The wait begins there.
  void theWaitForTypedTextBeginsAfterThePause() {
    QLineEdit* field = focused("layers");
    field->selectAll();
    QTest::keyClicks(field, "40");
    QTRY_COMPARE(session_->design().model.layers, 40);
    QTRY_VERIFY(clock()->last() && clock()->last()->input == "edit");
    QVERIFY(clock()->last()->answer);
  }

  void anotherViewHasNoNewFigures() {
    auto* tabs = window_->findChild<QTabWidget*>();
    const int other = tabs->currentIndex() == 1 ? 2 : 1;
    QSignalSpy waited(clock(), &FrameClock::waited);
    press(static_cast<int>(Qt::Key_1) + other, Qt::ControlModifier);
    QTRY_COMPARE(tabs->currentIndex(), other);
    // The frame of an earlier key may still be painted.
    QTRY_VERIFY(waited.count() > 0 && clock()->last()->input.startsWith("key Ctrl+"));
    QVERIFY(!clock()->last()->answer);
  }

  void aKeyWithoutEffectIsLeftOut() {
    session_->waitForEstimate();
    window_->centralWidget()->setFocus();
    // Figures of an earlier edit may still be painted: tries again.
    const auto nothingIsPainted = [&] {
      QSignalSpy waited(clock(), &FrameClock::waited), left_out(clock(), &FrameClock::inputLeftOut);
      const int before = clock()->leftOut();
      press(Qt::Key_F13);
      QTest::qWait(400);
      return waited.isEmpty() && left_out.count() == 1 && clock()->leftOut() == before + 1;
    };
    bool seen = false;  // QTRY_VERIFY asks once more after it has seen true
    QTRY_VERIFY_WITH_TIMEOUT(seen = seen || nothingIsPainted(), test::kLongestRun);
  }

  // A window that shows no figures never paints them. The wait ends with the figures, not with a later frame.
  void anEditThatChangesNothingVisibleEnds() {
    QWidget window;
    window.resize(200, 100);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    Session session;
    session.waitForEstimate();
    FrameClock clock(&session, &window);
    const QString path = folder_.filePath("unseen.csv");
    QVERIFY(clock.logTo(path));
    QTest::qWait(300);  // the first frames of the window
    QSignalSpy waited(&clock, &FrameClock::waited);
    QVERIFY(!session.setKnob("layers", "48"));
    session.waitForEstimate();
    QTRY_COMPARE(waited.count(), 1);
    QVERIFY(clock.last() && clock.last()->input == "edit" && clock.last()->answer);
    QCOMPARE(clock.last()->frame, *clock.last()->answer);
    // The next input has a wait of its own.
    QTest::keyClick(&window, Qt::Key_F13);
    QTRY_COMPARE(clock.leftOut(), 1);
    QCOMPARE(waited.count(), 1);
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QList<QByteArray> lines = file.readAll().split('\n');
    QCOMPARE(lines.size(), 4);  // the heading, the edit, the key, and the end
    QVERIFY(lines[1].startsWith("edit,"));
    QCOMPARE(lines[2], QByteArray("key F13,,"));
  }

  void everyWaitIsALineOfTheLog() {
    const QString path = folder_.filePath("frames.csv");
    QVERIFY(clock()->logTo(path));
    QVERIFY(!FrameClock(session_.get(), window_.get()).logTo(folder_.filePath("no/frames.csv")));
    QLineEdit* field = focused("layers");
    field->selectAll();
    QTest::keyClicks(field, "32");
    press(Qt::Key_Return);
    const auto lines = [&] {
      QFile file(path);
      return file.open(QIODevice::ReadOnly) ? file.readAll().split('\n') : QList<QByteArray>();
    };
    QTRY_VERIFY(lines().size() > 2);
    QCOMPARE(lines().front(), QByteArray("input,frame_ms,answer_ms"));
    const auto has_edit = [&] {
      const QList<QByteArray> all = lines();
      return std::any_of(all.begin(), all.end(), [](const QByteArray& line) {
        const QList<QByteArray> cells = line.split(',');
        return cells.size() == 3 && cells[0].startsWith("key ") && cells[1].toDouble() > 0 &&
               cells[2].toDouble() >= cells[1].toDouble();
      });
    };
    QTRY_VERIFY(has_edit());
  }
};

QTEST_MAIN(FrameClockTest)
#include "frame_clock_test.moc"
