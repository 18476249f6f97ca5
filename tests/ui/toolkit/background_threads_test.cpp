// Long work has threads of lower priority; the threads of the window and of ReportWorker keep their own.
#include "ui/toolkit/background_threads.h"

#include <sys/resource.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTest>
#include <atomic>
#include <thread>

#include "explore/layout.h"
#include "offscreen.h"
#include "support/designs.h"
#include "support/longest_run.h"
#include "ui/toolkit/newest_job.h"
#include "ui/views/explore/explore_job.h"

using namespace shardscape;
using namespace shardscape::ui;
using test::preset_design;

namespace {

int nice_of(int thread) { return getpriority(PRIO_PROCESS, static_cast<id_t>(thread)); }

// Threads of this program, by priority: like the first one, and below it.
struct Threads {
  int usual = 0, lowered = 0;
};

Threads threads() {
  Threads out;
  for (const QString& thread : QDir("/proc/self/task").entryList(QDir::Dirs | QDir::NoDotAndDotDot))
    ++(nice_of(thread.toInt()) > nice_of(getpid()) ? out.lowered : out.usual);
  return out;
}

}  // namespace

class BackgroundThreadsTest : public QObject {
  Q_OBJECT

 public:
  static void initMain() { go_offscreen(); }

 private:
  static constexpr int kBusy = 60'000;  // ms, on a busy machine

 private Q_SLOTS:
  void initTestCase() { lowerLoopHelpers(); }

  void oneThreadIsLowered() {
    const int before = nice_of(getpid());
    int inside = before;
    std::jthread([&] {
      lowerThisThread();
      inside = nice_of(gettid());
    }).join();
    QVERIFY(inside > before);
    QCOMPARE(nice_of(getpid()), before);
  }

  void jobsOfThePagesAreLowered() {
    NewestJob job(this);
    std::atomic<int> inside = -100;
    job.start([&](const NewestJob::Post&, const std::stop_token&) { inside = nice_of(gettid()); });
    QTRY_VERIFY_WITH_TIMEOUT(inside > nice_of(getpid()), kBusy);
  }

  // Workers stay for the rest of the program: the report, which keeps its priority, may need them first.
  void workersOfLoopsAreLowered_data() {
    QTest::addColumn<bool>("lowered");
    QTest::newRow("a report") << false;
    QTest::newRow("a search") << true;
  }
  void workersOfLoopsAreLowered() {
    QFETCH(bool, lowered);
    if (std::thread::hardware_concurrency() < 2) QSKIP("a search has no workers on one core");
    const int usual = threads().usual;
    std::jthread caller([lowered](const std::stop_token& stop) {
      if (lowered) lowerThisThread();
      while (!stop.stop_requested()) (void)find_layouts(preset_design("llama3-8b", 1, 1, 8));
    });
    QTRY_VERIFY_WITH_TIMEOUT(threads().lowered > (lowered ? 1 : 0), kBusy);
    QTRY_COMPARE_WITH_TIMEOUT(threads().usual, usual + (lowered ? 0 : 1), kBusy);
  }

  // The search of the Explore view starts on a thread of its own, and no thread keeps the usual priority.
  void theSearchOfTheWindowIsLowered() {
    const int usual = threads().usual;
    ExploreJob job;
    QTRY_COMPARE(threads().usual, usual);  // the thread that counts spaces has lowered itself
    const int lowered = threads().lowered;
    SpaceSpec spec;
    spec.base = preset_design("llama3-8b", 2, 2, 16);
    spec.gpus = "64";
    spec.dimensions = usual_dimensions(spec.base, 64, {});
    job.run(spec, {});
    QVERIFY(job.running());
    QTRY_VERIFY(threads().lowered > lowered);
    QVERIFY2(job.running(), "the search ended before its threads were counted");
    QCOMPARE(threads().usual, usual);
    job.cancel();
    QTRY_VERIFY_WITH_TIMEOUT(!job.running(), test::kLongestRun);
  }
};

QTEST_MAIN(BackgroundThreadsTest)
#include "background_threads_test.moc"
